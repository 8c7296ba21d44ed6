"""The transcript: a history that always follows these rules.

    1. every tool call has a unique id
    2. the results of calls are in tool items right after the item with the calls
    3. each call has exactly one result, and each result has a call
    4. no other item comes before all calls have their results

`Transcript.append` rejects an item that breaks a rule. `repair` turns any history into one that
follows the rules, and `sendable` (in `_sendable`) into one that a given model accepts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, overload

from agentkit_core._errors import (
    DuplicateToolCall,
    DuplicateToolResult,
    OrphanToolResult,
    UnansweredToolCall,
)
from agentkit_core._history._call_ids import ANY_ID, CallIds
from agentkit_core._history._pairing import pair_results
from agentkit_core._ids import ToolCallId
from agentkit_core._item import ANSWERABLE_KINDS, ASSISTANT, TOOL, Item, has_calls
from agentkit_core._part import ToolCall


class _Spine:
    """The items that transcripts share which grew from each other; each uses a prefix of them."""

    __slots__ = ("call_at", "items")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.call_at: dict[ToolCallId, int] = {}


_NONE_OPEN: Final[Mapping[ToolCallId, ToolCall]] = {}


class Transcript(Sequence[Item]):
    """An immutable history that follows the rules above.

    Appending returns a new transcript, in time proportional to the new items only. Appending
    twice to the same transcript gives two independent transcripts.

    Args:
        items: The history so far.

    Raises:
        TranscriptError: An item breaks a rule; the error says which item and which rule.
    """

    __slots__ = ("_length", "_open", "_spine", "_ticket")

    def __init__(self, items: Iterable[Item] = ()) -> None:
        self._spine = _Spine()
        self._length = 0
        self._open: Mapping[ToolCallId, ToolCall] = _NONE_OPEN
        self._ticket: list[None] = [None]
        """The caller that takes it out may extend the spine in place; all others copy the spine."""
        extended = self.append(*items)
        self._spine, self._length = extended._spine, extended._length
        self._open, self._ticket = extended._open, extended._ticket

    def append(self, *items: Item) -> Transcript:
        """Return a transcript with these items at the end; all of them are added, or none.

        Raises:
            DuplicateToolCall: A call has the id of an earlier call.
            OrphanToolResult: A result has no open call.
            DuplicateToolResult: A call already has a result.
            UnansweredToolCall: Another item comes before all calls have their results.
        """
        if not items:
            return self
        calls = dict[ToolCallId, int]()
        waiting = dict(self._open)
        for at, item in enumerate(items, self._length):
            kind = item.kind
            if kind is TOOL:
                for result in item.tool_results:
                    if waiting.pop(result.call_id, None) is None:
                        known = self._call_at(result.call_id, calls) is not None
                        raise (DuplicateToolResult if known else OrphanToolResult)(
                            result.call_id, at=at
                        )
                continue
            if waiting:
                raise UnansweredToolCall(tuple(waiting), at=at)
            if kind is not ASSISTANT or not has_calls(item):
                continue
            for call in item.tool_calls:
                first_at = self._call_at(call.id, calls)
                if first_at is not None:
                    raise DuplicateToolCall(call.id, at=at, first_at=first_at)
                calls[call.id] = at
                waiting[call.id] = call
        return self._extend(items, calls, waiting)

    def call_at(self, call_id: ToolCallId) -> int | None:
        """Return the position of the item that contains a call; None if there is no such call.

        Takes constant time.
        """
        at = self._spine.call_at.get(call_id)
        return at if at is not None and at < self._length else None

    @property
    def call_count(self) -> int:
        """How many calls there are. Takes constant time unless a longer transcript was made."""
        known = self._spine.call_at
        if len(self._spine.items) == self._length:
            return len(known)
        return sum(at < self._length for at in tuple(known.values()))

    def _call_at(self, call_id: ToolCallId, new: dict[ToolCallId, int]) -> int | None:
        at = self.call_at(call_id)
        return new.get(call_id) if at is None else at

    def _extend(
        self,
        items: tuple[Item, ...],
        calls: dict[ToolCallId, int],
        waiting: dict[ToolCallId, ToolCall],
    ) -> Transcript:
        try:
            # `pop` is atomic: of two threads that append to one transcript, one gets the ticket.
            self._ticket.pop()
            spine = self._spine
        except IndexError:
            spine = self._copy_spine()
        spine.items.extend(items)
        spine.call_at.update(calls)
        extended = Transcript.__new__(Transcript)
        extended._spine = spine
        extended._length = self._length + len(items)
        extended._open = waiting or _NONE_OPEN
        extended._ticket = [None]
        return extended

    def _copy_spine(self) -> _Spine:
        spine = _Spine()
        spine.items = self._spine.items[: self._length]
        # Copied first, because another thread may be extending the original.
        call_at = self._spine.call_at.copy()
        spine.call_at = {call_id: at for call_id, at in call_at.items() if at < self._length}
        return spine

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, oldest first."""
        return tuple(self._spine.items[: self._length])

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls without a result, in call order."""
        return tuple(self._open.values())

    @property
    def driveable(self) -> bool:
        """Whether the model has to answer the last item, and no call is open."""
        return self._length > 0 and not self._open and self[-1].kind in ANSWERABLE_KINDS

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        """Return the item at an index, or a tuple of the items in a slice."""
        if isinstance(index, slice):
            places = range(*index.indices(self._length))
            return tuple(map(self._spine.items.__getitem__, places))
        if not -self._length <= index < self._length:
            raise IndexError(f"there is no item {index} in a transcript of {self._length} items")
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
            mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Transcript({list(self)!r})"


def open_calls(items: Sequence[Item]) -> tuple[ToolCall, ...]:
    """Return the calls at the end of any history that have no result, in call order.

    The function reads only the tool items at the end, and the item before them.
    """
    with_result = set[ToolCallId]()
    for item in reversed(items):
        if item.kind is TOOL:
            with_result.update(result.call_id for result in item.tool_results)
        else:
            return tuple(call for call in item.tool_calls if call.id not in with_result)
    return ()


def repair(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return a history that follows the rules, made from any history.

    Calls without a result get an error result that says "interrupted", or are removed if their
    item is `interrupted`. Results without a call, and second results, are removed. Late results are
    moved to their calls, and the results of one round into one tool item. Empty and repeated call
    ids are replaced. Items that need no change are the same objects.
    """
    ids = CallIds(ANY_ID)
    repaired: list[Item] = []
    for item in pair_results(items):
        repaired.append(ids.rename(item, repaired[-1] if repaired else None))
    return tuple(repaired)
