"""The result of a turn, and why the turn ended."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import asdict

from agentkit_core import Item, ProviderFailure, Transcript, TurnId, Usage
from agentkit_core.values import Record, StringEnum


class TurnEnd(StringEnum):
    """Why a turn ended."""

    COMPLETED = "completed"
    """The model responded without calling a tool, or a tool or a hook ended the turn."""
    MAX_TOKENS = "max_tokens"
    """The last response was cut off, by the output limit or the context window."""
    BLOCKED = "blocked"
    """A content filter, or the model itself, refused."""
    EMPTY = "empty"
    """The model answered with nothing, twice in a row: no text, no file and no tool call. The empty
    answers are not in the transcript (`TurnResult.partial` has the last one), so the turn can be
    continued."""
    LIMIT = "limit"
    """A limit of the run was reached; see `TurnResult.limit`."""
    CANCELLED = "cancelled"
    """The host cancelled it."""
    ERROR = "error"
    """A model call failed and was not retried (see `TurnResult.failure`), or a mutator or a hook
    failed (see `TurnResult.error`)."""


_ENDS: Final = {
    TurnEnd.COMPLETED: "it was completed",
    TurnEnd.MAX_TOKENS: "the answer reached a limit on its length",
    TurnEnd.BLOCKED: "a content filter or the model refused to answer",
    TurnEnd.CANCELLED: "it was cancelled",
    TurnEnd.EMPTY: "the model answered with nothing, twice",
    TurnEnd.ERROR: "it failed",
}


class TurnResult(Record, frozen=True, kw_only=True, omit_defaults=True, dict=True):
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
        partial: What came of the response that failed or was empty; None unless one ended the turn.
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

    @property
    def conversation(self) -> tuple[Item, ...]:
        """The whole conversation at the end of the turn: history, prompts and what came of them.

        To be given as `history` of the next run as it is; the instructions are not part of it. It
        is not written with the result, whose size would grow with each turn: empty for a result
        that was read from a record, or built anew.
        """
        conversation: Transcript | tuple[Item, ...] = vars(self).get("_conversation", ())
        return conversation.items if isinstance(conversation, Transcript) else conversation

    def describe_end(self) -> str:
        """Describe in one line how the turn ended: the failure, the error or the limit."""
        if self.failure is not None:
            return self.failure.describe()
        if self.error is not None:
            return self.error
        if self.end is TurnEnd.LIMIT:
            return f"it reached the limit {self.limit}"
        return _ENDS[self.end]

    # The conversation is not a field, and copies would lose it.

    def __copy__(self) -> TurnResult:
        return with_conversation(TurnResult(**asdict(self)), self.conversation)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (asdict(self), self.conversation)


def with_conversation(
    result: TurnResult, conversation: Transcript | tuple[Item, ...]
) -> TurnResult:
    """Give a result that was just made its conversation, and return it."""
    # A transcript is read when asked for. Setting an attribute would make a larger dict.
    vars(result)["_conversation"] = conversation
    return result


def _rebuild(fields: dict[str, Any], conversation: tuple[Item, ...]) -> TurnResult:
    return with_conversation(TurnResult(**fields), conversation)
