"""One answer while it grows: what a candidate gains, as deltas of parts.

A stream cuts text anywhere, so text and reasoning come in runs: where the kind changes, the
part that was open is committed and another begins. Signatures do not end a run, for they may
stand in mid-sentence; which piece each belongs to is kept, so that it goes back with just that
piece. Other parts come whole, but for calls whose arguments are streamed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    InlineBytes,
    Media,
    MetadataMap,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolCallId,
    Uri,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    PartId,
    ReplaceStructured,
    complete_call,
)
from agentkit_providers._protocol_kit._lenient_values import bytes_of
from agentkit_providers.google_generate import _wire_events as wire
from agentkit_providers.google_generate._media import modality_of
from agentkit_providers.google_generate._metadata_keys import (
    API,
    CALL_ID_KEY,
    MIME_TYPE_KEY,
    PIECES_KEY,
    SIGNATURE_KEY,
)
from agentkit_providers.google_generate._partial_args import PartialArgs

_NO_BLOCK: Final = frozenset(
    {"text", "thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"}
)
"""Fields of a part that are not what it consists of."""

Verbatim = Callable[[int], dict[str, Any]]
"""Gives a part of the chunk that is being read, by its place, as it stands there."""


class _Run:
    """A text, or reasoning, that grows."""

    __slots__ = ("part_id", "pieces", "signed", "thought")

    def __init__(self, part_id: PartId, *, thought: bool) -> None:
        self.part_id = part_id
        self.thought = thought
        self.pieces: list[str] = []
        self.signed: dict[int, str] = {}
        """Signatures by the place of their piece."""

    def completed(self) -> Part:
        text = "".join(self.pieces)
        metadata = self._signatures() if self.signed else {}
        if self.thought:
            return Reasoning(text, metadata=metadata)
        return Text(text, metadata=metadata)

    def _signatures(self) -> MetadataMap:
        if len(self.pieces) == 1:
            return {SIGNATURE_KEY: self.signed[0]}
        spans: list[Any] = []
        for at, piece in enumerate(self.pieces):
            signature = self.signed.get(at)
            if signature is None and spans and spans[-1][1] is None:
                spans[-1][0] += len(piece)
            else:
                spans.append([len(piece), signature])
        return {PIECES_KEY: spans}


class _OpenCall:
    """A call whose arguments are streamed."""

    __slots__ = ("arguments", "call", "part_id", "signature", "text")

    def __init__(self, part_id: PartId, call: ToolCall) -> None:
        self.part_id = part_id
        self.call = call
        self.signature: str | None = None
        self.arguments = PartialArgs()
        self.text: list[str] = []


class Answer:
    """Reads the parts of one candidate."""

    def __init__(self) -> None:
        self.finish_words: list[str] = []
        """The vendor's finish reasons as they came, repeated ones included."""
        self.finish_message: Any = None
        self.metadata: MetadataMap = {}
        """For the item that the answer becomes."""
        self.calls = 0
        """How many calls there are."""
        self._parts = 0
        self._run: _Run | None = None
        self._call: _OpenCall | None = None
        self._used_ids: set[str] = set()

    @property
    def finish_word(self) -> str:
        """The finish reason that counts: the last one that says something; empty for none."""
        return next((word for word in reversed(self.finish_words) if word), "")

    def take(self, parts: Sequence[wire.Part], verbatim: Verbatim, out: list[ModelEvent]) -> None:
        """Take what the candidate gained; add the deltas of parts to `out`."""
        for at, part in enumerate(parts):
            text = part.text
            if text is not None:
                if text:
                    run = self._run
                    if run is None or run.thought is not (part.thought is True):
                        run = self._open_run(thought=part.thought is True, out=out)
                    if part.thought_signature:
                        run.signed[len(run.pieces)] = part.thought_signature
                    run.pieces.append(text)
                    out.append(AppendText(run.part_id, text))
                elif part.thought_signature:
                    self._add_whole(Custom(f"{API}.text", verbatim(at)), out)
            elif part.function_call is not None:
                self._take_call(part.function_call, part.thought_signature, out)
            elif part.inline_data is not None or part.file_data is not None:
                self._add_whole(_media(part), out)
            else:
                self._take_block(verbatim(at), out)

    def close(self, out: list[ModelEvent], *, cut: bool = False) -> None:
        """Commit everything that is open; the candidate has ended.

        Args:
            out: Gets the deltas.
            cut: Whether a limit cut it off, so that a call that is open is not whole.
        """
        self._close_run(out)
        self._close_call(out, cut=cut)

    def _open_run(self, *, thought: bool, out: list[ModelEvent]) -> _Run:
        self._close_run(out)
        run = self._run = _Run(self._next_part(), thought=thought)
        out.append(BeginPart(run.part_id, Reasoning() if thought else Text("")))
        return run

    def _close_run(self, out: list[ModelEvent]) -> None:
        run = self._run
        if run is not None:
            self._run = None
            out.append(CommitPart(run.completed(), run.part_id))

    def _next_part(self) -> PartId:
        self._parts += 1
        return PartId(f"part-{self._parts - 1}")

    def _add_whole(self, part: Part, out: list[ModelEvent]) -> None:
        self._close_run(out)
        out.append(CommitPart(part))

    def _take_block(self, block: dict[str, Any], out: list[ModelEvent]) -> None:
        """Take a part that only the vendor understands: code that ran there, its own tools."""
        name = next((key for key in block if key not in _NO_BLOCK), None)
        if name is not None:
            self._add_whole(Custom(f"{API}.{name}", block), out)
        elif block.get("thoughtSignature"):
            self._add_whole(Custom(f"{API}.text", block), out)

    def _take_call(
        self, given: wire.FunctionCall, signature: str | None, out: list[ModelEvent]
    ) -> None:
        open_call = None if given.name else self._call
        if open_call is None:
            self._close_call(out)
            if not given.name:
                return  # the end of a call that is over
            open_call = self._begin_call(given, given.name, out)
        if signature:
            open_call.signature = signature
        for one in given.partial_args or ():
            self._grow_call(open_call, one, out)
        if not given.will_continue:
            self._close_call(out)

    def _begin_call(self, given: wire.FunctionCall, name: str, out: list[ModelEvent]) -> _OpenCall:
        self._close_run(out)
        number = self.calls
        self.calls += 1
        call_id = given.id or ""
        while not call_id or call_id in self._used_ids:
            call_id, number = f"call_{number}", number + self.calls
        self._used_ids.add(call_id)
        call = ToolCall(
            ToolCallId(call_id),
            name,
            metadata={CALL_ID_KEY: given.id} if given.id else {},
        )
        open_call = self._call = _OpenCall(self._next_part(), call)
        out.append(BeginPart(open_call.part_id, call))
        if isinstance(given.args, dict):
            if given.args:
                self._append(open_call, json.dumps(given.args, ensure_ascii=False), out)
        elif isinstance(given.args, str):
            self._append(open_call, given.args, out)
        return open_call

    def _append(self, open_call: _OpenCall, text: str, out: list[ModelEvent]) -> None:
        if text:
            open_call.text.append(text)
            out.append(AppendText(open_call.part_id, text))

    def _grow_call(
        self, open_call: _OpenCall, given: wire.PartialArg, out: list[ModelEvent]
    ) -> None:
        arguments = open_call.arguments
        self._append(open_call, arguments.take(given), out)
        if not arguments.appendable:
            # What a delta holds must not change any more.
            snapshot = json.loads(json.dumps(arguments.value))
            out.append(ReplaceStructured(open_call.part_id, snapshot))

    def _close_call(self, out: list[ModelEvent], *, cut: bool = False) -> None:
        open_call = self._call
        if open_call is None:
            return
        self._call = None
        arguments = open_call.arguments
        if arguments.value:
            self._append(open_call, arguments.close(), out)
        text = "".join(open_call.text)
        if arguments.value and not arguments.appendable:
            text = json.dumps(arguments.value, ensure_ascii=False)
        call = complete_call(open_call.call, text, cut=cut)
        if arguments.error is not None and call.input_error is None:
            call = replace(call, input={}, raw_input=text, input_error=arguments.error)
        if open_call.signature:
            call = replace(call, metadata={**call.metadata, SIGNATURE_KEY: open_call.signature})
        out.append(CommitPart(call, open_call.part_id))


def _media(part: wire.Part) -> Part:
    metadata: MetadataMap = {}
    if part.thought_signature:
        metadata[SIGNATURE_KEY] = part.thought_signature
    data: InlineBytes | Uri = Uri("")
    mime_type = ""
    if part.inline_data is not None:
        mime_type, data = part.inline_data.mime_type, InlineBytes(bytes_of(part.inline_data.data))
    elif part.file_data is not None:
        mime_type, data = part.file_data.mime_type, Uri(part.file_data.file_uri)
    if part.thought:
        return Reasoning(data=data, metadata={**metadata, MIME_TYPE_KEY: mime_type})
    modality = modality_of(mime_type)
    if modality is None:
        return File(data, mime_type or None, metadata=metadata)
    return Media(modality, mime_type, data, metadata=metadata)
