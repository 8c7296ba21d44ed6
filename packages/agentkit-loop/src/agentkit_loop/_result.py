"""Results: what a turn came to, and why it ended."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from agentkit_core import Item, ProviderFailure, TurnId, Usage


class TurnEnd(StrEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    """The model answered without asking for more tools, or a tool said that this was all."""
    MAX_TOKENS = "max_tokens"
    """The last answer was cut off by the output limit or the context window."""
    BLOCKED = "blocked"
    """A filter, or the model itself, refused."""
    LIMIT = "limit"
    """A limit of the run was reached; see `limit` of the result."""
    CANCELLED = "cancelled"
    """The host cancelled it."""
    ERROR = "error"
    """A model call failed for good (see `failure` of the result), or a mutator or a hook did
    (see `error`)."""


class TurnResult(Struct, frozen=True, omit_defaults=True):
    """What a turn came to.

    Attributes:
        items: Everything the turn produced, in order: assistant and tool items.
        usage: The sum over the turn's model calls, failed attempts included.
        model_calls: How many model calls were answered.
        tool_calls: How many tool calls were asked for.
        limit: The name of the limit that was reached: `max_model_calls`, …
        failure: For `error`: how the model call failed, if it was one.
        error: For `error`: what went wrong, if it was no model call.
        partial: For `error`: what came of the answer that failed, as far as it came.
    """

    turn_id: TurnId
    end: TurnEnd
    items: tuple[Item, ...] = ()
    usage: Usage = Usage()
    model_calls: int = 0
    tool_calls: int = 0
    limit: str | None = None
    failure: ProviderFailure | None = None
    error: str | None = None
    partial: Item | None = None

    @property
    def text(self) -> str:
        """The text of the turn's last assistant item; empty when there is none."""
        for item in reversed(self.items):
            if item.kind == "assistant":
                return item.text
        return ""
