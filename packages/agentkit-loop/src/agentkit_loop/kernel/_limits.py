"""Limits: what a turn may spend, and which limit it has reached."""

from __future__ import annotations

from decimal import Decimal

from msgspec import Struct, field

from agentkit_core import Usage


class Limits(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one turn may spend, its tools' own model calls included; None: as much as it likes.

    Looked at before each model call, so a limit is passed by no more than the call and the round
    of tools that reach it. A turn that ends by a limit keeps all it has done, and can be
    continued, with the same limits anew.

    Attributes:
        max_model_calls: How many answers of the model; attempts that failed do not count.
        max_requests: How many requests of any model: failed attempts, and those of the tools,
            included.
        max_tool_calls: How many tool calls. Those beyond are answered as not executed; then the
            model is asked once more, without tools, and the turn ends if it calls one all the same.
        max_tokens: How many tokens, prompts and answers together. An answer whose tokens nobody
            reports cannot be counted: then the turn ends by the limit `unknown_tokens`.
        max_cost: How much money, by currency: `{"USD": Decimal("0.50")}`. An answer without a price
            is not free: then the turn ends by the limit `unknown_cost`. So does one in another
            currency.
        max_duration_s: How long since the turn began, waiting for people included.
    """

    max_model_calls: int | None = None
    max_requests: int | None = None
    max_tool_calls: int | None = None
    max_tokens: int | None = None
    max_cost: dict[str, Decimal] = field(default_factory=dict)
    max_duration_s: float | None = None


class Spent(Struct, frozen=True, kw_only=True):
    """What a turn has spent so far.

    Attributes:
        unreported: Whether an answer came without token counts.
        unpriced: Whether an answer came without a price.
    """

    model_calls: int
    usage: Usage
    unreported: bool
    unpriced: bool
    duration_ms: int


def limit_reached(limits: Limits, spent: Spent) -> str | None:
    """Name the limit that forbids another model call; None if there is none.

    `max_tool_calls` is not among them: it closes the tools, not the turn.
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


def is_unreported(usage: Usage) -> bool:
    """Whether some of the requests did not say how many tokens they used."""
    return usage.reported_requests < usage.requests or usage.requests == 0


def is_unpriced(usage: Usage) -> bool:
    """Whether some of the requests have no price."""
    return usage.priced_requests < usage.requests or usage.requests == 0
