"""The source distribution has all that builds it."""

import importlib.util
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.skipif(
    importlib.util.find_spec("maturin") is None or shutil.which("cargo") is None, reason="maturin or cargo is not installed"
)
def test_the_source_distribution_is_complete(tmp_path):
    command = [sys.executable, "-m", "maturin", "sdist", "--manifest-path", ROOT / "crates" / "equipoise-python" / "Cargo.toml"]
    made = subprocess.run([*command, "--out", tmp_path], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    (file,) = tmp_path.glob("equipoise-*.tar.gz")
    with tarfile.open(file) as archive:
        archive.extractall(tmp_path, filter="data")
    (place,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for name in ("pyproject.toml", "README.md", "LICENSE-MIT", "python/equipoise/py.typed", "python/equipoise/_core.pyi"):
        assert (place / name).is_file(), name
    # What sources include besides sources.
    assert (place / "crates" / "equipoise" / "src" / "metric" / "scorer.py").is_file()
    theirs = {path.relative_to(ROOT) for path in (ROOT / "crates" / "equipoise-data" / "src").rglob("*.rs")}
    assert all((place / path).is_file() for path in theirs)
    # Cargo finds every crate of ours that the package needs.
    manifest = place / "crates" / "equipoise-python" / "Cargo.toml"
    plan = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1", "--manifest-path", manifest]
    assert subprocess.run(plan, capture_output=True).returncode == 0
