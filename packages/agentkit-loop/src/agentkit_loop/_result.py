"""The result of a turn, and why the turn ended."""

from __future__ import annotations

from agentkit_core import Item, ProviderFailure, TurnId, Usage
from agentkit_core.values import Record, StringEnum


class TurnEnd(StringEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    """The model responded without calling a tool, or a tool or a hook ended the turn."""
    MAX_TOKENS = "max_tokens"
    """The last response was cut off, by the output limit or the context window."""
    BLOCKED = "blocked"
    """A content filter, or the model itself, refused."""
    LIMIT = "limit"
    """A limit of the run was reached; see `TurnResult.limit`."""
    CANCELLED = "cancelled"
    """The host cancelled it."""
    ERROR = "error"
    """A model call failed and was not retried (see `TurnResult.failure`), or a mutator or a hook
    failed (see `TurnResult.error`)."""


class TurnResult(Record, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a turn.

    Attributes:
        turn_id: The turn.
        end: Why the turn ended.
        items: Everything that the turn produced, in order: assistant and tool items.
        usage: The usage of all model calls of the turn, failed attempts included, and what its
            tools used of models.
        model_calls: How many model calls got a response.
        tool_calls: How many tool calls the model made.
        limit: The name of the limit that was reached, such as `max_model_calls`; None if none was.
        failure: How the last model call failed; None unless one ended the turn.
        error: What went wrong outside of model calls; None if nothing did.
        partial: What came of the response that failed; None unless one ended the turn.
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
        """The text of the turn's last assistant item; empty if there is none."""
        for item in reversed(self.items):
            if item.kind == "assistant":
                return item.text
        return ""
