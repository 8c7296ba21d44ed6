"""Every example runs to its end, alone, without a key and without a network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from together.sources import ROOT

EXAMPLES = sorted(
    path.parent if path.name == "__main__.py" else path
    for pattern in ("*.py", "*/__main__.py")
    for path in (ROOT / "examples").glob(pattern)
)
"""Files, and folders that are run as a whole."""

OFFLINE = """
import os, runpy, socket, sys

connect = socket.socket.connect

def only_here(self, address):
    host = address[0] if isinstance(address, tuple) else "localhost"
    if host not in ("localhost", "127.0.0.1", "::1"):
        raise OSError(f"an example may not leave the machine, and asked for {host}")
    return connect(self, address)

def resolve_nothing(host, *rest, **more):
    if host not in (None, "localhost", "127.0.0.1", "::1"):
        raise OSError(f"an example may not leave the machine, and asked for {host}")
    return look_up(host, *rest, **more)

look_up, socket.getaddrinfo = socket.getaddrinfo, resolve_nothing
socket.socket.connect = only_here
sys.argv = sys.argv[1:]
sys.path.insert(0, os.path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an example as a user without any key would, in an empty folder."""
    keyless = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().endswith(("_KEY", "_TOKEN", "_PROXY"))
    }
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", OFFLINE, str(path)],
        cwd=folder,
        env=keyless,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs_offline_and_says_something(path: Path, tmp_path: Path) -> None:
    result = run(path, tmp_path)

    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_an_example_that_fails_or_leaves_the_machine_is_noticed(tmp_path: Path) -> None:
    for source in ("1 / 0", "import socket; socket.create_connection(('192.0.2.1', 80), 1)"):
        path = tmp_path / "wrong.py"
        path.write_text(source)

        assert run(path, tmp_path).returncode != 0
