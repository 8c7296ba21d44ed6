"""Policies for servers of the Model Context Protocol (MCP), and for any kinds of permission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import force_setattr

from agentkit_core.values import Record
from agentkit_tools_core._contract._permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    PolicyFacts,
)
from agentkit_tools_core._policies._path import UnlistedAction, entries_of

_ALLOW: Final = Allow()


class McpPolicy(Record, frozen=True, kw_only=True):
    """Decides requests of the kinds `mcp.*`; it has no opinion on others.

    The rules, in order: requests to denied servers are denied; authorization scopes that are not
    listed are denied; for servers that are not trusted, `untrusted` applies; the rest is allowed.

    Attributes:
        trusted: The names of trusted servers; empty means that all are trusted.
        denied: The names of servers that must not be used.
        auth_scopes: The authorization scopes that may be used; empty means none.
        untrusted: The decision about servers that are not trusted.
    """

    trusted: Sequence[str] = ()
    denied: Sequence[str] = ()
    auth_scopes: Sequence[str] = ()
    untrusted: UnlistedAction = UnlistedAction.ASK

    def __post_init__(self) -> None:
        """Check the lists.

        Raises:
            TypeError: A list is a single string, or an entry is not a string.
            ValueError: An entry is empty, a server is both trusted and denied, or `untrusted` is
                not an `UnlistedAction`.
        """
        for name in ("trusted", "denied", "auth_scopes"):
            force_setattr(self, name, _strings_of(name, getattr(self, name)))
        if both := {*self.trusted} & {*self.denied}:
            raise ValueError(
                f"the server {min(both)!r} is both trusted and denied; remove it from one list"
            )
        force_setattr(self, "untrusted", UnlistedAction(self.untrusted))

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide about a request, by the names of the server and the scope."""
        if not request.kind.startswith("mcp."):
            return None
        server = request.metadata.get("mcp.server")
        if not isinstance(server, str):
            return Deny(f"a {request.kind} request has no server", "unknown_request")
        if server in self.denied:
            return Deny(f"the server {server} is not allowed", "server_not_trusted")
        if request.kind == "mcp.use_auth_scope":
            scope = request.metadata.get("mcp.scope")
            if scope not in self.auth_scopes:
                return Deny(f"the scope {scope} is not allowed", "auth_scope_not_allowed")
        if not self.trusted or server in self.trusted:
            return _ALLOW
        if self.untrusted is UnlistedAction.DENY:
            return Deny(f"the server {server} is not trusted", "server_not_trusted")
        return Ask(f"the server {server} is not trusted")


class KindPolicy(Record, frozen=True, kw_only=True):
    """Decides requests by their kind alone.

    An entry is a kind, or a prefix and `*`: `custom.*` covers `custom.publish` and
    `custom.mail.send`, but not `customer.x`. Denied kinds are always denied. Between `allowed` and
    `asks`, the longest entry that covers the kind decides.

    Attributes:
        allowed: Kinds that are allowed.
        denied: Kinds that are denied.
        asks: Kinds that a person has to approve.
        other: The decision about kinds that no entry covers; None means no opinion.
    """

    allowed: Sequence[str] = ()
    denied: Sequence[str] = ()
    asks: Sequence[str] = ()
    other: Decision | None = None

    def __post_init__(self) -> None:
        """Check the lists.

        Raises:
            TypeError: A list is a single string, an entry is not a string, or `other` is not a
                decision.
            ValueError: An entry is empty, has a `*` that is not its last word, or is in two lists.
        """
        entries_so_far: set[str] = set()
        for name in ("allowed", "denied", "asks"):
            entries = _strings_of(name, getattr(self, name))
            force_setattr(self, name, entries)
            for entry in entries:
                if "*" in entry.removesuffix(".*") and entry != "*":
                    raise ValueError(
                        f"{name} contains {entry!r}; use * only as the last word, after a dot"
                    )
                if entry in entries_so_far:
                    raise ValueError(f"{entry!r} is listed twice; remove one of the entries")
                entries_so_far.add(entry)
        if self.other is not None and not isinstance(self.other, Allow | Ask | Deny):
            raise TypeError(
                f"other={self.other!r} is not a decision; use Allow(), Ask(), Deny(…) or None"
            )

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide about a request by its kind."""
        kind = request.kind
        if _longest(self.denied, kind):
            return Deny(f"{kind} is not allowed", "kind_not_allowed")
        allowed, asks = _longest(self.allowed, kind), _longest(self.asks, kind)
        if not allowed and not asks:
            return self.other
        return _ALLOW if allowed > asks else Ask(f"{kind} has to be approved")


def _longest(entries: Sequence[str], kind: str) -> int:
    """The length of the longest entry that covers a kind, without its * and plus 1; 0 if none."""
    return max((1 + len(entry.rstrip("*")) for entry in entries if _covers(entry, kind)), default=0)


def _covers(entry: str, kind: str) -> bool:
    if entry.endswith("*"):
        return kind.startswith(entry.removesuffix("*"))
    return entry == kind


def _strings_of(name: str, setting: object) -> tuple[str, ...]:
    strings = []
    for entry in entries_of(name, setting):
        if not isinstance(entry, str):
            raise TypeError(f"{name} contains {entry!r}, which is not a string")
        if not entry:
            raise ValueError(f"{name} contains an empty string; remove it")
        strings.append(entry)
    return tuple(strings)
