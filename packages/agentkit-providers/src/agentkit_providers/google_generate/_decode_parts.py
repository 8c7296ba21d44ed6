"""The parts of one response while they grow: what each chunk adds to them.

A stream cuts text anywhere, so text and reasoning come in runs: where the kind changes, the open
part is committed and another begins. A signature does not end a run, since it may stand in the
middle of a sentence. It is recorded which piece each signature belongs to, so that it goes back
with just that piece. Other parts come whole, except calls whose arguments are streamed.
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
    Item,
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
from agentkit_providers._protocol_kit._lenient_values import decode_base64
from agentkit_providers._protocol_kit._response_call_ids import ResponseCallIds
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

_ATTRIBUTES: Final = frozenset(
    {"text", "thought", "thoughtSignature", "partMetadata", "videoMetadata", "mediaResolution"}
)
"""Fields of a part that do not say what kind of part it is."""

_SMALL: Final = 1024
"""Up to this many characters, all arguments are shown after each value; more may lag behind by an
eighth, so that this takes time in proportion to the arguments."""

Verbatim = Callable[[int], dict[str, Any]]
"""Returns the part at an index of the chunk that is being read, as it stands there."""


class Run:
    """A text, or reasoning, that grows."""

    __slots__ = ("part_id", "pieces", "signatures", "thought")

    def __init__(self, part_id: PartId, *, thought: bool) -> None:
        self.part_id = part_id
        self.thought = thought
        self.pieces: list[str] = []
        self.signatures: dict[int, str] = {}
        """Signatures by the index of their piece."""

    def completed_part(self) -> Part:
        text = "".join(self.pieces)
        metadata = self._signature_metadata() if self.signatures else {}
        if self.thought:
            return Reasoning(text, metadata=metadata)
        return Text(text, metadata=metadata)

    def _signature_metadata(self) -> MetadataMap:
        if len(self.pieces) == 1:
            return {SIGNATURE_KEY: self.signatures[0]}
        spans: list[Any] = []
        for at, piece in enumerate(self.pieces):
            signature = self.signatures.get(at)
            if signature is None and spans and spans[-1][1] is None:
                spans[-1][0] += len(piece)
            else:
                spans.append([len(piece), signature])
        return {PIECES_KEY: spans}


class _OpenCall:
    """A call whose arguments are streamed."""

    __slots__ = ("arguments", "call", "grown", "part_id", "shown", "signature", "text")

    def __init__(self, part_id: PartId, call: ToolCall) -> None:
        self.part_id = part_id
        self.call = call
        self.signature: str | None = None
        self.arguments = PartialArgs()
        self.text: list[str] = []
        self.shown = 0
        """The size of the arguments that the last `ReplaceStructured` had, in characters."""
        self.grown = 0
        """How much has come since."""


class ResponseParts:
    """Reads the parts of one candidate.

    Args:
        history: The items of the request, whose call ids are not given to new calls.
    """

    def __init__(self, history: Sequence[Item]) -> None:
        self.finish_words: list[str] = []
        """The vendor's finish reasons as they came, with repeated ones."""
        self.finish_message: Any = None
        self.has_continued = False
        """Whether content came after the last finish reason, which is therefore not the last."""
        self.metadata: MetadataMap = {}
        """For the item that the response becomes."""
        self._call_count = 0
        self._part_count = 0
        self.run: Run | None = None
        """The text, or reasoning, that is open."""
        self._call: _OpenCall | None = None
        self._call_ids = ResponseCallIds(history)

    @property
    def has_calls(self) -> bool:
        """Whether there are tool calls."""
        return self._call_count > 0

    @property
    def finish_word(self) -> str:
        """The finish reason that is valid: the last one that is not empty; empty for none.

        A finish reason that more content follows is not the response's.
        """
        if self.has_continued:
            return ""
        return next((word for word in reversed(self.finish_words) if word), "")

    def take(self, parts: Sequence[wire.Part], verbatim: Verbatim, out: list[ModelEvent]) -> None:
        """Take what the candidate gained; add the deltas of parts to `out`."""
        for at, part in enumerate(parts):
            text = part.text
            if text is not None:
                if text:
                    run = self.run
                    if run is None or run.thought is not (part.thought is True):
                        run = self._open_run(thought=part.thought is True, out=out)
                    if part.thought_signature:
                        run.signatures[len(run.pieces)] = part.thought_signature
                    run.pieces.append(text)
                    out.append(AppendText(run.part_id, text))
                elif part.thought_signature:
                    self._add_part(Custom(f"{API}.text", verbatim(at)), out)
            elif part.function_call is not None:
                self._take_call(part.function_call, part.thought_signature, out)
            elif part.inline_data is not None or part.file_data is not None:
                self._add_part(_media(part), out)
            else:
                self._take_other(verbatim(at), out)

    def close(self, out: list[ModelEvent], *, cut: bool = False) -> None:
        """Commit all open parts: the candidate has ended.

        Args:
            out: Gets the deltas.
            cut: Whether a limit cut it off, so that an open call is not complete.
        """
        self._close_run(out)
        self._close_call(out, cut=cut)

    def _open_run(self, *, thought: bool, out: list[ModelEvent]) -> Run:
        self._close_run(out)
        run = self.run = Run(self._next_part_id(), thought=thought)
        out.append(BeginPart(run.part_id, Reasoning() if thought else Text("")))
        return run

    def _close_run(self, out: list[ModelEvent]) -> None:
        run = self.run
        if run is not None:
            self.run = None
            out.append(CommitPart(run.completed_part(), run.part_id))

    def _next_part_id(self) -> PartId:
        self._part_count += 1
        return PartId(f"part-{self._part_count - 1}")

    def _add_part(self, part: Part, out: list[ModelEvent]) -> None:
        self._close_run(out)
        out.append(CommitPart(part))

    def _take_other(self, part: dict[str, Any], out: list[ModelEvent]) -> None:
        """Take a part that only the vendor understands: code that ran there, its own tools."""
        name = next((field for field in part if field not in _ATTRIBUTES), None)
        if name is not None:
            self._add_part(Custom(f"{API}.{name}", part), out)
        elif part.get("thoughtSignature"):
            self._add_part(Custom(f"{API}.text", part), out)

    def _take_call(
        self, fragment: wire.FunctionCall, signature: str | None, out: list[ModelEvent]
    ) -> None:
        open_call = None if fragment.name else self._call
        if open_call is None:
            self._close_call(out)
            if not fragment.name:
                return  # the end of a call that is over
            open_call = self._begin_call(fragment, fragment.name, out)
        if signature:
            open_call.signature = signature
        for argument in fragment.partial_args or ():
            self._grow_call(open_call, argument, out)
        if not fragment.will_continue:
            self._close_call(out)

    def _begin_call(
        self, fragment: wire.FunctionCall, name: str, out: list[ModelEvent]
    ) -> _OpenCall:
        """Begin a call. A call without id, or with that of an earlier call, gets a new one."""
        self._close_run(out)
        call_id = self._call_ids.assign(fragment.id or "", self._call_count)
        self._call_count += 1
        call = ToolCall(
            ToolCallId(call_id),
            name,
            metadata={CALL_ID_KEY: call_id} if fragment.id else {},
        )
        open_call = self._call = _OpenCall(self._next_part_id(), call)
        out.append(BeginPart(open_call.part_id, call))
        if isinstance(fragment.args, dict):
            if fragment.args:
                self._append(open_call, json.dumps(fragment.args, ensure_ascii=False), out)
        elif isinstance(fragment.args, str):
            self._append(open_call, fragment.args, out)
        return open_call

    def _append(self, open_call: _OpenCall, text: str, out: list[ModelEvent]) -> None:
        if text:
            open_call.text.append(text)
            out.append(AppendText(open_call.part_id, text))

    def _grow_call(
        self, open_call: _OpenCall, argument: wire.PartialArg, out: list[ModelEvent]
    ) -> None:
        arguments = open_call.arguments
        self._append(open_call, arguments.take(argument), out)
        if arguments.appendable:
            return
        value = argument.string_value
        open_call.grown += len(argument.json_path) + (len(value) if isinstance(value, str) else 8)
        if open_call.shown <= _SMALL or open_call.grown * 8 >= open_call.shown:
            # The value of a delta must not change later, so the delta gets a copy.
            text = json.dumps(arguments.value)
            open_call.shown, open_call.grown = len(text), 0
            out.append(ReplaceStructured(open_call.part_id, json.loads(text)))

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
        mime_type = part.inline_data.mime_type
        data = InlineBytes(decode_base64(part.inline_data.data))
    elif part.file_data is not None:
        mime_type, data = part.file_data.mime_type, Uri(part.file_data.file_uri)
    if part.thought:
        return Reasoning(data=data, metadata={**metadata, MIME_TYPE_KEY: mime_type})
    modality = modality_of(mime_type)
    if modality is None:
        return File(data, mime_type or None, metadata=metadata)
    return Media(modality, mime_type, data, metadata=metadata)
