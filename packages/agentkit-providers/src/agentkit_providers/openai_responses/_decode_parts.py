"""The parts of one response while they grow: its output items, as deltas of parts.

An item is identified by its index, since ids change on the way at some servers. Its parts begin
when the item begins or, in a message, with the first piece of each text. They are committed when
the item is done, because only then all of it is known. Items may grow side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    Item,
    MetadataMap,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallId,
    to_json,
)
from agentkit_core.provider import BeginPart, CommitPart, ModelEvent, PartId
from agentkit_providers._protocol_kit._lenient_values import list_or_empty, text_or_empty
from agentkit_providers._protocol_kit._response_call_ids import ResponseCallIds
from agentkit_providers.openai_responses._common_events import ITEM_OF, TEXT
from agentkit_providers.openai_responses._growing_parts import (
    CUSTOM_INPUT_START,
    GrowingPart,
    OutputItem,
    OutputItems,
    lacks_secret,
    refusal_mark,
    streamed_as,
    with_secrets,
)
from agentkit_providers.openai_responses._metadata_keys import (
    ANNOTATIONS_KEY,
    API,
    ITEM_KEY,
    PLACE_KEY,
    REFUSAL_KEY,
)
from agentkit_providers.openai_responses._output_items import (
    CALL_TYPES,
    arguments_text,
    item_parts,
    message_fields,
    parse_call,
)


class ResponseParts:
    """Reads the output items of one response.

    Args:
        waits_for_secrets: Whether reasoning without `encrypted_content` may get it with the last
            event, as at Azure; until then it is not committed.
        history: The items of the request, whose call ids are not given to new calls.
    """

    def __init__(self, history: Sequence[Item], *, waits_for_secrets: bool) -> None:
        self.has_surrogates = False
        """Whether texts may hold lone surrogates, as only lenient reading lets them through."""
        self.refused = False
        """Whether the model refused."""
        self.has_calls = False
        """Whether there are tool calls for the client."""
        self._part_count = 0
        self.items = OutputItems()
        self._texts: dict[int | None, dict[int | None, GrowingPart]] = {}
        self._call_ids = ResponseCallIds(history)
        self._waits_for_secrets = waits_for_secrets
        self._without_secret: list[OutputItem] = []

    def growing(self, event: Any) -> GrowingPart | None:
        """The open part that an event of `_common_events` adds to; None where none is open."""
        kind = type(event)
        if kind is TEXT:
            texts = self._texts.get(event.output_index)
            return None if texts is None else texts.get(event.content_index)
        item = self.items.latest.get(event.output_index)
        if item is None or item.done or item.type != ITEM_OF[kind]:
            return None
        return item.parts.get(0)

    def take_text(
        self, index: int | None, at: int | None, text: str, out: list[ModelEvent]
    ) -> None:
        """Take more of a text; add its deltas to `out`."""
        growing = self._text_of_index(index, at, out)
        growing.grow(text, out, has_surrogates=self.has_surrogates)

    def take_refusal(
        self, index: int | None, at: int | None, text: str, out: list[ModelEvent]
    ) -> None:
        """Take more of a refusal."""
        self.refused = True
        growing = self._text_at(index, at, {REFUSAL_KEY: True}, out)
        growing.grow(text, out, has_surrogates=self.has_surrogates)

    def take_reasoning(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take more of reasoning, of its summary or its content."""
        item = self.items.open(index, "reasoning")
        growing = item.parts.get(0) or self._begin(item, 0, Reasoning(), out)
        growing.grow(text, out, has_surrogates=self.has_surrogates)

    def take_arguments(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take more of a call's arguments; they wait until the call's name is known."""
        item = self.items.open(index, "function_call")
        if item.parts:
            item.parts[0].grow(text, out, has_surrogates=self.has_surrogates)
        else:
            item.waiting.append(text)

    def take_input(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take more of the free text that is the input of a custom tool."""
        item = self.items.open(index, "custom_tool_call")
        if item.parts:
            piece = to_json(text)[1:-1].decode()
            item.parts[0].grow(piece, out, has_surrogates=self.has_surrogates)

    def take_annotation(self, index: int | None, at: int | None, annotation: Any) -> None:
        """Take a citation of a text, for servers whose complete items have none."""
        growing = self.items.open(index, "message").parts.get(at or 0)
        if growing is not None:
            growing.annotations.append(annotation)

    def complete_text(
        self, index: int | None, at: int | None, text: str, out: list[ModelEvent]
    ) -> None:
        """Take a complete text; what was not streamed of it becomes a delta now."""
        if text:
            self._text_of_index(index, at, out).grow_to(text, out)

    def complete_arguments(self, index: int | None, text: str, out: list[ModelEvent]) -> None:
        """Take a call's complete arguments; what was not streamed becomes a delta now."""
        item = self.items.open(index, "function_call")
        if item.parts:
            item.parts[0].grow_to(text, out)
        else:
            item.waiting = [text]

    def begin_item(self, index: int | None, raw: Mapping[str, Any], out: list[ModelEvent]) -> None:
        """Take an item that begins."""
        self.items.announced = True
        if index is None:
            index = self.items.next_index
        item = self.items.open(index, str(raw.get("type") or "message"))
        item.raw = raw
        if item.parts or item.type in ("message", "image_generation_call"):
            return
        if item.type == "reasoning":
            self._begin(item, 0, Reasoning(), out)
        elif item.type in CALL_TYPES:
            if raw.get("call_id") and raw.get("name"):
                self._begin_call(item, raw, out)
        else:
            self._begin(item, 0, Custom(f"{API}.{item.type}"), out)

    def finish_item(self, index: int | None, raw: Mapping[str, Any], out: list[ModelEvent]) -> None:
        """Take an item that is complete; commit its parts."""
        if index is None:
            index = self.items.unfinished_index
        item = self.items.open(index, str(raw.get("type") or "message"))
        if self._waits_for_secrets and item.type == "reasoning" and lacks_secret(raw):
            item.done, item.raw = True, raw
            self._without_secret.append(item)
            if not item.parts:
                self._begin(item, 0, Reasoning(), out)
        else:
            self._finish(item, raw, out)

    def close(self, output: Any, out: list[ModelEvent]) -> None:
        """Commit what is left: the response has ended.

        Args:
            output: The items in its last event; items that were not streamed are read from there.
                Many servers send none, and at some the ids differ.
            out: Gets the deltas.
        """
        items = [raw for raw in list_or_empty(output) if isinstance(raw, dict)]
        known = with_secrets(self._without_secret, items)
        for item, raw in zip(self._without_secret, known, strict=True):
            self._finish(item, raw, out)
        done = [item for item in self.items.all if item.done]
        known_ids = {text_or_empty(item.raw.get("id")) for item in done} - {""}
        missing = len(items) - len(done)
        for index, raw in enumerate(items):
            streamed = self.items.latest.get(index)
            is_done = streamed is not None and streamed.done
            if missing > 0 and not is_done and text_or_empty(raw.get("id")) not in known_ids:
                item = self.items.open(index, str(raw.get("type") or "message"))
                self._finish(item, raw, out)
                missing -= 1
        for item in self.items.all:
            if not item.done:
                item.done = True
                self._commit_rest(item, {}, out)

    @property
    def raw_items(self) -> list[Mapping[str, Any]]:
        """The output items as they came, in their order."""
        return [{**item.raw, "type": item.type} for item in self.items.all]

    def expects(self, index: int | None, kind: str) -> bool:
        """Whether a delta can belong to an item of this type; see `OutputItems.expects`."""
        return self.items.expects(index, kind)

    def _finish(self, item: OutputItem, raw: Mapping[str, Any], out: list[ModelEvent]) -> None:
        item.done, item.raw = True, raw
        place: MetadataMap = {PLACE_KEY: self._place(item)}
        if item.type in CALL_TYPES:
            self._finish_call(item, raw, place, out)
        else:
            for at, part in item_parts({**raw, "type": item.type}, place):
                self._finish_part(item, at, part, out)
        self._commit_rest(item, {**place, ITEM_KEY: message_fields(raw)}, out)

    def _place(self, item: OutputItem) -> dict[str, Any]:
        before = item.reasoning_before
        return {"index": item.number, **({} if before is None else {"reasoning": before})}

    def _begin(self, item: OutputItem, at: int, part: Part, out: list[ModelEvent]) -> GrowingPart:
        growing = item.parts[at] = GrowingPart(PartId(f"part-{self._part_count}"), part)
        self._part_count += 1
        out.append(BeginPart(growing.part_id, part))
        return growing

    def _text_of_index(
        self, index: int | None, at: int | None, out: list[ModelEvent]
    ) -> GrowingPart:
        """The text at a place as the server names it, the same until its item is done."""
        texts = self._texts.setdefault(index, {})
        growing = texts.get(at)
        if growing is None:
            growing = texts[at] = self._text_at(index, at, {}, out)
        return growing

    def _text_at(
        self, index: int | None, at: int | None, metadata: MetadataMap, out: list[ModelEvent]
    ) -> GrowingPart:
        item = self.items.open(index, "message")
        growing = item.parts.get(at or 0)
        return growing or self._begin(item, at or 0, Text("", metadata=metadata), out)

    def _begin_call(
        self, item: OutputItem, raw: Mapping[str, Any], out: list[ModelEvent]
    ) -> GrowingPart:
        """Fix the id of a call. A call without id, or with that of an earlier call, gets a new one.

        See `ResponseCallIds`.
        """
        self.has_calls = True
        call_id = self._call_ids.assign(str(raw.get("call_id") or ""), item.number)
        call = ToolCall(ToolCallId(call_id), str(raw.get("name") or ""))
        growing = self._begin(item, 0, call, out)
        if item.type == "custom_tool_call":
            growing.grow(CUSTOM_INPUT_START, out, has_surrogates=self.has_surrogates)
        return growing

    def _finish_call(
        self, item: OutputItem, raw: Mapping[str, Any], place: MetadataMap, out: list[ModelEvent]
    ) -> None:
        if not item.parts and not text_or_empty(raw.get("name")):
            return  # a call that cannot be run
        growing = item.parts.get(0) or self._begin_call(item, raw, out)
        begun = growing.part
        if not isinstance(begun, ToolCall):
            return
        streamed = growing.text or "".join(item.waiting)
        call = parse_call({"type": item.type, **raw}, begun.id, streamed, place)
        if item.type == "custom_tool_call":
            growing.grow_to(to_json(call.input).decode(), out)
        else:
            growing.grow_to(arguments_text(raw) or streamed, out)
        self._commit(item, 0, replace(call, name=call.name or begun.name), out)

    def _finish_part(self, item: OutputItem, at: int, part: Part, out: list[ModelEvent]) -> None:
        match part:
            case Text(text=text):
                self.refused = self.refused or REFUSAL_KEY in part.metadata
                key = streamed_as(item, at, part)
                growing = item.parts.get(key)
                if growing is None:
                    growing = self._begin(item, key, Text("", metadata=refusal_mark(part)), out)
                growing.grow_to(text, out)
                if growing.annotations and ANNOTATIONS_KEY not in part.metadata:
                    annotations = {ANNOTATIONS_KEY: growing.annotations}
                    part = replace(part, metadata={**part.metadata, **annotations})
                self._commit(item, key, part, out)
            case Reasoning():
                growing = item.parts.get(0) or self._begin(item, 0, Reasoning(), out)
                growing.grow_to(part.summary or "", out)
                if part.summary is None and growing.pieces:
                    part = replace(part, summary=growing.text, redacted=False)
                self._commit(item, 0, part, out)
            case _:
                self._commit(item, at, part, out)

    def _commit(self, item: OutputItem, key: int, part: Part, out: list[ModelEvent]) -> None:
        growing = item.parts.pop(key, None)
        if growing is None or type(growing.part) is not type(part):
            out.append(CommitPart(part))
        else:
            out.append(CommitPart(part, growing.part_id))

    def _commit_rest(
        self, item: OutputItem, text_metadata: MetadataMap, out: list[ModelEvent]
    ) -> None:
        """Commit the parts that the complete item does not have, as far as they were streamed."""
        for key, growing in list(item.parts.items()):
            self._commit(item, key, growing.close(text_metadata, out), out)
        self._texts.pop(item.index, None)
        self._texts.pop(None, None)
