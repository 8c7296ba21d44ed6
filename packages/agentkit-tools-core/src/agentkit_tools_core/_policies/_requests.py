"""Requests for permission in words that policies know.

    kind                 metadata
    filesystem.read      filesystem.path
    filesystem.write     filesystem.path
    filesystem.edit      filesystem.path
    filesystem.delete    filesystem.path
    filesystem.list      filesystem.path
    filesystem.mkdir     filesystem.path
    filesystem.move      filesystem.path, filesystem.target
    shell.command        shell.argv; where given: shell.executable, shell.cwd, shell.env_keys
    mcp.connect          mcp.server
    mcp.invoke_tool      mcp.server, mcp.tool
    mcp.read_resource    mcp.server, mcp.uri
    mcp.fetch_prompt     mcp.server, mcp.prompt
    mcp.use_auth_scope   mcp.server, mcp.scope
    custom.<name>        whatever belongs to it

Nothing is looked up here: paths are kept as they are given. Give absolute ones, joined with the
folder that the tool works in; a policy reads a relative path from where the process stands, and
`~` is a name like any other.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from agentkit_core import JsonValue
from agentkit_tools_core._contract._permissions import PermissionRequest

AnyPath = str | os.PathLike[str]
"""A path as text or as an object that knows it."""
TAKING_AWAY: Final = frozenset({"filesystem.delete", "filesystem.move"})
"""What takes a name away, with all below it, and does not follow a link in last place."""


def read_path(path: AnyPath) -> PermissionRequest:
    """Ask to read a file, kind `filesystem.read`."""
    return _about_path("read", "read", path)


def write_path(path: AnyPath) -> PermissionRequest:
    """Ask to make a file, or write one anew, kind `filesystem.write`."""
    return _about_path("write", "write", path)


def edit_path(path: AnyPath) -> PermissionRequest:
    """Ask to change a file that is there, kind `filesystem.edit`."""
    return _about_path("edit", "edit", path)


def delete_path(path: AnyPath) -> PermissionRequest:
    """Ask to delete a file, or a folder with all in it, kind `filesystem.delete`."""
    return _about_path("delete", "delete", path)


def list_path(path: AnyPath) -> PermissionRequest:
    """Ask for the names in a folder, kind `filesystem.list`."""
    return _about_path("list", "list", path)


def make_directory(path: AnyPath) -> PermissionRequest:
    """Ask to make a folder and those above it, kind `filesystem.mkdir`."""
    return _about_path("mkdir", "make the folder", path)


def move_path(source: AnyPath, target: AnyPath) -> PermissionRequest:
    """Ask to move a file or folder, kind `filesystem.move`; either end counts as changed."""
    old, new = os.fspath(source), os.fspath(target)
    return PermissionRequest(
        "filesystem.move",
        f"move {old} to {new}",
        {"filesystem.path": old, "filesystem.target": new},
    )


def run_command(
    argv: Sequence[str],
    *,
    executable: AnyPath | None = None,
    cwd: AnyPath | None = None,
    env_keys: Sequence[str] = (),
) -> PermissionRequest:
    """Ask to run a program, kind `shell.command`.

    Args:
        argv: The program and its arguments; a line for a shell is `["sh", "-c", line]`.
        executable: What is run where that is not `argv[0]`.
        cwd: The folder that it runs in; None is that of this process.
        env_keys: The environment variables that the call sets, without their values.

    Raises:
        ValueError: There is no program.
        TypeError: `argv` is one text; split it, or give it to a shell.
    """
    if isinstance(argv, str):
        raise TypeError('argv is one text; give ["sh", "-c", line] for a line of a shell')
    if not argv:
        raise ValueError("argv is empty; its first word is the program to run")
    facts: dict[str, JsonValue] = {"shell.argv": list(argv)}
    if executable is not None:
        facts["shell.executable"] = os.fspath(executable)
    if cwd is not None:
        facts["shell.cwd"] = os.fspath(cwd)
    if env_keys:
        facts["shell.env_keys"] = [*sorted(env_keys)]
    where = "" if cwd is None else f" in {os.fspath(cwd)}"
    return PermissionRequest("shell.command", f"run {_spelled(argv)}{where}", facts)


def connect_mcp(server: str) -> PermissionRequest:
    """Ask to connect to a server, kind `mcp.connect`."""
    return PermissionRequest("mcp.connect", f"connect to {server}", {"mcp.server": server})


def invoke_mcp_tool(server: str, tool: str) -> PermissionRequest:
    """Ask to call a server's tool, kind `mcp.invoke_tool`."""
    return _about_server("invoke_tool", f"call {tool} of {server}", server, "tool", tool)


def read_mcp_resource(server: str, uri: str) -> PermissionRequest:
    """Ask to read a server's resource, kind `mcp.read_resource`."""
    return _about_server("read_resource", f"read {uri} of {server}", server, "uri", uri)


def fetch_mcp_prompt(server: str, prompt: str) -> PermissionRequest:
    """Ask for a server's prompt, kind `mcp.fetch_prompt`."""
    return _about_server("fetch_prompt", f"fetch {prompt} of {server}", server, "prompt", prompt)


def use_mcp_auth_scope(server: str, scope: str) -> PermissionRequest:
    """Ask to use a right at a server, kind `mcp.use_auth_scope`."""
    return _about_server("use_auth_scope", f"use {scope} at {server}", server, "scope", scope)


def custom_permission(
    kind: str, summary: str, metadata: Mapping[str, JsonValue] | None = None
) -> PermissionRequest:
    """Ask for something of one's own.

    Args:
        kind: `custom.<name>`; without the first word it is added.
        summary: What would be done, for people, in one line.
        metadata: The facts of it, by namespaced keys.

    Raises:
        ValueError: There is no name.
    """
    name = kind.removeprefix("custom.")
    if not name:
        raise ValueError("a permission of one's own needs a name: custom('publish', …)")
    return PermissionRequest(f"custom.{name}", summary, dict(metadata or {}))


def _about_path(what: str, words: str, path: AnyPath) -> PermissionRequest:
    name = os.fspath(path)
    return PermissionRequest(f"filesystem.{what}", f"{words} {name}", {"filesystem.path": name})


def _about_server(what: str, summary: str, server: str, key: str, value: str) -> PermissionRequest:
    return PermissionRequest(f"mcp.{what}", summary, {"mcp.server": server, f"mcp.{key}": value})


def _spelled(argv: Sequence[str]) -> str:
    import shlex  # few processes ask for a command

    return shlex.join(argv)
