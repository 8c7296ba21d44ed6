"""Rules: permissions that a person has granted for good, as data that a host can store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import field

from agentkit_core import MetadataMap, from_json, to_json
from agentkit_core.json import canonical_json
from agentkit_core.values import Record
from agentkit_tools_core._contract._permissions import (
    Allow,
    Ask,
    Decision,
    PermissionRequest,
    Policy,
    PolicyFacts,
    default_policy,
)
from agentkit_tools_core._lock import new_lock
from agentkit_tools_core._policies._paths import UnresolvablePath, is_within, resolve_path
from agentkit_tools_core._policies._requests import REMOVING

_ALLOW: Final = Allow()


class Rule(Record, frozen=True, omit_defaults=True):
    """Allows all requests of one kind that have certain facts.

    A rule with a kind alone allows every request of that kind. Other facts of a request do not
    matter, so list all facts that do, or set `exact`: a rule for `shell.argv` alone allows any
    `shell.executable`, and a rule for the `filesystem.path` of a move allows any target.

    Attributes:
        kind: The kind of requests that the rule allows.
        metadata: Facts that a request must have, with equal values; may be empty.
        prefix: Facts that must be a path in a folder: `{"filesystem.path": "/w/docs"}`. Links in
            both paths are resolved, and the paths are compared name by name. A path that cannot be
            resolved is in no folder. For deleting and moving, a link itself must be in the folder
            as well as its target.
        exact: Whether a request must have no other facts than these.
    """

    kind: str
    metadata: MetadataMap = field(default_factory=dict)
    prefix: dict[str, str] = field(default_factory=dict)
    exact: bool = False

    @classmethod
    def of(cls, request: PermissionRequest) -> Rule:
        """Make a rule that allows this request, and others that differ only in the summary."""
        return cls(request.kind, dict(request.metadata), exact=True)

    def matches(self, request: PermissionRequest) -> bool:
        """Whether the rule allows a request; with a `prefix`, it resolves links in paths."""
        facts = request.metadata
        if request.kind != self.kind or not {*self.metadata, *self.prefix} <= {*facts}:
            return False
        if self.exact and len(facts) != len({*self.metadata, *self.prefix}):
            return False
        # Compared as JSON, because True and 1 are equal in Python.
        return all(
            canonical_json(facts[key]) == canonical_json(value)
            for key, value in self.metadata.items()
        ) and all(
            _is_inside(facts[key], folder, itself=self.kind in REMOVING)
            for key, folder in self.prefix.items()
        )


class Rules:
    """A policy made of rules: it allows what a rule allows, and has no opinion on the rest.

    Rules may be added from any thread at any time.
    """

    __slots__ = ("__weakref__", "_lock", "_rules")

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        """Make a policy of these rules; more can be added later."""
        self._lock = new_lock()
        self._rules: tuple[Rule, ...] = ()
        for rule in rules:
            self.add(rule)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, in the order in which they were added."""
        return self._rules

    def add(self, rule: Rule) -> None:
        """Add a rule: `rules.add(Rule.of(request))`; nothing happens if an equal rule exists."""
        with self._lock:
            if rule not in self._rules:
                self._rules = (*self._rules, rule)

    def remove(self, rule: Rule) -> None:
        """Remove a rule; nothing happens if it does not exist."""
        with self._lock:
            self._rules = tuple(other for other in self._rules if other != rule)

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Allow the request if a rule allows it; otherwise have no opinion."""
        return _ALLOW if any(rule.matches(request) for rule in self._rules) else None

    def over(self, policy: Policy = default_policy) -> Policy:
        """Return a policy that allows what a rule allows, where the other policy would ask.

        `combine_policies` cannot do this, because there the strictest opinion counts. What `policy`
        denies stays denied.
        """

        def with_rules(request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
            decision = policy(request, facts)
            if decision is None or isinstance(decision, Ask):
                return self(request, facts) or decision
            return decision

        return with_rules

    def to_json(self) -> bytes:
        """Write the rules as a JSON array, in order.

        Raises:
            TypeError: The facts of a rule are not JSON.
        """
        return to_json(self._rules)

    @classmethod
    def from_json(cls, data: bytes | str) -> Rules:
        """Read what `to_json` wrote.

        Raises:
            RecordError: The data are not valid rules.
        """
        return cls(from_json(data, list[Rule]))


def _is_inside(value: object, folder: str, *, itself: bool) -> bool:
    if not isinstance(value, str) or not value or not folder:
        return False
    try:
        root = resolve_path(folder)
        if itself and not is_within(resolve_path(value, follow_last=False), root):
            return False
        return is_within(resolve_path(value), root)
    except UnresolvablePath:
        return False
