"""Requests for permission have the kinds and facts that policies read."""

from __future__ import annotations

from pathlib import Path
from types import FunctionType
from typing import get_type_hints

import pytest

from agentkit_tools_core import permissions
from agentkit_tools_core.permissions import (
    PermissionRequest,
    custom_permission,
    permission_to_connect_mcp,
    permission_to_delete,
    permission_to_edit,
    permission_to_fetch_mcp_prompt,
    permission_to_invoke_mcp_tool,
    permission_to_list,
    permission_to_make_directory,
    permission_to_move,
    permission_to_read,
    permission_to_read_mcp_resource,
    permission_to_run,
    permission_to_use_mcp_auth_scope,
    permission_to_write,
)

PATH = {"filesystem.path": "/w/a"}
MCP = {"mcp.server": "s"}


@pytest.mark.parametrize(
    ("request_", "kind", "facts"),
    [
        (permission_to_read("/w/a"), "filesystem.read", PATH),
        (permission_to_write(Path("/w/a")), "filesystem.write", PATH),
        (permission_to_edit("/w/a"), "filesystem.edit", PATH),
        (permission_to_delete("/w/a"), "filesystem.delete", PATH),
        (permission_to_list("/w/a"), "filesystem.list", PATH),
        (permission_to_make_directory("/w/a"), "filesystem.mkdir", PATH),
        (permission_to_move("/w/a", "/b"), "filesystem.move", {**PATH, "filesystem.target": "/b"}),
        (permission_to_run(["ls", "-l"]), "shell.command", {"shell.argv": ["ls", "-l"]}),
        (permission_to_connect_mcp("s"), "mcp.connect", MCP),
        (permission_to_invoke_mcp_tool("s", "t"), "mcp.invoke_tool", MCP | {"mcp.tool": "t"}),
        (permission_to_read_mcp_resource("s", "u"), "mcp.read_resource", MCP | {"mcp.uri": "u"}),
        (permission_to_fetch_mcp_prompt("s", "p"), "mcp.fetch_prompt", MCP | {"mcp.prompt": "p"}),
        (permission_to_use_mcp_auth_scope("s", "x"), "mcp.use_auth_scope",
         MCP | {"mcp.scope": "x"}),
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
    result = permission_to_run(
        ["ls", "a b"], executable="/bin/ls", cwd=Path("/w"), env_keys=["B", "A"]
    )

    assert result.summary == "run ls 'a b' in /w"
    assert result.metadata == {
        "shell.argv": ["ls", "a b"],
        "shell.executable": "/bin/ls",
        "shell.cwd": "/w",
        "shell.env_keys": ["A", "B"],
    }


def test_what_names_nothing_is_refused() -> None:
    with pytest.raises(TypeError, match="is a string"):
        permission_to_run("ls -l")
    with pytest.raises(ValueError, match="empty"):
        permission_to_run([])
    with pytest.raises(ValueError, match="name"):
        custom_permission("custom.", "nothing")


def test_vu14_what_makes_a_request_is_named_for_what_it_returns() -> None:
    public = {name: getattr(permissions, name) for name in permissions.__all__}
    makers = {
        name
        for name, value in public.items()
        if isinstance(value, FunctionType) and get_type_hints(value)["return"] is PermissionRequest
    }

    assert len(makers) == 14
    assert makers - {"custom_permission"} == {
        name for name in public if name.startswith("permission_to_")
    }
