"""Which tool call a fragment of a tool call belongs to.

By the protocol, `index` names the call, and id and name come once. Real servers leave the index
out, give all calls the index 0, count from 1, repeat id and name in every fragment, cut names in
two, or send no id at all. So these rules hold, in this order:

    a known index             that call, unless the fragment has a new id and a name, or repeats a
                              name after complete arguments: then a new call
    a new index               a new call
    no index, a known id      that call
    no index, a name          a new call, unless it only repeats the name of the open call
    no index, no name         the open call

A call without a name cannot be run. So fragments that never get a name, although their index or id
is new, belong to the call before them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from agentkit_core import Item, ToolCall, ToolCallId, to_json
from agentkit_core.provider import PartId, complete_call
from agentkit_providers._framing._json_objects import JsonObjects
from agentkit_providers._protocol_kit._response_call_ids import ResponseCallIds
from agentkit_providers.openai_chat._metadata_keys import EXTRA_CONTENT_KEY
from agentkit_providers.openai_chat._wire_events import ToolCallDelta


class ToolSlot:
    """One call while it grows."""

    __slots__ = (
        "_objects", "_pieces_read", "_whole_at", "arguments", "begun", "extra_content", "id",
        "name", "nameless", "number", "part_id", "surrogate", "wire_id",
    )  # fmt: skip

    def __init__(self, part_id: PartId, number: int) -> None:
        self.part_id = part_id
        self.number = number
        self.wire_id = ""
        self.id = ""
        """The call's id in the response's parts; fixed when the call begins."""
        self.surrogate = ""
        """The first half of a surrogate pair at the end of the last piece of the arguments."""
        self.name = ""
        self.arguments: list[str] = []
        self.nameless: list[str] = []
        """Arguments that came after these, in fragments of their own without a name."""
        self.extra_content: Any = None
        self.begun = False
        """Whether a delta has begun the call; before that, its name may still grow."""
        self._objects: JsonObjects | None = JsonObjects()  # None once the first object has ended
        self._pieces_read = 0  # so many pieces of the arguments went into `_objects`
        self._whole_at = -1  # so many pieces are a complete object

    @property
    def text(self) -> str:
        """The arguments so far."""
        return "".join(self.arguments)

    @property
    def is_whole(self) -> bool:
        """Whether the arguments are a complete JSON object, so that nothing can follow."""
        if not self.arguments or not self.arguments[-1].rstrip().endswith("}"):
            return False
        # Asked at every fragment, so each piece is looked at once, and all of them are decoded
        # once: where the first object ends.
        count = len(self.arguments)
        if self._pieces_read > count:
            self._objects, self._pieces_read = JsonObjects(), 0
        if self._objects is not None:
            added = "".join(self.arguments[self._pieces_read :])
            if self._objects.feed(added.encode("utf-8", "surrogatepass")):
                self._objects = None
                self._whole_at = count if _is_object(self.text) else -1
        self._pieces_read = count
        return self._whole_at == count

    def call(self) -> ToolCall:
        """The call as it opens, without its arguments."""
        extra = self.extra_content
        if isinstance(extra, dict):  # copied, since more may be merged into it later
            extra = {
                owner: dict(content) if isinstance(content, dict) else content
                for owner, content in extra.items()
            }
        metadata = {} if extra is None else {EXTRA_CONTENT_KEY: extra}
        return ToolCall(ToolCallId(self.id), self.name, metadata=metadata)

    def completed_call(self) -> ToolCall:
        """The call with its arguments; with an `input_error` where these cannot be read."""
        return complete_call(self.call(), self.text)


class ToolSlots:
    """The tool calls of one response, in the order in which they began.

    Args:
        known_tools: Names of the tools that the request offers.
        history: The items of the request, whose call ids are not given to new calls.
    """

    def __init__(self, known_tools: Collection[str], history: Sequence[Item]) -> None:
        self.slots: list[ToolSlot] = []
        self._known = known_tools
        self.by_index: dict[int, ToolSlot] = {}
        """The call that each index names."""
        self._by_id: dict[str, ToolSlot] = {}
        self._call_ids = ResponseCallIds(history)
        self._touched: set[ToolSlot] = set()

    def begin_message(self) -> None:
        """Take note that the next fragments belong to a new message of the stream.

        Two fragments of one message that have neither index nor id are two calls.
        """
        self._touched.clear()

    def find_continued(self, fragment: ToolCallDelta) -> ToolSlot | None:
        """The call that a fragment of the usual shape continues: with index and arguments only."""
        if fragment.id is None and fragment.extra_content is None:
            function = fragment.function
            if function is not None and function.name is None and fragment.index is not None:
                return self.by_index.get(fragment.index)
        return None

    def place(self, fragment: ToolCallDelta, part_id: PartId) -> tuple[ToolSlot, str]:
        """Find a fragment's call and record the fragment's id, name and extra content in it.

        Args:
            fragment: The fragment.
            part_id: The part id of the call, in case it is new.

        Returns:
            The call, and the fragment's piece of the arguments, often empty, for the caller to add.
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
            self.by_index[fragment.index] = slot
        if call_id and not slot.wire_id:
            slot.wire_id = call_id
            self._by_id.setdefault(call_id, slot)
        if name:
            slot.name = self._grown_name(slot.name, name)
        if fragment.extra_content is not None:
            slot.extra_content = merge_extra_content(slot.extra_content, fragment.extra_content)
        return slot, arguments

    def join_nameless(self) -> None:
        """Give what came without a name to the call before it: the response has ended."""
        named = None
        for slot in self.slots:
            if slot.name:
                named = slot
            elif named is not None:
                named.nameless += slot.arguments
                if slot.extra_content is not None:
                    named.extra_content = merge_extra_content(
                        named.extra_content, slot.extra_content
                    )

    def may_begin(self, slot: ToolSlot) -> bool:
        """Whether a call can begin: it has a name, which is not a piece of a longer one."""
        if not slot.name:
            return False
        return bool(slot.arguments) or not self._is_piece(slot.name)

    def begin(self, slot: ToolSlot) -> ToolCall:
        """Fix the id of a call. A call without id, or with that of an earlier call, gets a new one.

        See `ResponseCallIds`.
        """
        slot.begun = True
        slot.id = self._call_ids.assign(slot.wire_id, slot.number)
        return slot.call()

    def _find(self, index: int | None, call_id: str, name: str, arguments: str) -> ToolSlot | None:
        known = self._by_id.get(call_id) if call_id else None
        if index is None:
            return self._find_without_index(known, call_id, name, arguments)
        slot = self.by_index.get(index)
        if slot is None:
            # Some servers increase the index with every fragment of one call.
            return None if name else known
        if call_id and slot.wire_id and call_id != slot.wire_id:
            # Some servers give every call the index 0, others every fragment an id of its own.
            return known or (None if name else slot)
        is_new = name and slot.name and not call_id and _exceeds(slot, arguments)
        return None if is_new else slot

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
        return last if last.name == name and not _exceeds(last, arguments) else None

    def _grown_name(self, name: str, piece: str) -> str:
        if not name or (piece.startswith(name) and piece in self._known):
            return piece
        if piece == name:
            return name
        joined = name + piece
        return joined if joined in self._known or self._is_piece(joined) else name

    def _is_piece(self, name: str) -> bool:
        return name not in self._known and any(tool.startswith(name) for tool in self._known)


def _is_object(text: str) -> bool:
    try:
        return isinstance(msgspec.json.decode(text), dict)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False


def _exceeds(slot: ToolSlot, arguments: str) -> bool:
    """Whether more arguments come although those of the call are complete."""
    return bool(arguments) and not arguments.isspace() and slot.is_whole


def merge_extra_content(known: Any, new: Any) -> Any:
    """Merge an `extra_content` object into the one before, owner by owner.

    A stream may send a signature and later an object without one, so neither replaces the other.

    Returns:
        The object before, which is changed; the new one where one of them is not an object.
    """
    if not isinstance(known, dict) or not isinstance(new, dict):
        return new
    for owner, content in new.items():
        before = known.get(owner)
        if isinstance(before, dict) and isinstance(content, dict):
            before.update(content)
        else:
            known[owner] = content
    return known
