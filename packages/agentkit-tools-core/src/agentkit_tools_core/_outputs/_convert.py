"""What a tool returned, as an output that can be written down, stored and sent.

The conversions, so that an author can rely on them:

    None                                 empty text
    str, and whatever becomes a string   text (date, time, UUID, Decimal, Path, a string Enum)
    bool, int, float                     the JSON value; NaN and infinities become strings
    dict, list, tuple                    the JSON value; keys become strings
    set, frozenset                       a list in the order of its members' JSON
    dataclass, Struct, TypedDict, Enum   what msgspec makes of it
    an object with `model_dump`          what it dumps in JSON mode (pydantic)
    bytes                                an image, audio or PDF by its first bytes, else a
                                         binary media part; inside other values base64 text
    File, or a list of them              files
    any other Part, or a list of parts   parts; text may stand among them
    ToolOutput, ToolReturn, ToolResult   itself

Anything else (a generator, a class, an exception, an open file) is refused here, where it is
known which tool it came from, and not when the transcript is stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import isfinite, isnan
from pathlib import PurePath
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    JsonValue,
    Media,
    Modality,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolOutput,
    ToolResult,
    foreign_metadata,
)
from agentkit_core.json import canonical_json, without_lone_surrogates
from agentkit_tools_core._contract._outcome import ToolOutcome, ToolReturn
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._errors import UnwritableOutput

_OUTPUTS: Final = (TextOutput, StructuredOutput, PartsOutput, FilesOutput)
_PARTS: Final = (Text, Media, File, Structured, Reasoning, Custom)
_ANSWERED: Final = (ToolCall, ToolResult)


def outcome_of(value: object, request: ToolInvocation) -> ToolOutcome:
    """Make the outcome of a call from what the tool returned.

    The result carries the request's call id whatever the tool wrote there, and no metadata
    under the reserved owner, and says that the tool has run.

    Raises:
        UnwritableOutput: The value cannot be a tool's output; see the table above.
    """
    tool, stop = request.name, False
    if isinstance(value, ToolOutcome):
        stop, value = value.stop, value.result
    if isinstance(value, ToolResult):
        result = replace(
            value,
            call_id=request.call_id,
            output=output_of(value.output, tool=tool),
            # It may be that of another call, which was refused.
            started=True,
            details=json_value_of(value.details, tool=tool),
            metadata=_metadata(value.metadata, tool),
        )
    elif isinstance(value, ToolReturn):
        stop = value.stop
        result = ToolResult(
            call_id=request.call_id,
            output=output_of(value.output, tool=tool),
            is_error=value.is_error,
            details=json_value_of(value.details, tool=tool),
            usage=value.usage,
            added_tools=tuple(value.added_tools),
        )
    else:
        result = ToolResult(call_id=request.call_id, output=output_of(value, tool=tool))
    return ToolOutcome(result, stop)


def output_of(value: object, *, tool: str) -> ToolOutput:
    """Bring any value that a function may return into one of the forms of an output.

    Args:
        value: What the tool returned.
        tool: The tool's name, for the error.

    Raises:
        UnwritableOutput: The value cannot be a tool's output; see the table above.
    """
    if isinstance(value, str) and not isinstance(value, Enum):
        return TextOutput(without_lone_surrogates(value))
    if isinstance(value, _OUTPUTS):
        return _clean_output(value, tool)
    if isinstance(value, (*_PARTS, *_ANSWERED)):
        value = (value,)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        value = (_part_of_bytes(bytes(value)),)
    if isinstance(value, (list, tuple)) and any(
        isinstance(one, _PARTS + _ANSWERED) for one in value
    ):
        return _output_of_parts(value, tool)
    written = json_value_of(value, tool=tool)
    if written is None:
        return TextOutput("")
    return TextOutput(written) if isinstance(written, str) else StructuredOutput(written)


def json_value_of(value: object, *, tool: str) -> JsonValue:
    """Bring a value into JSON, as the table above says, with text that UTF-8 can express.

    Raises:
        UnwritableOutput: Something in it has no JSON form, or it contains itself.
    """
    try:
        written: JsonValue = _written(value, tool)
    except RecursionError:
        kind = type(value).__name__
        raise UnwritableOutput(tool, kind, "it is nested too deep, or holds itself") from None
    return written


def _written(value: Any, tool: str) -> Any:
    kind = type(value)
    if kind is str:
        return without_lone_surrogates(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if isfinite(value) else _not_finite(value)
    if isinstance(value, Mapping):
        return {_key(key, tool): _written(one, tool) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_written(one, tool) for one in value]
    if isinstance(value, (set, frozenset)):
        # The order of a set differs from run to run; a transcript should not.
        return sorted((_written(one, tool) for one in value), key=canonical_json)
    if isinstance(value, Enum):
        return _written(value.value, tool)
    if isinstance(value, PurePath):
        return without_lone_surrogates(str(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _written(getattr(value, field.name), tool) for field in fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _written(dump(mode="json"), tool)
    return _written_by_msgspec(value, tool)


def _written_by_msgspec(value: Any, tool: str) -> Any:
    def refuse(inner: Any) -> Any:
        if inner is value:
            raise UnwritableOutput(tool, _type_name(value), "it has no JSON form")
        return _written(inner, tool)

    try:
        built = msgspec.to_builtins(value, str_keys=True, enc_hook=refuse)
    except (TypeError, ValueError, UnicodeError) as error:
        raise UnwritableOutput(tool, _type_name(value), str(error)) from None
    # A subclass of a plain type comes back as it is: take what it is underneath.
    if type(built) is type(value):
        for plain in (str, int, float):
            if isinstance(value, plain):
                return _written(plain(value), tool)
        raise UnwritableOutput(tool, _type_name(value), "it has no JSON form")
    return _written(built, tool)


def _key(key: Any, tool: str) -> str:
    written = _written(key, tool)
    if isinstance(written, str):
        return written
    if written is None or isinstance(written, (bool, int, float)):
        return str(canonical_json(written), "utf-8")
    raise UnwritableOutput(tool, _type_name(key), "it is the key of a mapping")


def _type_name(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    return type(value).__qualname__


def _not_finite(value: float) -> str:
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _output_of_parts(values: list[Any] | tuple[Any, ...], tool: str) -> ToolOutput:
    if all(isinstance(one, File) for one in values):
        return FilesOutput(tuple(_clean_part(one, tool) for one in values))
    return PartsOutput(tuple(_clean_part(_as_part(one, tool), tool) for one in values))


def _as_part(value: Any, tool: str) -> Part:
    match value:
        case Text() | Media() | File() | Structured() | Reasoning() | Custom():
            return value
        case str():
            return Text(text=value)
        case bytes():
            return _part_of_bytes(value)
        case ToolCall() | ToolResult():
            raise UnwritableOutput(tool, _type_name(value), "a result holds no calls or results")
        case _:
            return Structured(value=json_value_of(value, tool=tool))


def _clean_output(output: ToolOutput, tool: str) -> ToolOutput:
    match output:
        case TextOutput(text=text):
            return TextOutput(without_lone_surrogates(text))
        case StructuredOutput(value=value):
            return StructuredOutput(json_value_of(value, tool=tool))
        case PartsOutput(parts=parts):
            return PartsOutput(tuple(_clean_part(_as_part(one, tool), tool) for one in parts))
        case FilesOutput(files=files):
            return FilesOutput(tuple(_clean_part(one, tool) for one in files))


def _clean_part(part: Any, tool: str) -> Any:
    metadata = _metadata(part.metadata, tool)
    match part:
        case Text(text=text):
            return replace(part, text=without_lone_surrogates(text), metadata=metadata)
        case Structured(value=value) | Custom(value=value):
            return replace(part, value=json_value_of(value, tool=tool), metadata=metadata)
        case Media(data=InlineText(text=text)) | File(data=InlineText(text=text)):
            inline = InlineText(without_lone_surrogates(text))
            return replace(part, data=inline, metadata=metadata)
        case _:
            return replace(part, metadata=metadata)


def _metadata(metadata: Mapping[str, JsonValue], tool: str) -> dict[str, JsonValue]:
    if not metadata:
        return {}
    own = foreign_metadata(metadata)
    return {key: json_value_of(one, tool=tool) for key, one in own.items()}


_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", Modality.IMAGE, "image/png"),
    (b"\xff\xd8\xff", Modality.IMAGE, "image/jpeg"),
    (b"GIF87a", Modality.IMAGE, "image/gif"),
    (b"GIF89a", Modality.IMAGE, "image/gif"),
    (b"ID3", Modality.AUDIO, "audio/mpeg"),
    (b"OggS", Modality.AUDIO, "audio/ogg"),
    (b"fLaC", Modality.AUDIO, "audio/flac"),
)


def _part_of_bytes(data: bytes) -> Part:
    inline = InlineBytes(data)
    if data.startswith(b"%PDF-"):
        return File(data=inline, mime_type="application/pdf")
    if data.startswith(b"RIFF"):
        match data[8:12]:
            case b"WEBP":
                return Media(modality=Modality.IMAGE, mime_type="image/webp", data=inline)
            case b"WAVE":
                return Media(modality=Modality.AUDIO, mime_type="audio/wav", data=inline)
    for signature, modality, mime_type in _SIGNATURES:
        if data.startswith(signature):
            return Media(modality=modality, mime_type=mime_type, data=inline)
    return Media(modality=Modality.BINARY, mime_type="application/octet-stream", data=inline)
