"""An option that runs a program is known where agents meet it most."""

from __future__ import annotations

import pytest

from agentkit_core import ToolCallId, ToolSpec
from agentkit_tools_core import ToolInvocation
from agentkit_tools_core.permissions import (
    Allow,
    Ask,
    CommandPolicy,
    PolicyFacts,
    permission_to_run,
)

FACTS = PolicyFacts(ToolSpec("t"), ToolInvocation(ToolCallId("1"), "t"))
PROGRAMS = ("fd", "find", "git", "printf", "rg", "rsync", "sort", "split", "tar", "test", "zip")
POLICIES = [CommandPolicy(allowed=PROGRAMS), CommandPolicy(denied=("rm",))]


@pytest.mark.parametrize("policy", POLICIES, ids=["allowed", "denied"])
@pytest.mark.parametrize(
    "argv",
    [
        ["find", ".", "-exec", "x", ";"], ["find", ".", "-okdir", "x", ";"], ["fd", "-x", "reboot"],
        ["fd", "--exec-batch=x"], ["fd", "-HX", "x"], ["tar", "xf", "a", "--to-command=x"],
        ["tar", "-cf", "a", "--checkpoint-act=exec=x", "b"], ["tar", "xIf", "x", "a"],
        ["tar", "-x", "-F", "x"], ["rg", "--pre", "x", "y"], ["rsync", "-ave", "x", "a", "b"],
        ["rsync", "--rsh=x", "a", "b"], ["sort", "--compress-program=x"], ["split", "--filter=x"],
        ["zip", "-T", "-TT", "x"], ["git", "-c", "core.pager=x", "log"], ["git", "-ccore.pager=x"],
        ["git", "-P", "--config-env=a=B", "log"], ["git", "grep", "-Ox", "y"],
        ["git", "fetch", "--upload-pack", "x"], ["git", "push", "--exec=x"],
        ["printf", "-v", "x"], ["printf", "-vx"], ["printf", "%d", "x[$(x)]"],
        ["test", "-v", "x"], ["test", "x[`x`]", "-eq", "1"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_z04_an_option_that_runs_a_program_is_asked_for(
    argv: list[str], policy: CommandPolicy
) -> None:
    assert isinstance(policy(permission_to_run(argv), FACTS), Ask)


@pytest.mark.parametrize("policy", POLICIES, ids=["allowed", "denied"])
@pytest.mark.parametrize(
    "argv",
    [
        ["find", ".", "-name", "*.py", "-type", "x"], ["fd", "-t", "f", "x"], ["tar", "tzf", "a"],
        ["rg", "--pretty", "-n", "pre", "exec"], ["sort", "-u"], ["git", "status", "-s"],
        ["git", "-C", "x", "log"], ["printf", "%s", "v"], ["test", "-f", "x"], ["sort", "--", "a"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_that_only_read_are_allowed(argv: list[str], policy: CommandPolicy) -> None:
    assert policy(permission_to_run(argv), FACTS) == Allow()


@pytest.mark.parametrize(
    "argv",
    [
        ["tar", "xzf", "a"], ["tar", "--create", "--file=a", "b"], ["zip", "-T", "a"],
        ["rsync", "-av", "--exclude-from=x", "a", "b"], ["git", "switch", "-c", "new"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_options_that_write_are_allowed_unless_there_is_a_list(argv: list[str]) -> None:
    listed, unlisted = POLICIES

    assert unlisted(permission_to_run(argv), FACTS) == Allow()
    assert isinstance(listed(permission_to_run(argv), FACTS), Ask)
