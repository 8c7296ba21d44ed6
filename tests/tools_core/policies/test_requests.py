"""Requests for permission have the kinds and facts that policies read."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentkit_tools_core.permissions import (
    PermissionRequest,
    connect_mcp,
    custom_permission,
    delete_path,
    edit_path,
    fetch_mcp_prompt,
    invoke_mcp_tool,
    list_path,
    make_directory,
    move_path,
    read_mcp_resource,
    read_path,
    run_command,
    use_mcp_auth_scope,
    write_path,
)

PATH = {"filesystem.path": "/w/a"}


@pytest.mark.parametrize(
    ("request_", "kind", "facts"),
    [
        (read_path("/w/a"), "filesystem.read", PATH),
        (write_path(Path("/w/a")), "filesystem.write", PATH),
        (edit_path("/w/a"), "filesystem.edit", PATH),
        (delete_path("/w/a"), "filesystem.delete", PATH),
        (list_path("/w/a"), "filesystem.list", PATH),
        (make_directory("/w/a"), "filesystem.mkdir", PATH),
        (move_path("/w/a", "/b"), "filesystem.move", {**PATH, "filesystem.target": "/b"}),
        (run_command(["ls", "-l"]), "shell.command", {"shell.argv": ["ls", "-l"]}),
        (connect_mcp("s"), "mcp.connect", {"mcp.server": "s"}),
        (invoke_mcp_tool("s", "t"), "mcp.invoke_tool", {"mcp.server": "s", "mcp.tool": "t"}),
        (read_mcp_resource("s", "u"), "mcp.read_resource", {"mcp.server": "s", "mcp.uri": "u"}),
        (fetch_mcp_prompt("s", "p"), "mcp.fetch_prompt", {"mcp.server": "s", "mcp.prompt": "p"}),
        (use_mcp_auth_scope("s", "x"), "mcp.use_auth_scope", {"mcp.server": "s", "mcp.scope": "x"}),
        (custom_permission("publish", "say it", {"a.b": 1}), "custom.publish", {"a.b": 1}),
        (custom_permission("custom.publish", "say it"), "custom.publish", {}),
    ],
)  # fmt: skip
def test_t21_each_request_has_its_kind_and_its_facts(
    request_: PermissionRequest, kind: str, facts: dict[str, object]
) -> None:
    assert request_.kind == kind
    assert request_.metadata == facts
    assert request_.summary


def test_t21_all_that_a_command_runs_with_is_part_of_what_is_approved() -> None:
    result = run_command(["ls", "a b"], executable="/bin/ls", cwd=Path("/w"), env_keys=["B", "A"])

    assert result.summary == "run ls 'a b' in /w"
    assert result.metadata == {
        "shell.argv": ["ls", "a b"],
        "shell.executable": "/bin/ls",
        "shell.cwd": "/w",
        "shell.env_keys": ["A", "B"],
    }


def test_what_names_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="is a string"):
        run_command("ls -l")
    with pytest.raises(ValueError, match="empty"):
        run_command([])
    with pytest.raises(ValueError, match="name"):
        custom_permission("custom.", "nothing")
