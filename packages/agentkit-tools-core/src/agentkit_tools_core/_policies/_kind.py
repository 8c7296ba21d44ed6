"""Policies for servers of the Model Context Protocol, and for kinds of any name."""

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
from agentkit_tools_core._policies._path import UnlistedAction, listed

_ALLOW: Final = Allow()


class McpPolicy(Record, frozen=True, kw_only=True):
    """Decides requests of the kinds `mcp.*`; of others it has no opinion.

    In this order: a denied server is denied; a right that is not listed is denied; a server that
    is not trusted is asked for, or denied; all else is allowed.

    Attributes:
        trusted: Names of servers. Empty means that all are trusted.
        denied: Names of servers that must not be used.
        auth_scopes: Rights that may be used. Empty means none.
    """

    trusted: Sequence[str] = ()
    denied: Sequence[str] = ()
    auth_scopes: Sequence[str] = ()
    untrusted: UnlistedAction = UnlistedAction.ASK

    def __post_init__(self) -> None:
        """Check the lists.

        Raises:
            TypeError: A list is a single text, or an entry is none.
            ValueError: An entry is empty, a server is trusted and denied, or `untrusted` is no
                `UnlistedAction`.
        """
        for name in ("trusted", "denied", "auth_scopes"):
            force_setattr(self, name, _texts(name, getattr(self, name)))
        if both := {*self.trusted} & {*self.denied}:
            raise ValueError(f"trusted and denied both hold {min(both)!r}")
        force_setattr(self, "untrusted", UnlistedAction(self.untrusted))

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide by the server's name, and the right's."""
        if not request.kind.startswith("mcp."):
            return None
        server = request.metadata.get("mcp.server")
        if not isinstance(server, str):
            return Deny(f"a {request.kind} request names no server", "unknown_request")
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

    An entry is a kind, or the words that kinds begin with and a `*`: `custom.*` covers
    `custom.publish` and `custom.mail.send`, not `customer.x`. What is denied is denied; of what
    is allowed and what is asked for, the longest entry that covers the kind counts.

    Attributes:
        other: What is said of kinds that no entry covers; None is no opinion.
    """

    allowed: Sequence[str] = ()
    denied: Sequence[str] = ()
    asks: Sequence[str] = ()
    other: Decision | None = None

    def __post_init__(self) -> None:
        """Check the lists.

        Raises:
            TypeError: A list is a single text, an entry is none, or `other` is no decision.
            ValueError: An entry is empty, has a `*` that is not its last word, or stands in
                two lists.
        """
        seen: set[str] = set()
        for name in ("allowed", "denied", "asks"):
            entries = _texts(name, getattr(self, name))
            force_setattr(self, name, entries)
            for one in entries:
                if "*" in one.removesuffix(".*") and one != "*":
                    raise ValueError(f"{name} holds {one!r}; a * is the last word, behind a dot")
                if one in seen:
                    raise ValueError(f"{one!r} stands in two lists, or twice")
                seen.add(one)
        if self.other is not None and not isinstance(self.other, Allow | Ask | Deny):
            raise TypeError(f"other is Allow(), Ask(), Deny(…) or None, not {self.other!r}")

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Decide by the kind."""
        kind = request.kind
        if _longest(self.denied, kind):
            return Deny(f"{kind} is not allowed", "kind_not_allowed")
        allowed, asked = _longest(self.allowed, kind), _longest(self.asks, kind)
        if not allowed and not asked:
            return self.other
        return _ALLOW if allowed > asked else Ask(f"{kind} has to be asked for")


def _longest(entries: Sequence[str], kind: str) -> int:
    """The length of the longest entry that covers a kind, its * not counted; 0 if none does."""
    return max((1 + len(one.rstrip("*")) for one in entries if _covers(one, kind)), default=0)


def _covers(entry: str, kind: str) -> bool:
    if entry.endswith("*"):
        return kind.startswith(entry.removesuffix("*"))
    return entry == kind


def _texts(name: str, given: object) -> tuple[str, ...]:
    found = []
    for one in listed(name, given):
        if not isinstance(one, str):
            raise TypeError(f"{name} holds {one!r}, which is no text")
        if not one:
            raise ValueError(f"{name} holds an empty entry")
        found.append(one)
    return tuple(found)
