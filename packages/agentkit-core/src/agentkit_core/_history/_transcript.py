"""The transcript: a history that keeps its rules, guarded where items come in.

    1. every tool call has an id of its own
    2. calls are answered in tool items right after the item that makes them
    3. each call is answered once, and nothing else is
    4. no other item comes before all are answered

`Transcript.append` refuses what breaks a rule. For histories from elsewhere, `repair` makes
one that keeps the rules, and `sendable` (in `_sendable`) one that a given model accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import overload

from agentkit_core._errors import (
    DuplicateToolCall,
    DuplicateToolResult,
    OrphanToolResult,
    UnansweredToolCall,
)
from agentkit_core._history._call_ids import ANY_ID, CallIds
from agentkit_core._history._pairing import paired
from agentkit_core._ids import ToolCallId
from agentkit_core._item import ANSWERABLE_KINDS, Item, ItemKind
from agentkit_core._part import ToolCall


class _Spine:
    """Items shared by all transcripts that grew from one; each sees a prefix of it."""

    __slots__ = ("call_at", "items")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.call_at: dict[ToolCallId, int] = {}


class Transcript(Sequence[Item]):
    """An immutable history that keeps the rules above.

    Appending returns a new transcript and costs what is new, not what is old. A transcript may
    be appended to more than once; the results do not see each other.

    Args:
        items: The history so far.

    Raises:
        TranscriptError: The items break a rule; the error says which item and how.
    """

    __slots__ = ("_length", "_open", "_spine", "_ticket")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._spine = _Spine()
        self._length = 0
        self._open: dict[ToolCallId, ToolCall] = {}
        self._ticket: list[None] = [None]
        """Whoever takes it out may extend the spine in place; all others copy it."""
        grown = self.append(*items)
        self._spine, self._length = grown._spine, grown._length
        self._open, self._ticket = grown._open, grown._ticket

    def append(self, *items: Item) -> Transcript:
        """Add items at the end, all of them or none.

        Raises:
            DuplicateToolCall: A call has the id of an earlier one.
            OrphanToolResult: A result answers no open call.
            DuplicateToolResult: A result answers a call that has one.
            UnansweredToolCall: Another item comes before all calls are answered.
        """
        if not items:
            return self
        calls = dict[ToolCallId, int]()
        waiting = dict(self._open)
        for at, item in enumerate(items, self._length):
            if item.kind is ItemKind.TOOL:
                for result in item.tool_results:
                    if waiting.pop(result.call_id, None) is None:
                        known = self._call_at(result.call_id, calls) is not None
                        raise (DuplicateToolResult if known else OrphanToolResult)(
                            result.call_id, at=at
                        )
                continue
            if waiting:
                raise UnansweredToolCall(tuple(waiting), at=at)
            for call in item.tool_calls:
                first_at = self._call_at(call.id, calls)
                if first_at is not None:
                    raise DuplicateToolCall(call.id, at=at, first_at=first_at)
                calls[call.id] = at
                waiting[call.id] = call
        return self._grown(items, calls, waiting)

    def call_at(self, call_id: ToolCallId) -> int | None:
        """Say at which position the item stands that makes a call; None where none does.

        Costs the same in a history of any length.
        """
        at = self._spine.call_at.get(call_id)
        return at if at is not None and at < self._length else None

    def _call_at(self, call_id: ToolCallId, new: dict[ToolCallId, int]) -> int | None:
        at = self.call_at(call_id)
        return new.get(call_id) if at is None else at

    def _grown(
        self,
        items: tuple[Item, ...],
        calls: dict[ToolCallId, int],
        waiting: dict[ToolCallId, ToolCall],
    ) -> Transcript:
        try:
            # Atomic: of two threads that append to one transcript, one gets the ticket.
            self._ticket.pop()
            spine = self._spine
        except IndexError:
            spine = self._copied_spine()
        spine.items.extend(items)
        spine.call_at.update(calls)
        grown = Transcript.__new__(Transcript)
        grown._spine = spine
        grown._length = self._length + len(items)
        grown._open = waiting
        grown._ticket = [None]
        return grown

    def _copied_spine(self) -> _Spine:
        spine = _Spine()
        spine.items = self._spine.items[: self._length]
        # `copy` first: another thread may be extending the original.
        known = self._spine.call_at.copy()
        spine.call_at = {call_id: at for call_id, at in known.items() if at < self._length}
        return spine

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, oldest first."""
        return tuple(self._spine.items[: self._length])

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls that have no result yet, in call order."""
        return tuple(self._open.values())

    @property
    def driveable(self) -> bool:
        """Whether the last item asks for an answer of the model, and nothing is open."""
        return self._length > 0 and not self._open and self[-1].kind in ANSWERABLE_KINDS

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        """Give the item, or the items, at a position among those of this transcript."""
        if isinstance(index, slice):
            places = range(*index.indices(self._length))
            return tuple(map(self._spine.items.__getitem__, places))
        if not -self._length <= index < self._length:
            raise IndexError(f"item {index} of a transcript of {self._length}")
        return self._spine.items[index if index >= 0 else index + self._length]

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[Item]:
        return islice(self._spine.items, self._length)

    def __eq__(self, other: object) -> bool:
        """Whether the items are equal."""
        if not isinstance(other, Transcript):
            return NotImplemented
        return self._length == other._length and all(
            one == other_one for one, other_one in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Transcript({list(self)!r})"


def open_calls(items: Sequence[Item]) -> tuple[ToolCall, ...]:
    """Find the calls at the end of any history that have no result yet, in call order.

    Only the last item that calls, and the tool items after it, are looked at.
    """
    answered = set[ToolCallId]()
    for item in reversed(items):
        if item.kind is ItemKind.TOOL:
            answered.update(result.call_id for result in item.tool_results)
        else:
            return tuple(call for call in item.tool_calls if call.id not in answered)
    return ()


def repair(items: Sequence[Item]) -> tuple[Item, ...]:
    """Make a history that keeps the rules, from any history.

    Calls without a result get one that says "interrupted", or are dropped where the whole item
    is `interrupted`; results without a call, and second results, are dropped; late results move
    to their call, those of one round into one tool item; empty and repeated call ids are
    replaced. Items that need no change are the same objects.
    """
    ids = CallIds(ANY_ID)
    made: list[Item] = []
    for item in paired(items):
        made.append(ids.renamed(item, made[-1] if made else None))
    return tuple(made)
