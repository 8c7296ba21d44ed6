"""What became of the input of a host, and of the notices about background calls."""

from collections import Counter

from agentkit_core import Item, ItemKind, ToolCallId
from agentkit_loop.events import Event, InputQueued, InputWithdrawn, ToolResultReceived
from agentkit_loop.kernel import Phase, Reset, State
from agentkit_loop.testing import WalkStep

CALL_ID_KEY = "agentkit.call_id"
"""In the metadata of a notification: the call that is over."""


class InputLedger:
    """Checks that no input is lost or doubled, and that each notice is given once.

    It looks only at what a step moved: everything else stands where it stood.

    Args:
        prefix: What the texts of a host's input begin with, and no other texts; None if that
            is not known, and then nothing is said about doubled texts.
    """

    def __init__(self, prefix: str | None) -> None:
        self._prefix = prefix
        self._accepted = Counter[str]()
        self._appended = Counter[str]()
        self._queued = Counter[str]()
        self._lanes: tuple[object, object] = ((), ())
        """The lanes in which `_queued` was counted."""
        self._moved = set[str]()
        """The texts that this step accepted, withdrew or appended."""
        self._ended = Counter[ToolCallId]()
        """The background calls whose end the model has to be told."""
        self._notified = Counter[ToolCallId]()
        """The background calls whose end stands in the transcript."""
        self._waiting: tuple[Item, ...] = ()
        """The notices that waited after the last check."""
        self._notices_changed = False

    def see_event(self, event: Event) -> None:
        match event:
            case InputQueued(items=items):
                texts = [item.text for item in items]
                self._accepted.update(texts)
                self._moved.update(texts)
            case InputWithdrawn(items=items):
                texts = [item.text for item in items]
                self._accepted.subtract(texts)
                self._moved.update(texts)
            case ToolResultReceived(call_id=call_id, background=True):
                self._ended[call_id] += 1
                self._notices_changed = True
            case _:
                pass

    def see_item(self, item: Item) -> None:
        """Take note of an item that was appended to the transcript."""
        self._appended[item.text] += 1
        self._moved.add(item.text)
        if item.kind is ItemKind.NOTIFICATION and CALL_ID_KEY in item.metadata:
            self._notified[ToolCallId(str(item.metadata[CALL_ID_KEY]))] += 1
            self._notices_changed = True

    def check(self, walked: WalkStep) -> None:
        self._check_inputs(walked.after)
        self._check_notices(walked)

    def _check_inputs(self, state: State) -> None:
        lanes = (state.inputs, state.steer)
        if lanes != self._lanes:
            queued = Counter(item.text for lane in lanes for batch in lane for item in batch)
            self._moved |= queued.keys() | self._queued.keys()
            self._queued, self._lanes = queued, lanes
        for text in self._moved:
            expected = self._accepted[text]
            count = self._appended[text] + self._queued[text]
            if self._prefix is not None and text.startswith(self._prefix):
                assert count == expected, f"I-10: {text!r} was lost or doubled"
            assert count >= expected, f"I-10: {text!r} was lost"
        self._moved.clear()

    def _check_notices(self, walked: WalkStep) -> None:
        state = walked.after
        forgets = isinstance(walked.input, Reset) or state.phase is Phase.CLOSED
        if not (forgets or self._notices_changed or state.notices is not self._waiting):
            return
        self._notices_changed, self._waiting = False, state.notices
        waiting = Counter(ToolCallId(str(item.metadata.get(CALL_ID_KEY))) for item in state.notices)
        if forgets:
            self._ended = self._notified + waiting
        assert self._notified + waiting == self._ended, "the model is told once of each call"
