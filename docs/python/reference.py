"""Writes the reference of the Python package from its docstrings, and a gallery of what notebooks show:
python docs/python/reference.py [directory].

Every public name must have a docstring, and so must every public method; what has none ends the run with its name.
"""

import inspect
import sys
from html import escape
from pathlib import Path

import equipoise

STYLE = (
    "body{font-family:system-ui,sans-serif;max-width:56em;margin:2em auto;padding:0 1em;line-height:1.45}"
    "pre{background:#8881;padding:.8em;overflow-x:auto}h2{border-top:1px solid #8886;padding-top:1em}"
    "code{font-size:.95em}nav a{display:inline-block;margin-right:1em}"
)


def public(thing):
    """Public members that the package defines itself, by name."""
    for name, member in vars(thing).items():
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        described = isinstance(member, property) or callable(member)
        if described and (name == "__call__" or not name.startswith("_")):
            yield name, member


def signature(name, thing):
    try:
        return f"{name}{inspect.signature(thing)}"
    except (TypeError, ValueError):
        return name


def section(name, thing, level, missing):
    """A heading and the docstring; members of classes and modules follow."""
    text = inspect.getdoc(thing)
    if not text:
        missing.append(name)
    title = signature(name, thing) if callable(thing) else name
    parts = [f'<h{level} id="{escape(name)}"><code>{escape(title)}</code></h{level}>', f"<pre>{escape(text or '')}</pre>"]
    if inspect.isclass(thing) or inspect.ismodule(thing):
        for inner, member in public(thing):
            own = inspect.isclass(thing) or getattr(member, "__module__", "") == thing.__name__
            if own and f"equipoise.{inner}" not in equipoise.__all__ and inner not in equipoise.__all__:
                parts += section(f"{name}.{inner}", member, level + 1, missing)
    return parts


def main(directory):
    missing = []
    names = sorted(equipoise.__all__, key=str.lower)
    links = " ".join(f'<a href="#{name}">{name}</a>' for name in names)
    body = [f"<h1>equipoise</h1><pre>{escape(inspect.getdoc(equipoise) or '')}</pre><nav>{links}</nav>", "<p><a href='gallery.html'>Gallery</a></p>"]
    for name in names:
        body += section(name, getattr(equipoise, name), 2, missing)
    if missing:
        sys.exit(f"without a docstring: {', '.join(missing)}")
    directory.mkdir(parents=True, exist_ok=True)
    page = f"<!doctype html><html lang=en><meta charset=utf-8><title>equipoise</title><style>{STYLE}</style>"
    (directory / "index.html").write_text(page + "\n".join(body), encoding="utf-8")
    try:
        import matplotlib  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError as error:
        print(f"skipped: the gallery needs {error.name}")
    else:
        sys.path.insert(0, str(Path(__file__).parent))
        import gallery

        (directory / "gallery.html").write_text(gallery.page(STYLE), encoding="utf-8")
    print(f"the reference of {len(names)} names is in {directory}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "reference")
