"""Run the checks or the demo of this project; needs only Python 3.11 or newer.

    python3 dev.py demo                  the demo: an assistant with three tools, offline
    python3 dev.py demo -- "Hello"       the same, with arguments for the demo
    python3 dev.py test                  all tests
    python3 dev.py                       every check, as continuous integration runs them
    python3 dev.py --list                the names of all sessions

It creates `.venv` in this folder if it does not exist, installs nox in it, and runs the session
with nox, which creates a separate environment for each session. With uv, run `uvx nox -s test`.
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
# Isolated: with `-m` and `-c`, Python would import from the current folder first, whose files may
# be anybody's, and then from what PYTHONPATH names.
ISOLATED = (PYTHON, "-I")


def succeeds(*arguments: str) -> bool:
    """Run the Python of `.venv`, without showing its output; return whether it exits with 0."""
    return subprocess.run([*ISOLATED, *arguments], capture_output=True, check=False).returncode == 0


def prepare() -> None:
    """Create `.venv` and install nox in it, unless that was done before."""
    if not Path(PYTHON).exists():
        print("dev.py: creating .venv", file=sys.stderr)
        try:
            venv.create(VENV, with_pip=True)
        except subprocess.CalledProcessError:
            shutil.rmtree(VENV, ignore_errors=True)
            sys.exit("dev.py: this Python has no ensurepip; on Debian: apt install python3-venv")
    if succeeds("-c", "import nox, uv"):
        return
    # An existing `.venv` may have been created without pip.
    if not succeeds("-m", "pip", "--version"):
        succeeds("-m", "ensurepip")
    print("dev.py: installing nox", file=sys.stderr)
    install = [*ISOLATED, "-m", "pip", "install", "--quiet", "nox[uv]"]
    if subprocess.run(install, check=False).returncode:
        sys.exit("dev.py: could not install nox; see the message of pip above")


def main(arguments: list[str]) -> int:
    """Run nox; a first argument without a dash is a session, all others are passed to nox.

    Returns:
        The exit status: 0 if all went well.
    """
    prepare()
    if arguments and not arguments[0].startswith("-"):
        arguments = ["--session", *arguments]
    nox = [*ISOLATED, "-m", "nox", "--noxfile", str(HERE / "noxfile.py"), *arguments]
    return subprocess.run(nox, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
