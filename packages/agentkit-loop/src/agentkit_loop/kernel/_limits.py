"""Limits: how much a turn may use, and which limit it has reached."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from msgspec import field

from agentkit_core import Usage
from agentkit_core.settings import Settings, instance_of
from agentkit_core.values import Record


class Limits(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """How much one turn may use, including the model calls that its tools make; None: no limit.

    The defaults stop a turn that gets nowhere; a turn that needs more has to say so.

    The kernel checks the limits before each model call, so a turn exceeds one by at most the model
    call and the tool calls that reach it. A turn that ends by a limit keeps all of its work and can
    be continued; it then has the same limits again.

    Attributes:
        max_model_calls: How many answers of the model. Failed attempts do not count.
        max_requests: How many requests to any model, including failed attempts and the requests of
            tools.
        max_tool_calls: How many tool calls. Further calls get a result that says that they did not
            run. The model is then called once more, without tools; if it calls a tool even so, the
            turn ends.
        max_tokens: How many tokens, of prompts and answers together. If an answer comes without
            token counts, the turn ends by the limit `unknown_tokens`.
        max_cost: How much money, by currency, such as `{"USD": Decimal("0.50")}`; empty means no
            limit. If an answer comes without a price, or in a currency that is not listed, the
            turn ends by the limit `unknown_cost`.
        max_duration_s: How many seconds since the turn began, including the time that it waits for
            people.
    """

    max_model_calls: int | None = 500
    max_requests: int | None = 2000
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost: dict[str, Decimal] = field(default_factory=dict)
    max_duration_s: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        instance_of(self.max_cost, dict, f"{type(self).__name__}.max_cost")
        for currency, most in self.max_cost.items():
            name = f"{type(self).__name__}.max_cost[{currency!r}]"
            if type(most) not in (Decimal, int):
                raise TypeError(
                    f'{name} is {most!r}; use a Decimal, as in {{"USD": Decimal("0.50")}}'
                )
            if most != most or most < 0:
                raise ValueError(f"{name} is {most!r}; use 0 or more")


class SessionLimits(Limits, frozen=True, kw_only=True, omit_defaults=True):
    """How much a whole session may use, in all of its turns and in all processes; None: no limit.

    A turn that would exceed one ends by the limit of its name with `session_` before it, such as
    `session_max_cost`. The session can be continued with other limits.

    Attributes:
        max_model_calls: How many answers of the model.
        max_requests: How many requests to any model, including failed attempts and the requests of
            tools.
        max_tool_calls: How many tool calls; see `Limits`.
        max_tokens: How many tokens; see `Limits`.
        max_cost: How much money, by currency; see `Limits`.
        max_duration_s: How many seconds all turns together may take.
    """

    max_model_calls: int | None = None
    max_requests: int | None = None


class Spent(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What a turn, or a session, has used so far.

    Attributes:
        model_calls: How many answers of the model.
        tool_calls: How many tool calls the model has made.
        usage: The tokens, requests and costs of all model calls, including those of tools.
        unreported: Whether an answer came without token counts.
        unpriced: Whether an answer came without a price.
        duration_ms: Milliseconds since the turn began, or those of all turns together.
    """

    model_calls: int = 0
    tool_calls: int = 0
    usage: Usage = Usage()
    unreported: bool = False
    unpriced: bool = False
    duration_ms: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            usage=self.usage + other.usage,
            unreported=self.unreported or other.unreported,
            unpriced=self.unpriced or other.unpriced,
            duration_ms=self.duration_ms + other.duration_ms,
        )


def limit_reached(limits: Limits, spent: Spent) -> str | None:
    """Return the name of a limit that forbids another model call; None if there is none.

    `max_tool_calls` is not checked here: it forbids tools, not model calls.
    """
    if limits.max_model_calls is not None and spent.model_calls >= limits.max_model_calls:
        return "max_model_calls"
    if limits.max_requests is not None and spent.usage.requests >= limits.max_requests:
        return "max_requests"
    if limits.max_tokens is not None:
        if spent.unreported:
            return "unknown_tokens"
        if (spent.usage.tokens.total or 0) >= limits.max_tokens:
            return "max_tokens"
    if limits.max_cost:
        amounts = spent.usage.cost.amounts
        if any(amounts.get(currency, 0) >= most for currency, most in limits.max_cost.items()):
            return "max_cost"
        if spent.unpriced or not amounts.keys() <= limits.max_cost.keys():
            return "unknown_cost"
    if limits.max_duration_s is not None and spent.duration_ms >= limits.max_duration_s * 1000:
        return "max_duration_s"
    return None


def any_limit_reached(
    limits: Limits, session_limits: Limits, turn: Spent, session: Spent
) -> str | None:
    """Return the name of a limit of the turn or of the session that forbids another model call.

    Args:
        limits: The limits of the turn.
        session_limits: The limits of the session.
        turn: What the turn has used.
        session: What the turns before it have used.
    """
    limit = limit_reached(limits, turn)
    if limit is None and session_limits != NO_SESSION_LIMITS:
        limit = limit_reached(session_limits, session + turn)
        return None if limit is None else f"session_{limit}"
    return limit


def most_tool_calls(
    limits: Limits, session_limits: Limits, session: Spent
) -> tuple[int | None, str]:
    """Return how many tool calls a turn may make, and the name of the limit that says so.

    Args:
        limits: The limits of the turn.
        session_limits: The limits of the session.
        session: What the turns before it have used.
    """
    most = limits.max_tool_calls
    if session_limits.max_tool_calls is not None:
        left = max(session_limits.max_tool_calls - session.tool_calls, 0)
        if most is None or left < most:
            return left, "session_max_tool_calls"
    return most, "max_tool_calls"


def is_unreported(usage: Usage) -> bool:
    """Whether some of the requests came without token counts."""
    return usage.reported_requests < usage.requests or usage.requests == 0


def is_unpriced(usage: Usage) -> bool:
    """Whether some of the requests came without a price."""
    return usage.priced_requests < usage.requests or usage.requests == 0


NO_SESSION_LIMITS: Final = SessionLimits()
