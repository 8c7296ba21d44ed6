"""Rules: what somebody has said may always be done, as data that a host can keep."""

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
from agentkit_tools_core._policies._requests import TAKING_AWAY

_ALLOW: Final = Allow()


class Rule(Record, frozen=True, omit_defaults=True):
    """Requests that are allowed once and for all: those of a kind that have these facts.

    A rule with a kind alone covers every request of that kind. What other facts a request has
    does not matter, so name or forbid (`exact`) all that count: a rule for a `shell.argv` alone
    covers any `shell.executable`, one for the `filesystem.path` of a move any target.

    Attributes:
        metadata: Facts that a request must have, with equal values.
        prefix: Facts that must be a path in a folder: `{"filesystem.path": "/w/docs"}`. Both are
            followed through links, and compared name by name; what cannot be followed is in no
            folder. What is deleted or moved must be in it itself as well, as a link that is.
        exact: Whether a request must have no other facts than these.
    """

    kind: str
    metadata: MetadataMap = field(default_factory=dict)
    prefix: dict[str, str] = field(default_factory=dict)
    exact: bool = False

    @classmethod
    def of(cls, request: PermissionRequest) -> Rule:
        """Make the rule that covers this request, and others that differ in the summary alone."""
        return cls(request.kind, dict(request.metadata), exact=True)

    def matches(self, request: PermissionRequest) -> bool:
        """Whether it covers a request; reads links and folders where it has a `prefix`."""
        facts = request.metadata
        if request.kind != self.kind or not {*self.metadata, *self.prefix} <= {*facts}:
            return False
        if self.exact and len(facts) != len({*self.metadata, *self.prefix}):
            return False
        # As JSON, for in Python True and 1 are equal.
        return all(
            canonical_json(facts[key]) == canonical_json(value)
            for key, value in self.metadata.items()
        ) and all(
            _is_inside(facts[key], folder, itself=self.kind in TAKING_AWAY)
            for key, folder in self.prefix.items()
        )


class Rules:
    """A policy of rules: what one covers is allowed, of all else there is no opinion.

    Rules may be added from any thread while they are asked.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        """Begin with `rules`."""
        self._lock = new_lock()
        self._rules: tuple[Rule, ...] = ()
        for rule in rules:
            self.add(rule)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, in the order in which they were added."""
        return self._rules

    def add(self, rule: Rule) -> None:
        """Add a rule: `rules.add(Rule.of(request))`; nothing happens when it is there."""
        with self._lock:
            if rule not in self._rules:
                self._rules = (*self._rules, rule)

    def remove(self, rule: Rule) -> None:
        """Take a rule back; nothing happens when it is not there."""
        with self._lock:
            self._rules = tuple(one for one in self._rules if one != rule)

    def __call__(self, request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
        """Allow what a rule covers."""
        return _ALLOW if any(rule.matches(request) for rule in self._rules) else None

    def over(self, policy: Policy = default_policy) -> Policy:
        """Make a policy that does not ask again for what a rule covers.

        With `combine` the strictest opinion counts, so a rule could not answer what another
        policy asks. What `policy` denies stays denied.
        """

        def answered(request: PermissionRequest, facts: PolicyFacts) -> Decision | None:
            decision = policy(request, facts)
            if decision is None or isinstance(decision, Ask):
                return self(request, facts) or decision
            return decision

        return answered

    def to_json(self) -> bytes:
        """Write the rules as a JSON array, in their order.

        Raises:
            TypeError: A rule's facts are not JSON.
        """
        return to_json(self._rules)

    @classmethod
    def from_json(cls, data: bytes | str) -> Rules:
        """Read what `to_json` wrote.

        Raises:
            RecordError: These are no rules.
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
