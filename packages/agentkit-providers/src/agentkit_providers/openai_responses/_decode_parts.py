"""One answer while it grows: its output items, as deltas of parts.

An item is known by its index; ids change on the way at some servers. Its parts begin when it is
added or, for a message, with the first piece of each text, and are committed when the item is done,
which is when it is known as a whole. Items may grow side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from agentkit_core import Custom, MetadataMap, Part, Reasoning, Text, ToolCall, ToolCallId, to_json
from agentkit_core.provider import AppendText, BeginPart, CommitPart, ModelEvent, PartId
from agentkit_providers.openai_responses._growing_parts import INPUT_OPENS, Growth, OutputItem
from agentkit_providers.openai_responses._metadata_keys import (
    ANNOTATIONS_KEY,
    API,
    ITEM_KEY,
    PLACE_KEY,
    REFUSAL_KEY,
)
from agentkit_providers.openai_responses._output_items import (
    CALLS,
    arguments_of,
    call_of,
    message_facts,
    pieces_of,
)


class Answer:
    """Reads the items of one answer.

    Args:
        late_secrets: Whether reasoning without `encrypted_content` may get it with the last event,
            as at Azure; until then it is not committed.
    """

    def __init__(self, *, late_secrets: bool) -> None:
        self.careful = False
        """Whether text may hold lone surrogates, which only some decoding lets through."""
        self.refused = False
        self.has_calls = False
        """Whether there are calls for the client."""
        self._parts = 0
        self._items: dict[int, OutputItem] = {}
        self._all: list[OutputItem] = []
        self._last = 0
        self._texts: dict[tuple[int | None, int | None], Growth] = {}
        self._call_ids: set[str] = set()
        self._late_secrets = late_secrets
        self._secretless: list[OutputItem] = []

    def take_text(
        self, index: int | None, at: int | None, text: str, out: list[ModelEvent]
    ) -> None:
        """Take more of a text; add its deltas to `out`."""
        growth = self._texts.get((index, at))
        if growth is None:
            growth = self._texts[index, at] = self._text_at(index, at, {}, out)
        if self.careful:
            growth.grow(text, out, careful=True)
        else:
            growth.pieces.append(text)
            out.append(AppendText(growth.part_id, text))

    def take_refusal(
        self, index: int | None, at: int | None, text: str, out: list[ModelEvent]
    ) -> None:
        """Take more of a refusal."""
        self.refused = True
        growth = self._text_at(index, at, {REFUSAL_KEY: True}, out)
        growth.grow(text, out, careful=self.careful)

    def take_reasoning(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take more of reasoning, of its summary or its content."""
        item = self._open(index, "reasoning")
        growth = item.growths.get(0) or self._begin(item, 0, Reasoning(), out)
        growth.grow(text, out, careful=self.careful)

    def take_arguments(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take more of a call's arguments; before its name is known, they wait for the item."""
        item = self._open(index, "function_call")
        if item.growths:
            item.growths[0].grow(text, out, careful=self.careful)
        else:
            item.waiting.append(text)

    def take_input(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take more of the free text that a custom tool is given."""
        item = self._open(index, "custom_tool_call")
        if item.growths:
            item.growths[0].grow(to_json(text)[1:-1].decode(), out, careful=self.careful)

    def take_annotation(self, index: int | None, at: int | None, annotation: Any) -> None:
        """Take a citation of a text, for servers whose items leave them out."""
        growth = self._open(index, "message").growths.get(at or 0)
        if growth is not None:
            growth.annotations.append(annotation)

    def take_all_text(
        self, index: int | None, at: int | None, text: str, out: list[ModelEvent]
    ) -> None:
        """Take a text as a whole; what was not streamed of it is told now."""
        if text:
            growth = self._texts.get((index, at)) or self._text_at(index, at, {}, out)
            self._texts[index, at] = growth
            growth.grow_to(text, out)

    def take_all_arguments(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take a call's arguments as a whole; what was not streamed of them is told now."""
        item = self._open(index, "function_call")
        if item.growths:
            item.growths[0].grow_to(text, out)
        else:
            item.waiting = [text]

    def add_item(self, index: int | None, raw: Mapping[str, Any], out: list[ModelEvent]) -> None:
        """Take an item that begins."""
        if index is None:
            index = self._last + 1 if self._items else 0
        item = self._open(index, str(raw.get("type") or "message"))
        item.raw = raw
        if item.growths or item.type in ("message", "image_generation_call"):
            return
        if item.type == "reasoning":
            self._begin(item, 0, Reasoning(), out)
        elif item.type in CALLS:
            if raw.get("call_id") and raw.get("name"):
                self._begin_call(item, raw, out)
        else:
            self._begin(item, 0, Custom(f"{API}.{item.type}"), out)

    def finish_item(self, index: int | None, raw: Mapping[str, Any], out: list[ModelEvent]) -> None:
        """Take an item that is whole; commit its parts."""
        if index is None:
            index = next((one.index for one in self._all if not one.done), len(self._all))
        item = self._open(index, str(raw.get("type") or "message"))
        if self._late_secrets and item.type == "reasoning" and _is_secretless(raw):
            item.done, item.raw = True, raw
            self._secretless.append(item)
            if not item.growths:
                self._begin(item, 0, Reasoning(), out)
        else:
            self._finish(item, raw, out)

    def close(self, output: Any, out: list[ModelEvent]) -> None:
        """Commit what is left; the answer has ended.

        Args:
            output: The items that its last event names: where a stream left some out, they are
                taken from here. Ids differ there at some servers, and many name none.
            out: Gets the deltas.
        """
        named = [one for one in output if isinstance(one, dict)] if isinstance(output, list) else []
        for item in self._secretless:
            self._finish(item, _with_secret(item, named), out)
        known = {one.raw.get("id") for one in self._all if one.done} - {None, ""}
        missing = len(named) - sum(one.done for one in self._all)
        for index, raw in enumerate(named):
            there = self._items.get(index)
            if missing > 0 and not (there and there.done) and raw.get("id") not in known:
                item = self._open(index, str(raw.get("type") or "message"))
                self._finish(item, raw, out)
                missing -= 1
        for item in self._all:
            if not item.done:
                item.done = True
                self._finish_rest(item, {}, out)

    def _finish(self, item: OutputItem, raw: Mapping[str, Any], out: list[ModelEvent]) -> None:
        item.done, item.raw = True, raw
        place: MetadataMap = {PLACE_KEY: self._place(item)}
        if item.type in CALLS:
            self._finish_call(item, raw, place, out)
        else:
            for at, part in pieces_of({**raw, "type": item.type}, place):
                self._finish_part(item, at, part, out)
        self._finish_rest(item, {**place, ITEM_KEY: message_facts(raw)}, out)

    def _open(self, index: int | None, kind: str) -> OutputItem:
        """The item of a type that grows at an index; servers may not say that it was added."""
        at = self._last if index is None else index
        item = self._items.get(at)
        if item is not None and item.type == kind and not item.done:
            return item
        # Two may grow at one index, where a server counts wrongly.
        found = (one for one in self._all if one.index == at and one.type == kind and not one.done)
        return next(found, None) or self._new(at, kind)

    def _new(self, index: int, kind: str) -> OutputItem:
        item = self._items[index] = OutputItem(index, len(self._all), kind)
        self._all.append(item)
        self._last = index
        return item

    def _place(self, item: OutputItem) -> dict[str, Any]:
        before = [one.number for one in self._all[: item.number] if one.type == "reasoning"]
        return {"index": item.number, **({"reasoning": before[-1]} if before else {})}

    def _begin(self, item: OutputItem, at: int, part: Part, out: list[ModelEvent]) -> Growth:
        growth = item.growths[at] = Growth(PartId(f"part-{self._parts}"), part)
        self._parts += 1
        out.append(BeginPart(growth.part_id, part))
        return growth

    def _text_at(
        self, index: int | None, at: int | None, metadata: MetadataMap, out: list[ModelEvent]
    ) -> Growth:
        item = self._open(index, "message")
        known = item.growths.get(at or 0)
        return known or self._begin(item, at or 0, Text("", metadata=metadata), out)

    def _begin_call(
        self, item: OutputItem, raw: Mapping[str, Any], out: list[ModelEvent]
    ) -> Growth:
        """Fix the id of a call; it gets one if it has none, or that of an earlier call.

        Made-up ids are `call_0`, `call_1`, … by the item's place; they are unique in the answer
        only, whoever keeps a transcript makes them unique there.
        """
        self.has_calls = True
        call_id, number = str(raw.get("call_id") or ""), item.number
        while not call_id or call_id in self._call_ids:
            call_id, number = f"call_{number}", number + len(self._all)
        self._call_ids.add(call_id)
        call = ToolCall(ToolCallId(call_id), str(raw.get("name") or ""))
        growth = self._begin(item, 0, call, out)
        if item.type == "custom_tool_call":
            growth.grow(INPUT_OPENS, out, careful=self.careful)
        return growth

    def _finish_call(
        self, item: OutputItem, raw: Mapping[str, Any], place: MetadataMap, out: list[ModelEvent]
    ) -> None:
        growth = item.growths.get(0) or self._begin_call(item, raw, out)
        begun = growth.part
        if not isinstance(begun, ToolCall):
            return
        streamed = growth.text or "".join(item.waiting)
        call = call_of({"type": item.type, **raw}, begun.id, streamed, place)
        if item.type == "custom_tool_call":
            growth.grow_to(to_json(call.input).decode(), out)
        else:
            growth.grow_to(arguments_of(raw) or streamed, out)
        self._commit(item, 0, replace(call, name=call.name or begun.name), out)

    def _finish_part(self, item: OutputItem, at: int, part: Part, out: list[ModelEvent]) -> None:
        match part:
            case Text(text=text):
                self.refused = self.refused or REFUSAL_KEY in part.metadata
                key = self._growth_of(item, at, part)
                growth = item.growths.get(key)
                if growth is None:
                    opening = Text("", metadata=_refusal(part))
                    growth = self._begin(item, key, opening, out)
                growth.grow_to(text, out)
                if growth.annotations and ANNOTATIONS_KEY not in part.metadata:
                    marks = {ANNOTATIONS_KEY: growth.annotations}
                    part = replace(part, metadata={**part.metadata, **marks})
                self._commit(item, key, part, out)
            case Reasoning():
                growth = item.growths.get(0) or self._begin(item, 0, Reasoning(), out)
                growth.grow_to(part.summary or "", out)
                if part.summary is None and growth.pieces:
                    part = replace(part, summary=growth.text, redacted=False)
                self._commit(item, 0, part, out)
            case _:
                self._commit(item, at, part, out)

    def _growth_of(self, item: OutputItem, at: int, part: Text) -> int:
        """Which text that was streamed a piece of content is; some servers count from 1."""
        free = item.growths
        if at in free and _refusal(free[at].part) == _refusal(part):
            return at
        for key, growth in free.items():
            if part.text.startswith(growth.text) and _refusal(growth.part) == _refusal(part):
                return key
        return max((*free, at - 1)) + 1

    def _commit(self, item: OutputItem, key: int, part: Part, out: list[ModelEvent]) -> None:
        growth = item.growths.pop(key, None)
        if growth is None or type(growth.part) is not type(part):
            out.append(CommitPart(part))
        else:
            out.append(CommitPart(part, growth.part_id))

    def _finish_rest(self, item: OutputItem, beside: MetadataMap, out: list[ModelEvent]) -> None:
        """Commit the parts that nothing whole came of, as far as they were streamed."""
        for key, growth in list(item.growths.items()):
            self._commit(item, key, growth.closed(beside, out), out)
        for text_key in [one for one in self._texts if one[0] in (item.index, None)]:
            del self._texts[text_key]


def _is_secretless(raw: Mapping[str, Any]) -> bool:
    """Whether reasoning is told by an id alone, or with a summary that says little."""
    return bool(raw.get("id")) and not (raw.get("encrypted_content") or raw.get("content"))


def _with_secret(item: OutputItem, named: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Reasoning as it came, with the encrypted content that the last event has for it."""
    same = (one for one in named if one.get("id") == item.raw["id"])
    there = next(same, named[item.index] if 0 <= item.index < len(named) else {})
    secret = there.get("encrypted_content") if there.get("type") == "reasoning" else None
    return {**item.raw, "encrypted_content": secret} if secret else item.raw


def _refusal(part: Part) -> MetadataMap:
    return {REFUSAL_KEY: True} if REFUSAL_KEY in part.metadata else {}
