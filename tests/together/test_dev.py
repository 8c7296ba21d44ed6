"""`dev.py` looks at the project's own environment, wherever it is started."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from together.sources import ROOT

MODULES = ("nox", "uv", "pip", "ensurepip", "subprocess", "shutil", "venv", "site", "json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of `dev.py`, with an environment whose nox only says that it was run."""
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(ROOT / "dev.py", folder)
    (folder / "noxfile.py").touch()
    venv.create(folder / ".venv", with_pip=False, symlinks=os.name == "posix")
    (packages,) = (folder / ".venv").rglob("site-packages")
    for name in ("nox", "uv"):
        (packages / f"{name}.py").write_text(f"print('own {name}')\n")
    return folder


@pytest.mark.parametrize("by", ["current folder", "PYTHONPATH"])
def test_vs20_files_of_other_folders_are_not_run(project: Path, tmp_path: Path, by: str) -> None:
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.mkdir()
    for name in MODULES:
        (trap / f"{name}.py").write_text(f"open({str(sprung)!r}, 'a').write('{name} ')\n")
    environment = dict(os.environ)
    # The Python that starts dev.py reads PYTHONPATH before any of our code: isolate that one.
    options = []
    if by == "PYTHONPATH":
        environment["PYTHONPATH"] = str(trap)
        options = ["-I"]
    result = subprocess.run(
        [sys.executable, *options, str(project / "dev.py"), "--list"],
        cwd=trap if by == "current folder" else tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert not sprung.exists(), sprung.read_text()
    assert (result.returncode, result.stdout) == (0, "own nox\n")


def test_vs20_every_python_that_takes_a_module_or_a_line_leaves_the_current_folder_out() -> None:
    for path in (ROOT / "dev.py", ROOT / "noxfile.py"):
        source = path.read_text(encoding="utf-8")
        calls = re.findall(r'(?:PYTHON|"python"), [^\n]*?"-[cm]"', source)
        assert all('"-P"' in call or '"-I"' in call for call in calls), (path, calls)
