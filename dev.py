"""Run the checks or the demonstration of this project; needs Python 3.11 or newer, nothing else.

    python3 dev.py demo                  the main job, offline
    python3 dev.py demo -- "Hello"       the same, with arguments of its own
    python3 dev.py test                  all tests
    python3 dev.py                       every check, as continuous integration runs them
    python3 dev.py --list                what else there is

Makes `.venv` in this folder if there is none, puts nox in it and runs that session; nox gives
each session an environment of its own. Who has uv may say `uvx nox -s test` instead.
"""

import shutil
import subprocess
import sys
import venv
from pathlib import Path

if sys.version_info < (3, 11):  # noqa: UP036 - this is where people learn of it
    sys.exit("dev.py needs Python 3.11 or newer; this is " + sys.version.split()[0])

HERE = Path(__file__).resolve().parent
VENV = HERE / ".venv"
PYTHON = str(VENV / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python"))


def succeeds(*arguments: str) -> bool:
    """Run the Python of `.venv`; say whether it exits with 0. Its complaints are not shown."""
    return subprocess.run([PYTHON, *arguments], capture_output=True, check=False).returncode == 0


def prepare() -> None:
    """Make `.venv` and put nox in it, where that has not been done."""
    if not Path(PYTHON).exists():
        print("dev.py: making .venv", file=sys.stderr)
        try:
            venv.create(VENV, with_pip=True)
        except subprocess.CalledProcessError:
            shutil.rmtree(VENV, ignore_errors=True)
            sys.exit("dev.py: this Python has no ensurepip; on Debian: apt install python3-venv")
    if succeeds("-c", "import nox, uv"):
        return
    # A `.venv` that was here before may have been made without pip.
    if not succeeds("-m", "pip", "--version"):
        succeeds("-m", "ensurepip")
    print("dev.py: installing nox", file=sys.stderr)
    install = [PYTHON, "-m", "pip", "install", "--quiet", "nox[uv]"]
    if subprocess.run(install, check=False).returncode:
        sys.exit("dev.py: could not install nox; pip says why above")


def main(arguments: list[str]) -> int:
    """Run nox; a leading word is the name of a session, all else is passed on as it is.

    Returns:
        The exit status: 0 if all went well.
    """
    prepare()
    if arguments and not arguments[0].startswith("-"):
        arguments = ["--session", *arguments]
    nox = [PYTHON, "-m", "nox", "--noxfile", str(HERE / "noxfile.py"), *arguments]
    return subprocess.run(nox, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
