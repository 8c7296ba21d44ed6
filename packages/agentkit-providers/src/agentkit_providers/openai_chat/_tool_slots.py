"""Tool slots: which call a fragment of a tool call belongs to.

The protocol says that `index` names the call, and that id and name come once. Servers leave
the index out, give all calls the index 0, count from 1, repeat id and name in every fragment,
cut names in two, and send no id at all. So, in this order:

    an index that is known          that call, unless the fragment has a new id and a name, or
                                    repeats a name after arguments that are whole: a new call
    a new index                     a new call
    no index, an id that is known   that call
    no index, a name                a new call, unless it only repeats the open one's name
    no index, no name               the call that is open
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from agentkit_core import ToolCall, ToolCallId, to_json
from agentkit_core.provider import PartId, complete_call
from agentkit_providers.openai_chat._metadata_keys import EXTRA_CONTENT_KEY
from agentkit_providers.openai_chat._wire_events import ToolCallDelta


class ToolSlot:
    """One call while it grows."""

    __slots__ = (
        "arguments", "begun", "extra_content", "half", "id", "name", "number", "part_id", "wire_id",
    )  # fmt: skip

    def __init__(self, part_id: PartId, number: int) -> None:
        self.part_id = part_id
        self.number = number
        self.wire_id = ""
        self.id = ""
        """The id that the call is known by here; fixed when it begins."""
        self.half = ""
        """Half of a surrogate pair that ended the last piece of the arguments."""
        self.name = ""
        self.arguments: list[str] = []
        self.extra_content: Any = None
        self.begun = False
        """Whether the call has been told of; before, its name may still grow."""

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self.arguments)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known of the call: a placeholder."""
        return not (self.wire_id or self.name or self.text.strip())

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are a JSON object, so that nothing more can come."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False
        try:
            return isinstance(msgspec.json.decode(self.text), dict)
        except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
            return False

    def call(self) -> ToolCall:
        """The call as it opens, without its arguments."""
        metadata = {} if self.extra_content is None else {EXTRA_CONTENT_KEY: self.extra_content}
        return ToolCall(ToolCallId(self.id), self.name, metadata=metadata)

    def completed(self) -> ToolCall:
        """The call with its arguments; marked where these cannot be read."""
        return complete_call(self.call(), self.text)


class ToolSlots:
    """The calls of one answer, in the order in which they began.

    Args:
        known_tools: Names of the tools that the request offers.
    """

    def __init__(self, known_tools: Collection[str]) -> None:
        self.slots: list[ToolSlot] = []
        self._known = known_tools
        self._by_index: dict[int, ToolSlot] = {}
        self._by_id: dict[str, ToolSlot] = {}
        self._used_ids: set[str] = set()
        self._touched: set[ToolSlot] = set()

    def begin_message(self) -> None:
        """Take note that the next fragments come in a message of their own.

        Two fragments of one message that have neither index nor id are two calls.
        """
        self._touched.clear()

    def continued(self, fragment: ToolCallDelta) -> ToolSlot | None:
        """The call that a fragment of the usual shape continues: an index and arguments alone."""
        if fragment.id is None and fragment.extra_content is None:
            function = fragment.function
            if function is not None and function.name is None and fragment.index is not None:
                return self._by_index.get(fragment.index)
        return None

    def place(self, fragment: ToolCallDelta, part_id: PartId) -> tuple[ToolSlot, str]:
        """Find a fragment's call and give it what the fragment says, arguments excepted.

        Args:
            fragment: What came.
            part_id: For the call, if it is a new one.

        Returns:
            The call, and the piece of its arguments that came, often empty; the caller adds it.
        """
        function, custom = fragment.function, fragment.custom
        name = (function and function.name) or (custom and custom.name) or ""
        arguments = (function and function.arguments) or (custom and custom.input) or ""
        if not isinstance(arguments, str):
            arguments = to_json(arguments).decode()
        call_id = "" if fragment.id is None else str(fragment.id)
        slot = self._find(fragment.index, call_id, name, arguments)
        if slot is None:
            slot = ToolSlot(part_id, len(self.slots))
            self.slots.append(slot)
        self._touched.add(slot)
        if fragment.index is not None:
            self._by_index[fragment.index] = slot
        if call_id and not slot.wire_id:
            slot.wire_id = call_id
            self._by_id.setdefault(call_id, slot)
        if name:
            slot.name = self._grown_name(slot.name, name)
        if fragment.extra_content is not None:
            slot.extra_content = merged_extra(slot.extra_content, fragment.extra_content)
        return slot, arguments

    def may_begin(self, slot: ToolSlot) -> bool:
        """Whether a call can be told of: its name is there and is no piece of a longer one."""
        if not slot.name:
            return False
        return bool(slot.arguments) or not self._is_piece(slot.name)

    def begin(self, slot: ToolSlot) -> ToolCall:
        """Fix the id of a call; it gets one if it has none, or that of an earlier call.

        Made-up ids are `call_0`, `call_1`, … by the call's place; they are unique in the answer
        only, whoever keeps a transcript makes them unique there.
        """
        slot.begun = True
        slot.id, number = slot.wire_id, slot.number
        while not slot.id or slot.id in self._used_ids:
            slot.id, number = f"call_{number}", number + len(self.slots)
        self._used_ids.add(slot.id)
        return slot.call()

    def _find(self, index: int | None, call_id: str, name: str, arguments: str) -> ToolSlot | None:
        known = self._by_id.get(call_id) if call_id else None
        if index is None:
            return self._find_without_index(known, call_id, name, arguments)
        slot = self._by_index.get(index)
        if slot is None:
            # Some count the index up with every fragment of one call.
            return None if name else known
        if call_id and slot.wire_id and call_id != slot.wire_id:
            # Some give every call the index 0, others every fragment an id.
            return known or (None if name else slot)
        anew = name and slot.name and not call_id and _goes_past(slot, arguments)
        return None if anew else slot

    def _find_without_index(
        self, known: ToolSlot | None, call_id: str, name: str, arguments: str
    ) -> ToolSlot | None:
        if known is not None:
            return None if name and known in self._touched else known
        last = self.slots[-1] if self.slots else None
        if not name:
            return last
        if call_id or last is None or last in self._touched:
            return None
        return last if last.name == name and not _goes_past(last, arguments) else None

    def _grown_name(self, held: str, piece: str) -> str:
        if not held or (piece.startswith(held) and piece in self._known):
            return piece
        if piece == held:
            return held
        joined = held + piece
        return joined if joined in self._known or self._is_piece(joined) else held

    def _is_piece(self, name: str) -> bool:
        return name not in self._known and any(one.startswith(name) for one in self._known)


def _goes_past(slot: ToolSlot, arguments: str) -> bool:
    """Whether arguments come after a call's own are whole."""
    return bool(arguments.strip()) and slot.is_whole


def merged_extra(known: Any, new: Any) -> Any:
    """Join two `extra_content`, owner by owner: a stream may send a signature and then none."""
    if not isinstance(known, dict) or not isinstance(new, dict):
        return new
    return known | {
        owner: known[owner] | one
        if isinstance(known.get(owner), dict) and isinstance(one, dict)
        else one
        for owner, one in new.items()
    }
