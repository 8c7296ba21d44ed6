"""The parts of one response while they grow: what each chunk adds to them.

Text and reasoning come in runs: where the kind changes, the open part is committed and another
begins, so order survives, and finished reasoning is kept when the rest is cut off. Tool calls grow
side by side and are committed together at the end. Where one chunk holds several kinds, they are
read in the order reasoning, text, calls, others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Any, Final

from agentkit_core import (
    Custom,
    InlineBytes,
    Item,
    Media,
    MetadataMap,
    Modality,
    Part,
    Reasoning,
    Text,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    PartId,
)
from agentkit_providers._protocol_kit._lenient_values import (
    REPLACEMENT,
    append_to_list,
    decode_base64,
    image_from_url,
    join_surrogates,
    joined_texts,
)
from agentkit_providers.openai_chat._common_events import (
    READ_ARGUMENTS,
    READ_REASONING,
    READ_TEXT,
    Growth,
)
from agentkit_providers.openai_chat._metadata_keys import (
    ANNOTATIONS_KEY,
    API,
    AUDIO_ID_KEY,
    DETAILS_KEY,
    EXECUTED_TOOLS_KEY,
    EXTRA_CONTENT_KEY,
    REASONING_FIELD_KEY,
    REFUSAL_KEY,
    TRANSCRIPT_KEY,
)
from agentkit_providers.openai_chat._reasoning_details import DetailsJoin, reasoning_source
from agentkit_providers.openai_chat._tool_slots import ToolSlot, ToolSlots, merge_extra_content
from agentkit_providers.openai_chat._wire_events import Delta, ToolCallDelta


class _Run(Enum):
    TEXT = "text"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    AUDIO = "audio"


_TEXT: Final = _Run.TEXT
"""Looked up once, since every word of a stream needs it."""


class ResponseParts:
    """Reads the deltas of one choice.

    Args:
        known_tools: Names of the tools that the request offers.
        audio_type: MIME type of the audio that the model speaks.
        history: The items of the request, whose call ids are not given to new calls.
    """

    def __init__(
        self, known_tools: Collection[str], audio_type: str, history: Sequence[Item]
    ) -> None:
        self.finished = False
        """Whether the choice has ended; later deltas are ignored."""
        self.finish_words: list[str] = []
        """The vendor's finish reasons as they came, with empty and repeated ones."""
        self.refused = False
        """Whether the model refused."""
        self.has_surrogates = False
        """Whether texts may hold lone surrogates, as only lenient reading lets them through."""
        self.metadata: MetadataMap = {}
        """For the item that the response becomes."""
        self._audio_type = audio_type
        self._part_count = 0
        self._run: _Run | None = None
        self._part_id = PartId("")
        self._pieces: list[str] = []
        self._surrogate = ""  # the first half of a pair, at the end of the last piece
        self._part_metadata: MetadataMap = {}
        self._details = DetailsJoin()
        self._bytes: list[bytes] = []
        self._tools = ToolSlots(known_tools, history)
        self.growth: Growth | None = None
        """What the last delta added to, if the next one is likely to add more; see `Growth`."""

    @property
    def calls(self) -> list[ToolSlot]:
        """The tool calls, in the order in which they began, without fragments that have no name."""
        return [slot for slot in self._tools.slots if slot.name]

    @property
    def has_calls(self) -> bool:
        """Whether there are tool calls."""
        return bool(self.calls)

    def take(self, delta: Delta, out: list[ModelEvent]) -> None:
        """Take what the choice gained; add the deltas of parts to `out`."""
        self.growth = None
        if (
            delta.reasoning_content
            or delta.reasoning
            or delta.reasoning_details
            or delta.reasoning_text
        ):
            self._take_reasoning(delta, out)
        content = delta.content
        if content:
            if type(content) is str:
                self._append(_TEXT, content, out)
                self.growth = Growth(READ_TEXT, None, self._pieces, self._part_id)
            else:
                for entry in content:
                    self._take_entry(entry, out)
        if delta.tool_calls:
            self._tools.begin_message()
            for fragment in delta.tool_calls:
                self._take_call(fragment, out)
        if delta.refusal or delta.annotations or delta.audio or delta.images:
            self._take_extras(delta, out)
        if delta.function_call or delta.extra_content is not None or delta.executed_tools:
            self._take_rare_fields(delta, out)

    def close(self, out: list[ModelEvent]) -> None:
        """Commit all open parts: the choice has ended."""
        self.finished, self.growth = True, None
        self._close_run(out)
        self._tools.join_nameless()
        for slot in self.calls:
            if not slot.begun:
                self._begin_call(slot, out)
            self._grow_call(slot, REPLACEMENT if slot.surrogate else "", out)
            for piece in slot.nameless:
                self._grow_call(slot, piece, out)
            out.append(CommitPart(slot.completed_call(), slot.part_id))

    def _append(self, run: _Run, text: str, out: list[ModelEvent]) -> None:
        if run is not self._run:
            self._open(run, out)
        if self.has_surrogates:
            text, self._surrogate = join_surrogates(self._surrogate + text)
            if not text:
                return
        self._pieces.append(text)
        out.append(AppendText(self._part_id, text))

    def _open(self, run: _Run, out: list[ModelEvent]) -> None:
        self._close_run(out)
        self._run, self._part_id = run, self._next_part_id()
        part: Part
        match run:
            case _Run.TEXT:
                part = Text("")
            case _Run.REASONING:
                part = Reasoning()
            case _Run.REFUSAL:
                self.refused = True
                self._part_metadata = {REFUSAL_KEY: True}
                part = Text("", metadata={REFUSAL_KEY: True})
            case _Run.AUDIO:
                part = Media(Modality.AUDIO, self._audio_type, InlineBytes(b""))
        out.append(BeginPart(self._part_id, part))

    def _close_run(self, out: list[ModelEvent]) -> None:
        run = self._run
        if run is None:
            return
        self._run = self.growth = None
        if self._surrogate:
            self._surrogate = ""
            self._pieces.append(REPLACEMENT)
            out.append(AppendText(self._part_id, REPLACEMENT))
        text, metadata = "".join(self._pieces), self._part_metadata
        part: Part
        if run is _Run.REASONING:
            details = self._details.entries()
            if details:
                metadata = {**metadata, DETAILS_KEY: list(details)}
            part = Reasoning(text or None, redacted=not text, metadata=metadata)
        elif run is _Run.AUDIO:
            if text:
                metadata = {**metadata, TRANSCRIPT_KEY: text}
            audio = InlineBytes(b"".join(self._bytes))
            part = Media(Modality.AUDIO, self._audio_type, audio, metadata=metadata)
        else:
            part = Text(text, metadata=metadata)
        out.append(CommitPart(part, self._part_id))
        self._pieces, self._bytes, self._part_metadata = [], [], {}
        self._details = DetailsJoin()

    def _next_part_id(self) -> PartId:
        self._part_count += 1
        return PartId(f"part-{self._part_count - 1}")

    def _take_reasoning(self, delta: Delta, out: list[ModelEvent]) -> None:
        raw = delta.reasoning_details
        details = [entry for entry in raw if isinstance(entry, dict)] if type(raw) is list else []
        field, text = reasoning_source(delta, details)
        if text:
            self._append(_Run.REASONING, text, out)
            self._part_metadata.setdefault(REASONING_FIELD_KEY, field)
            if not details and field in READ_REASONING:
                self.growth = Growth(READ_REASONING[field], None, self._pieces, self._part_id)
        elif self._run is not _Run.REASONING and any(
            entry.get("signature") or entry.get("data") for entry in details
        ):
            self._open(_Run.REASONING, out)
        if self._run is _Run.REASONING:
            self._details.add(details)

    def _take_entry(self, entry: Any, out: list[ModelEvent]) -> None:
        """Take one entry of a content that is a list (Mistral)."""
        if isinstance(entry, str):
            entry = {"type": "text", "text": entry}
        if not isinstance(entry, dict):
            return
        kind = entry.get("type")
        if kind == "thinking":
            if text := joined_texts(entry.get("thinking")):
                self._append(_Run.REASONING, text, out)
                self._part_metadata.setdefault(REASONING_FIELD_KEY, "content")
        elif kind == "text" or kind is None:
            if text := joined_texts(entry.get("text")):
                self._append(_Run.TEXT, text, out)
        elif kind == "image_url":
            self._take_image(entry, out)
        else:
            self._close_run(out)
            out.append(CommitPart(Custom(f"{API}.{kind}", entry)))

    def _take_call(self, fragment: ToolCallDelta, out: list[ModelEvent]) -> None:
        self._place_call(fragment, out)
        self.growth = Growth(READ_ARGUMENTS, self._tools.by_index, [], PartId(""))

    def _place_call(self, fragment: ToolCallDelta, out: list[ModelEvent]) -> None:
        tools = self._tools
        continued = tools.find_continued(fragment)
        if continued is not None and continued.begun:
            piece = fragment.function and fragment.function.arguments
            if type(piece) is str:
                self._grow_call(continued, piece, out)
                return
        count_before = len(tools.slots)
        slot, arguments = tools.place(fragment, PartId(f"part-{self._part_count}"))
        if len(tools.slots) > count_before:
            self._part_count += 1
        if slot.begun:
            self._grow_call(slot, arguments, out)
            return
        if arguments:
            slot.arguments.append(arguments)
        if tools.may_begin(slot):
            self._begin_call(slot, out)

    def _begin_call(self, slot: ToolSlot, out: list[ModelEvent]) -> None:
        self._close_run(out)
        out.append(BeginPart(slot.part_id, self._tools.begin(slot)))
        so_far, slot.arguments = slot.text, []
        self._grow_call(slot, so_far, out)

    def _grow_call(self, slot: ToolSlot, arguments: str, out: list[ModelEvent]) -> None:
        if self.has_surrogates:
            arguments, slot.surrogate = join_surrogates(slot.surrogate + arguments)
        if arguments:
            slot.arguments.append(arguments)
            out.append(AppendText(slot.part_id, arguments))

    def _take_extras(self, delta: Delta, out: list[ModelEvent]) -> None:
        if delta.refusal:
            self._append(_Run.REFUSAL, delta.refusal, out)
        if isinstance(delta.images, list):
            for image in delta.images:
                self._take_image(image, out)
        if isinstance(delta.audio, dict):
            self._take_audio(delta.audio, out)
        if isinstance(delta.annotations, list):
            append_to_list(self._metadata_here(), ANNOTATIONS_KEY, delta.annotations)

    def _take_rare_fields(self, delta: Delta, out: list[ModelEvent]) -> None:
        """Take the old `function_call`, and fields of Google and Groq."""
        function = delta.function_call
        if function is not None and (function.name or function.arguments):
            self._tools.begin_message()
            self._take_call(ToolCallDelta(function=function), out)
        if delta.extra_content is not None:
            metadata = self._metadata_here()
            known = metadata.get(EXTRA_CONTENT_KEY)
            metadata[EXTRA_CONTENT_KEY] = merge_extra_content(known, delta.extra_content)
        if isinstance(delta.executed_tools, list):
            append_to_list(self.metadata, EXECUTED_TOOLS_KEY, delta.executed_tools)

    def _metadata_here(self) -> MetadataMap:
        """The metadata of the text that is open; of the item where none is."""
        return self._part_metadata if self._run is _Run.TEXT else self.metadata

    def _take_image(self, image: Any, out: list[ModelEvent]) -> None:
        link = image.get("image_url") if isinstance(image, dict) else None
        url = link.get("url") if isinstance(link, dict) else link
        if isinstance(url, str) and url:
            self._close_run(out)
            out.append(CommitPart(image_from_url(url)))

    def _take_audio(self, audio: dict[str, Any], out: list[ModelEvent]) -> None:
        data, transcript = audio.get("data"), audio.get("transcript")
        if not data and not transcript:
            return
        if self._run is not _Run.AUDIO:
            self._open(_Run.AUDIO, out)
        if isinstance(audio.get("id"), str):
            self._part_metadata[AUDIO_ID_KEY] = audio["id"]
        if isinstance(transcript, str):
            self._pieces.append(without_lone_surrogates(transcript))
        if isinstance(data, str) and (content := decode_base64(data)):
            self._bytes.append(content)
            out.append(AppendBytes(self._part_id, content))
