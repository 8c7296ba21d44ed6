"""Events of sessions and turns: their beginnings and ends, input, settings, the transcript."""

from __future__ import annotations

from agentkit_core import Item, ModelOptions, SessionId, ToolCallId
from agentkit_core.values import StringEnum
from agentkit_loop._result import TurnResult
from agentkit_loop.events._event import EventRecord


class RunStarted(EventRecord, frozen=True, tag="run_started"):
    """A session has begun, or continues.

    Attributes:
        resumed: Whether it continues from what was saved.
        parent_session_id: The session whose tool call this session answers; None for a session of
            its own.
        parent_call_id: That call; None for a session of its own.
    """

    resumed: bool = False
    parent_session_id: SessionId | None = None
    parent_call_id: ToolCallId | None = None


class RunFinished(EventRecord, frozen=True, tag="run_finished"):
    """The session is closed; no event follows."""


class RunSuspended(EventRecord, frozen=True, tag="run_suspended"):
    """The session is left without being closed; it may go on in another run, perhaps elsewhere.

    A turn that runs stays open, and so do calls that wait for a person. This event is not part of
    the session's history, so it has no number.
    """


class InputQueued(EventRecord, frozen=True, tag="input_queued"):
    """Input of the host was accepted; it enters the transcript at the next safe point.

    Attributes:
        items: The input.
        lane: `next` if it waits for the next turn, `steer` if for the running one.
    """

    items: tuple[Item, ...]
    lane: str


class InputRejected(EventRecord, frozen=True, tag="input_rejected"):
    """Input of the host was rejected; nothing has changed.

    Attributes:
        reason: Why.
    """

    reason: str


class InputWithdrawn(EventRecord, frozen=True, tag="input_withdrawn"):
    """Queued input was taken back before it entered the transcript.

    Attributes:
        items: The input.
        lane: The queue that it was in: `next` or `steer`.
    """

    items: tuple[Item, ...]
    lane: str


class SettingsChanged(EventRecord, frozen=True, tag="settings_changed"):
    """Settings are others from the next model call on.

    The host changed them, or a session goes on under another version of its agent.

    Attributes:
        model: The model's id from now on.
        options: How the model should answer from now on.
        names: The settings that were changed: `model`, `options`, `instructions` or `config`.
    """

    model: str
    options: ModelOptions
    names: tuple[str, ...] = ()


class TurnStarted(EventRecord, frozen=True, tag="turn_started"):
    """A turn has begun."""


class TurnFinished(EventRecord, frozen=True, tag="turn_finished"):
    """A turn has ended, normally or not.

    Attributes:
        result: What the turn has produced, and why it ended.
    """

    result: TurnResult


class ItemsAppended(EventRecord, frozen=True, tag="items_appended"):
    """Items were appended to the transcript.

    Attributes:
        items: The new items.
        revision: The transcript's revision after the change; grows by one with every change.
    """

    items: tuple[Item, ...]
    revision: int


class TranscriptRewritten(EventRecord, frozen=True, tag="transcript_rewritten"):
    """Other items replaced the whole transcript.

    Attributes:
        items: All items of the transcript.
        revision: The transcript's revision after the change; grows by one with every change.
    """

    items: tuple[Item, ...]
    revision: int


class MutationPoint(StringEnum):
    """Before which model call of a turn mutators run."""

    TURN_START = "turn_start"
    """Before the first one."""
    AFTER_ROUND = "after_round"
    """Before one that follows a round of tools."""
    CONTINUE = "continue"
    """Before one that follows an answer without tool calls: there is new input, the provider paused
    the answer, or a hook wants more."""


class MutationStarted(EventRecord, frozen=True, tag="mutation_started"):
    """Mutators begin to run.

    Attributes:
        point: Where in the turn.
    """

    point: MutationPoint


class MutationOutcome(StringEnum):
    """What the mutators' changes came to."""

    COMMITTED = "committed"
    """They are in the transcript."""
    UNCHANGED = "unchanged"
    """There are none."""
    ROLLED_BACK = "rolled_back"
    """They were dropped, because of an error or because the turn was cancelled."""


class MutationFinished(EventRecord, frozen=True, tag="mutation_finished"):
    """The mutators have run. If they changed the transcript, `TranscriptRewritten` came before.

    Attributes:
        outcome: What their changes came to.
        mutators: The names of those that changed something, in order.
        reason: Why the changes were dropped; None if they were not.
    """

    outcome: MutationOutcome
    mutators: tuple[str, ...] = ()
    reason: str | None = None


class Diagnostic(EventRecord, frozen=True, tag="diagnostic"):
    """Something unexpected that changed nothing, such as a late answer or an odd finish reason.

    Attributes:
        message: What it was, for people.
    """

    message: str
