"""A policy for paths: which folders may be used, read only, or not be touched at all."""

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
from agentkit_tools_core._policies._requests import TAKING_AWAY, AnyPath

_READING: Final = frozenset({"filesystem.read", "filesystem.list"})
_ALLOW: Final = Allow()


class UnlistedAction(StringEnum):
    """What a policy says of what is on none of its lists."""

    ASK = "ask"
    DENY = "deny"


class PathPolicy(Record, frozen=True, kw_only=True):
    """Decides requests of the kinds `filesystem.*`; of others it has no opinion.

    In this order: what is protected is denied; changing what is read only is denied; without
    allowed folders there is no opinion; what is in an allowed folder is allowed; all else is
    outside. A path that nobody can follow is denied.

    Paths are followed through links first, and what is not there yet counts as being in the
    deepest folder that is. Deleting and moving are judged for the link as well as for what it
    leads to, and must not take away what is protected or read only further down.

    It judges what is there when it is asked. Between that and the tool's own opening somebody
    may put a link in place, so a tool should open relative to the folder that was judged and
    follow no links: `open_checked`.

    A hard link is a file of its own: one in an allowed folder is allowed, even to what is outside
    or in a protected folder. What is protected or read only by its own path is known by any.
    Names that Windows takes for others (`x.`, `x::$DATA`) are not known for them.

    Attributes:
        allowed: Folders, or single files, that may be used; resolved when the policy is made.
        read_only: What must not be changed. It is not allowed by that: list it under `allowed` too.
        protected: What must not be touched, even in an allowed folder.
    """

    allowed: Sequence[AnyPath] = ()
    read_only: Sequence[AnyPath] = ()
    protected: Sequence[AnyPath] = ()
    outside: UnlistedAction = UnlistedAction.ASK

    def __post_init__(self) -> None:
        """Resolve the folders.

        Raises:
            TypeError: A list is a single text, or holds what is no path.
            ValueError: A path is empty, cannot be followed, or `outside` is no `UnlistedAction`.
        """
        for name in ("allowed", "read_only", "protected"):
            force_setattr(self, name, _roots(name, getattr(self, name)))
        force_setattr(self, "outside", UnlistedAction(self.outside))

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide; looks at links and folders on the way, and reads no file."""
        if not request.kind.startswith("filesystem."):
            return None
        named = [request.metadata.get("filesystem.path")]
        # Kinds that are not known here may have two ends as well, such as a copy.
        if request.kind == "filesystem.move" or "filesystem.target" in request.metadata:
            named.append(request.metadata.get("filesystem.target"))
        decisions: list[Decision | None] = []
        for path in named:
            if not isinstance(path, str) or not path:
                return Deny(f"a {request.kind} request names no path", "unknown_request")
            decisions.append(self._judge(path, request.kind))
        for kind in (Deny, Ask, Allow):
            if found := [one for one in decisions if isinstance(one, kind)]:
                return found[0]
        return None

    def _judge(self, path: str, kind: str) -> Decision | None:
        try:
            leads_to = resolve_path(path)
            itself = resolve_path(path, follow_last=False)
        except UnresolvablePath as error:
            return Deny(f"{path}: {error}", "path_not_allowed")
        kept = _given(self.protected)
        if any(_affects(one, kept, kind) for one in (leads_to, itself)):
            return Deny(f"{path} is protected", "path_not_allowed")
        if kind not in _READING:
            kept = _given(self.read_only)
            if any(_affects(one, kept, kind) for one in (leads_to, itself)):
                return Deny(f"{path} is read only", "path_not_allowed")
        if not self.allowed:
            return None
        judged = (leads_to, itself) if kind in TAKING_AWAY else (leads_to,)
        roots = _given(self.allowed)
        if all(any(is_within(one, root) for root in roots) for one in judged):
            return _ALLOW
        if self.outside is UnlistedAction.DENY:
            return Deny(f"{path} is outside the allowed folders", "path_not_allowed")
        return Ask(f"{path} is outside the allowed folders")


def listed(name: str, given: object) -> tuple[object, ...]:
    """Check that a setting is a list and no single text, whose letters would pass for entries.

    Raises:
        TypeError: It is no list, or a single text.
    """
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise TypeError(f"{name} is a list; write ({given!r},) for one entry")
    return tuple(given)


def _roots(name: str, given: object) -> tuple[Path, ...]:
    found = []
    for one in listed(name, given):
        if not isinstance(one, str | Path) and not hasattr(one, "__fspath__"):
            raise TypeError(f"{name} holds {one!r}, which is no path")
        if not str(one):
            raise ValueError(f"{name} holds an empty path; write '.' for the current folder")
        try:
            found.append(resolve_path(one))
        except UnresolvablePath as error:
            raise ValueError(f"{name} holds {str(one)!r}: {error}") from None
    return tuple(found)


def _given(roots: Sequence[AnyPath]) -> tuple[Path, ...]:
    # `__post_init__` has made them so.
    return tuple(map(Path, roots))


def _affects(path: Path, roots: tuple[Path, ...], kind: str) -> bool:
    return any(
        touches(path, root) or (kind in TAKING_AWAY and touches(root, path)) for root in roots
    )
