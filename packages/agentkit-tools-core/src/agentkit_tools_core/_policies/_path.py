"""A policy for paths: folders that are allowed, read-only, or protected."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import force_setattr

from agentkit_core.values import Record, StringEnum
from agentkit_tools_core._contract._permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    PolicyFacts,
)
from agentkit_tools_core._policies._paths import UnresolvablePath, is_within, resolve_path, touches
from agentkit_tools_core._policies._requests import REMOVING, AnyPath

_READING: Final = frozenset({"filesystem.read", "filesystem.list"})
_ALLOW: Final = Allow()


class UnlistedAction(StringEnum):
    """What a policy decides about requests that are on none of its lists."""

    ASK = "ask"
    DENY = "deny"


class PathPolicy(Record, frozen=True, kw_only=True):
    """Decides requests of the kinds `filesystem.*`; it has no opinion on others.

    The rules, in order: protected paths are denied; changes of read-only paths are denied; without
    allowed folders there is no opinion; paths in an allowed folder are allowed; the rest is
    `outside`. A path that cannot be resolved is denied.

    Links in paths are resolved first, and a path that does not exist yet counts as being in its
    deepest existing folder. Deleting and moving are decided for the link and for its target, and
    are denied if they would remove something protected or read-only further down.

    The policy sees the file system at the moment of the decision. A link may be created before the
    tool opens the path, so a tool should use `open_checked`, which opens files relative to a folder
    and follows no links.

    A hard link counts as a file of its own: one in an allowed folder is allowed, even if the file
    is also outside or in a protected folder. A file that is itself listed as protected or read-only
    is recognized under every name. Alternative names on Windows (`x.`, `x::$DATA`) are not
    recognized.

    Attributes:
        allowed: Folders or files that may be used; resolved when the policy is made. Empty means no
            opinion.
        read_only: Folders or files that must not be changed. To allow reading them, list them in
            `allowed` too.
        protected: Folders or files that must not be used, even inside an allowed folder.
        outside: The decision about paths outside of all allowed folders.
    """

    allowed: Sequence[AnyPath] = ()
    read_only: Sequence[AnyPath] = ()
    protected: Sequence[AnyPath] = ()
    outside: UnlistedAction = UnlistedAction.ASK

    def __post_init__(self) -> None:
        """Check and resolve the paths.

        Raises:
            TypeError: A list is a single string, or contains something that is not a path.
            ValueError: A path is empty or cannot be resolved, or `outside` is not an
                `UnlistedAction`.
        """
        for name in ("allowed", "read_only", "protected"):
            force_setattr(self, name, _resolve_all(name, getattr(self, name)))
        force_setattr(self, "outside", UnlistedAction(self.outside))

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide about a request; it resolves links in paths, and reads no files."""
        if not request.kind.startswith("filesystem."):
            return None
        paths = [request.metadata.get("filesystem.path")]
        # Kinds that are unknown here may have a target too, such as copying.
        if request.kind == "filesystem.move" or "filesystem.target" in request.metadata:
            paths.append(request.metadata.get("filesystem.target"))
        decisions: list[Decision | None] = []
        for path in paths:
            if not isinstance(path, str) or not path:
                return Deny(f"a {request.kind} request has no path", "unknown_request")
            decisions.append(self._decide(path, request.kind))
        for kind in (Deny, Ask, Allow):
            for decision in decisions:
                if isinstance(decision, kind):
                    return decision
        return None

    def _decide(self, path: str, kind: str) -> Decision | None:
        try:
            target = resolve_path(path)
            link = resolve_path(path, follow_last=False)
        except UnresolvablePath as error:
            return Deny(f"{path}: {error}", "path_not_allowed")
        protected = _as_paths(self.protected)
        if any(_affects(resolved, protected, kind) for resolved in (target, link)):
            return Deny(f"{path} is protected", "path_not_allowed")
        if kind not in _READING:
            read_only = _as_paths(self.read_only)
            if any(_affects(resolved, read_only, kind) for resolved in (target, link)):
                return Deny(f"{path} is read only", "path_not_allowed")
        if not self.allowed:
            return None
        used = (target, link) if kind in REMOVING else (target,)
        roots = _as_paths(self.allowed)
        if all(any(is_within(resolved, root) for root in roots) for resolved in used):
            return _ALLOW
        if self.outside is UnlistedAction.DENY:
            return Deny(f"{path} is outside the allowed folders", "path_not_allowed")
        return Ask(f"{path} is outside the allowed folders")


def entries_of(name: str, setting: object) -> tuple[object, ...]:
    """Return the entries of a setting, after checking that it is a list and not a string.

    Raises:
        TypeError: The setting is not a list, or is a single string, whose letters would count as
            entries.
    """
    if isinstance(setting, str | bytes) or not hasattr(setting, "__iter__"):
        raise TypeError(f"{name}={setting!r} is not a list; use [{setting!r}] for one entry")
    return tuple(setting)


def _resolve_all(name: str, setting: object) -> tuple[Path, ...]:
    resolved = []
    for entry in entries_of(name, setting):
        if not isinstance(entry, str | Path) and not hasattr(entry, "__fspath__"):
            raise TypeError(f"{name} contains {entry!r}, which is not a path; use str or Path")
        if not str(entry):
            raise ValueError(f"{name} contains an empty path; use '.' for the current folder")
        try:
            resolved.append(resolve_path(entry))
        except UnresolvablePath as error:
            raise ValueError(f"{name} contains {str(entry)!r}: {error}") from None
    return tuple(resolved)


def _as_paths(roots: Sequence[AnyPath]) -> tuple[Path, ...]:
    # For the type checker: `__post_init__` has made them paths.
    return tuple(map(Path, roots))


def _affects(path: Path, roots: tuple[Path, ...], kind: str) -> bool:
    return any(touches(path, root) or (kind in REMOVING and touches(root, path)) for root in roots)
