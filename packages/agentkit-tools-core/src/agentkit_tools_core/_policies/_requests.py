"""Permission requests that the ready-made policies understand.

    kind                 metadata
    filesystem.read      filesystem.path
    filesystem.write     filesystem.path
    filesystem.edit      filesystem.path
    filesystem.delete    filesystem.path
    filesystem.list      filesystem.path
    filesystem.mkdir     filesystem.path
    filesystem.move      filesystem.path, filesystem.target
    shell.command        shell.argv; optional: shell.executable, shell.cwd, shell.env_keys
    mcp.connect          mcp.server
    mcp.invoke_tool      mcp.server, mcp.tool
    mcp.read_resource    mcp.server, mcp.uri
    mcp.fetch_prompt     mcp.server, mcp.prompt
    mcp.use_auth_scope   mcp.server, mcp.scope
    custom.<name>        anything

Each function is named for the request that it returns and does nothing else:
`permission_to_delete` deletes nothing.

Paths are not resolved here. Pass absolute paths, joined with the folder that the tool works in: a
policy resolves a relative path from the current folder of the process, and `~` has no special
meaning.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Final

from agentkit_core import JsonValue
from agentkit_tools_core._contract._permissions import PermissionRequest

AnyPath = str | os.PathLike[str]
"""A path as text or as a path object."""
REMOVING: Final = frozenset({"filesystem.delete", "filesystem.move"})
"""Kinds that remove a name, with everything below it, and do not follow a link at the end."""


def permission_to_read(path: AnyPath) -> PermissionRequest:
    """Request to read a file, kind `filesystem.read`."""
    return _about_path("read", "read", path)


def permission_to_write(path: AnyPath) -> PermissionRequest:
    """Request to create or overwrite a file, kind `filesystem.write`."""
    return _about_path("write", "write", path)


def permission_to_edit(path: AnyPath) -> PermissionRequest:
    """Request to change an existing file, kind `filesystem.edit`."""
    return _about_path("edit", "edit", path)


def permission_to_delete(path: AnyPath) -> PermissionRequest:
    """Request to delete a file, or a folder with its content, kind `filesystem.delete`."""
    return _about_path("delete", "delete", path)


def permission_to_list(path: AnyPath) -> PermissionRequest:
    """Request to list a folder, kind `filesystem.list`."""
    return _about_path("list", "list", path)


def permission_to_make_directory(path: AnyPath) -> PermissionRequest:
    """Request to create a folder and its parents, kind `filesystem.mkdir`."""
    return _about_path("mkdir", "make the folder", path)


def permission_to_move(source: AnyPath, target: AnyPath) -> PermissionRequest:
    """Request to move a file or folder, kind `filesystem.move`; both paths count as changed."""
    old, new = os.fspath(source), os.fspath(target)
    return PermissionRequest(
        "filesystem.move",
        f"move {old} to {new}",
        {"filesystem.path": old, "filesystem.target": new},
    )


def permission_to_run(
    argv: Sequence[str],
    *,
    executable: AnyPath | None = None,
    cwd: AnyPath | None = None,
    env_keys: Sequence[str] = (),
) -> PermissionRequest:
    """Request to run a program, kind `shell.command`.

    Args:
        argv: The program and its arguments; `["sh", "-c", line]` for a shell command line.
        executable: The file that runs, if it is not `argv[0]`.
        cwd: The folder that the program runs in; None means that of this process.
        env_keys: The names of the environment variables that the call sets.

    Raises:
        ValueError: `argv` is empty.
        TypeError: `argv` is a string.
    """
    if isinstance(argv, str):
        raise TypeError('argv is a string; pass a list, such as ["sh", "-c", line]')
    if not argv:
        raise ValueError("argv is empty; pass a list that begins with the program")
    facts: dict[str, JsonValue] = {"shell.argv": list(argv)}
    if executable is not None:
        facts["shell.executable"] = os.fspath(executable)
    if cwd is not None:
        facts["shell.cwd"] = os.fspath(cwd)
    if env_keys:
        facts["shell.env_keys"] = [*sorted(env_keys)]
    where = "" if cwd is None else f" in {os.fspath(cwd)}"
    return PermissionRequest("shell.command", f"run {_join(argv)}{where}", facts)


def permission_to_connect_mcp(server: str) -> PermissionRequest:
    """Request to connect to a server, kind `mcp.connect`."""
    return PermissionRequest("mcp.connect", f"connect to {server}", {"mcp.server": server})


def permission_to_invoke_mcp_tool(server: str, tool: str) -> PermissionRequest:
    """Request to call a tool of a server, kind `mcp.invoke_tool`."""
    return _about_server("invoke_tool", f"call {tool} of {server}", server, "tool", tool)


def permission_to_read_mcp_resource(server: str, uri: str) -> PermissionRequest:
    """Request to read a resource of a server, kind `mcp.read_resource`."""
    return _about_server("read_resource", f"read {uri} of {server}", server, "uri", uri)


def permission_to_fetch_mcp_prompt(server: str, prompt: str) -> PermissionRequest:
    """Request to fetch a prompt of a server, kind `mcp.fetch_prompt`."""
    return _about_server("fetch_prompt", f"fetch {prompt} of {server}", server, "prompt", prompt)


def permission_to_use_mcp_auth_scope(server: str, scope: str) -> PermissionRequest:
    """Request to use an authorization scope of a server, kind `mcp.use_auth_scope`."""
    return _about_server("use_auth_scope", f"use {scope} at {server}", server, "scope", scope)


def custom_permission(
    kind: str, summary: str, metadata: Mapping[str, JsonValue] | None = None
) -> PermissionRequest:
    """Request a permission of your own kind.

    Args:
        kind: `custom.<name>`; the prefix is added if it is missing.
        summary: What the call would do, for people, in one line.
        metadata: The facts, by namespaced key; None for no facts.

    Raises:
        ValueError: The name is empty.
    """
    name = kind.removeprefix("custom.")
    if not name:
        raise ValueError("the kind has no name; pass one, as in custom_permission('publish', …)")
    return PermissionRequest(f"custom.{name}", summary, dict(metadata or {}))


def _about_path(kind: str, verb: str, path: AnyPath) -> PermissionRequest:
    name = os.fspath(path)
    return PermissionRequest(f"filesystem.{kind}", f"{verb} {name}", {"filesystem.path": name})


def _about_server(kind: str, summary: str, server: str, key: str, value: str) -> PermissionRequest:
    return PermissionRequest(f"mcp.{kind}", summary, {"mcp.server": server, f"mcp.{key}": value})


def _join(argv: Sequence[str]) -> str:
    import shlex  # imported late, because few processes need it

    return shlex.join(argv)
