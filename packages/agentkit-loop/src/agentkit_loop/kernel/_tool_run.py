"""Runs of a tool: the rules of a run, and what a tool gets when it runs again after it asked."""

from __future__ import annotations

from msgspec import field

from agentkit_core import ApprovalId, JsonValue
from agentkit_core.values import Record


class RunRules(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How a call may run; what its tool says about itself, as `ToolAnnotations`.

    Attributes:
        exclusive: Whether no other call may run at the same time.
        repeatable: Whether the call may run a second time if its outcome is lost: it changes
            nothing, or doing it twice is the same as doing it once.
        read_only: Whether the call changes nothing; see `Execution.READS_PARALLEL`.
        timeout_s: Seconds after which the call is stopped; None means never.
        detach_after_s: Seconds after which the call goes on in the background; 0 means at once,
            None never.
    """

    exclusive: bool = False
    repeatable: bool = False
    read_only: bool = False
    timeout_s: float | None = None
    detach_after_s: float | None = None


class Resumption(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What a tool gets that runs again after it stopped to ask.

    Attributes:
        answers: The answers to the tool's questions and logins, by the id of the request; those
            of its earlier runs too.
        denied: The requests that a person denied, each with the reason; None where the person
            gave none.
        token: What the tool left for itself when it stopped last; None if it left nothing.
    """

    answers: dict[ApprovalId, JsonValue] = field(default_factory=dict)
    denied: dict[ApprovalId, str | None] = field(default_factory=dict)
    token: JsonValue = None
