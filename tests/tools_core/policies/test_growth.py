"""The work of a policy grows with what a model sent, and no faster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core._policies import _paths
from agentkit_tools_core.permissions import (
    CommandPolicy,
    Deny,
    PathPolicy,
    PermissionRequest,
    Policy,
    PolicyFacts,
    UnresolvablePath,
    permission_to_delete,
    permission_to_read,
    permission_to_run,
    permission_to_write,
    resolve_path,
)
from support.operations import operations

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))
COMMANDS = CommandPolicy(allowed=["ls", "find", "env"], denied=["rm", "git push"])


def shell(line: str) -> PermissionRequest:
    return permission_to_run(["sh", "-c", line])


@pytest.mark.parametrize(
    "request_of",
    [
        lambda n: shell("ls -la; " * n + "ls"),
        lambda n: shell("".join(f"./x{at};" for at in range(n)) + "ls"),
        lambda n: shell("".join(f"env LC_{at}=1 ls;" for at in range(n)) + "ls"),
        lambda n: shell("ls '" + '"\\' * n),
        lambda n: shell('ls "' + "\\\n" * n),
        lambda n: shell("ls " + "$(" * n),
        lambda n: permission_to_run(["find", ".", *["-name", "x"] * n]),
        lambda n: permission_to_run(["env", *(f"LC_{at}=1" for at in range(n)), "ls"]),
        lambda n: permission_to_run(["unknown", *(f"/a/{at}" for at in range(n))]),
        lambda n: permission_to_run(["ls", "x" * n]),
    ],
    ids=["commands", "programs", "variables", "quotes", "lines", "nested", "words", "env", "paths",
         "letters"],
)  # fmt: skip
def test_vs07_a_command_line_takes_work_in_proportion_to_its_length(
    request_of: Callable[[int], PermissionRequest],
) -> None:
    few, many = request_of(100), request_of(400)

    COMMANDS(few, FACTS)
    for policy in (COMMANDS, CommandPolicy(denied=["rm"])):
        assert operations(lambda: policy(many, FACTS)) <= (  # noqa: B023
            5 * operations(lambda: policy(few, FACTS)) + 500  # noqa: B023
        )


@pytest.mark.parametrize("about", [permission_to_read, permission_to_write, permission_to_delete])
@pytest.mark.parametrize("step", ["a/", "a/../", "./", "x"])
def test_vs07_a_path_takes_work_in_proportion_to_its_length(
    about: Callable[[Path | str], PermissionRequest],
    step: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    letters = 0

    def counting(function: Callable[[Path], object]) -> Callable[[Path], object]:
        def counted(path: Path) -> object:
            nonlocal letters
            letters += len(str(path))
            return function(path)

        return counted

    for name in ("_identity", "_link_at", "_is_folder"):
        monkeypatch.setattr(_paths, name, counting(getattr(_paths, name)))
    policy: Policy = PathPolicy(
        allowed=[tmp_path], read_only=[tmp_path / "x"], protected=[tmp_path / "y", "/etc"]
    )
    work = []
    for times in (100, 400):
        letters = 0
        policy(about(f"{tmp_path}/{step * times}"), FACTS)
        work.append(letters)

    assert work[1] <= 5 * work[0]


def test_vs07_a_path_that_no_system_can_open_is_refused(tmp_path: Path) -> None:
    path = f"{tmp_path}/" + "a/" * 40_000

    with pytest.raises(UnresolvablePath, match=r"characters; use at most"):
        resolve_path(path)
    decision = PathPolicy(allowed=[tmp_path])(permission_to_read(path), FACTS)
    assert isinstance(decision, Deny)
