"""``python -m equipoise``: the command of the same name, where it is installed."""

import shutil
import subprocess
import sys


def main() -> int:
    command = shutil.which("equipoise")
    if command is None:
        print(
            "equipoise: the command is not on the PATH; `cargo install --path crates/equipoise-cli` installs it beside this package",
            file=sys.stderr,
        )
        return 2
    try:
        return subprocess.run([command, *sys.argv[1:]]).returncode
    except KeyboardInterrupt:  # the command had it too, and has said what there is to say
        return 130


if __name__ == "__main__":
    sys.exit(main())
