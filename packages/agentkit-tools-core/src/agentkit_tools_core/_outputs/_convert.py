"""Converts what a tool returned to an output that can be stored and sent.

    returned value                       output
    None                                 empty text
    str, and values written as strings   text (date, time, UUID, Decimal, Path, a string Enum)
    bool, int, float                     the JSON value; NaN and infinities become strings
    dict, list, tuple                    the JSON value; keys become strings
    set, frozenset                       a list, sorted by the JSON of its members
    dataclass, Struct, TypedDict, Enum   the JSON value that msgspec makes of it
    an object with `model_dump`          what it dumps in JSON mode (pydantic)
    bytes                                an image, audio or PDF by its first bytes, else binary
                                         media; inside other values base64 text
    File, or a list of files             files
    any other Part, or a list of parts   parts; the list may contain texts
    ToolOutput, ToolReturn, ToolResult   itself

Anything else (a generator, a class, an exception, an open file) is rejected here, where the tool is
known, instead of later when the transcript is stored.
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
    InlineText,
    JsonValue,
    Media,
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
from agentkit_tools_core._outputs._sniff import part_of_bytes

_NO_JSON: Final = "it cannot be written as JSON"
_OUTPUTS: Final = (TextOutput, StructuredOutput, PartsOutput, FilesOutput)
_PARTS: Final = (Text, Media, File, Structured, Reasoning, Custom)
_CALLS: Final = (ToolCall, ToolResult)


def outcome_of(value: object, request: ToolInvocation) -> ToolOutcome:
    """Make the outcome of a call from what the tool returned.

    The result always has the call id of the request, no metadata of the reserved owner, and
    `started` set.

    Raises:
        UnwritableOutput: The value cannot be a tool's output; see the table above.
    """
    tool, stop, stop_unless_failed = request.name, False, False
    if type(value) is str:  # most tools return text
        return ToolOutcome(ToolResult(request.call_id, TextOutput(without_lone_surrogates(value))))
    if isinstance(value, ToolOutcome):
        stop, stop_unless_failed, value = value.stop, value.stop_unless_failed, value.result
    if isinstance(value, ToolResult):
        result = replace(
            value,
            call_id=request.call_id,
            output=output_of(value.output, tool=tool),
            # The tool may return the result of another call, which was never started.
            started=True,
            details=json_value_of(value.details, tool=tool),
            metadata=_metadata(value.metadata, tool),
        )
    elif isinstance(value, ToolReturn):
        stop, stop_unless_failed = value.stop, value.stop_unless_failed
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
    return ToolOutcome(result, stop, stop_unless_failed)


def output_of(value: object, *, tool: str) -> ToolOutput:
    """Convert a value that a function returned to a tool output.

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
    if isinstance(value, (*_PARTS, *_CALLS)):
        value = (value,)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        value = (part_of_bytes(bytes(value)),)
    if isinstance(value, (list, tuple)) and any(
        isinstance(member, _PARTS + _CALLS) for member in value
    ):
        return _output_of_parts(value, tool)
    json_value = json_value_of(value, tool=tool)
    if json_value is None:
        return TextOutput("")
    return TextOutput(json_value) if isinstance(json_value, str) else StructuredOutput(json_value)


def json_value_of(value: object, *, tool: str) -> JsonValue:
    """Convert a value to JSON as in the table above, with text that UTF-8 can express.

    Raises:
        UnwritableOutput: Something in the value cannot be written as JSON, or it contains itself.
    """
    try:
        json_value: JsonValue = _to_json_value(value, tool)
    except RecursionError:
        kind = type(value).__name__
        reason = "it is nested too deeply, or contains itself"
        raise UnwritableOutput(tool, kind, reason) from None
    return json_value


def _to_json_value(value: Any, tool: str) -> Any:
    kind = type(value)
    if kind is str:
        return without_lone_surrogates(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is float:
        return value if isfinite(value) else _name_of_float(value)
    if isinstance(value, Mapping):
        return {_key(key, tool): _to_json_value(member, tool) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json_value(member, tool) for member in value]
    if isinstance(value, (set, frozenset)):
        # The order of a set differs between processes; a transcript must not.
        return sorted((_to_json_value(member, tool) for member in value), key=canonical_json)
    if isinstance(value, Enum):
        return _to_json_value(value.value, tool)
    if isinstance(value, PurePath):
        return without_lone_surrogates(str(value))
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _to_json_value(getattr(value, field.name), tool) for field in fields(value)
        }
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return _to_json_value(dump(mode="json"), tool)
    return _convert_with_msgspec(value, tool)


def _convert_with_msgspec(value: Any, tool: str) -> Any:
    def convert_unknown(inner: Any) -> Any:
        if inner is value:
            raise UnwritableOutput(tool, _type_name(value), _NO_JSON)
        return _to_json_value(inner, tool)

    try:
        builtin = msgspec.to_builtins(value, str_keys=True, enc_hook=convert_unknown)
    except (TypeError, ValueError, UnicodeError) as error:
        raise UnwritableOutput(tool, _type_name(value), str(error)) from None
    # msgspec returns an instance of a subclass of str, int or float unchanged.
    if type(builtin) is type(value):
        for plain in (str, int, float):
            if isinstance(value, plain):
                return _to_json_value(plain(value), tool)
        raise UnwritableOutput(tool, _type_name(value), _NO_JSON)
    return _to_json_value(builtin, tool)


def _key(key: Any, tool: str) -> str:
    json_value = _to_json_value(key, tool)
    if isinstance(json_value, str):
        return json_value
    if json_value is None or isinstance(json_value, (bool, int, float)):
        return str(canonical_json(json_value), "utf-8")
    raise UnwritableOutput(tool, _type_name(key), "it cannot be the key of a JSON object")


def _type_name(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    return type(value).__qualname__


def _name_of_float(value: float) -> str:
    if isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _output_of_parts(values: list[Any] | tuple[Any, ...], tool: str) -> ToolOutput:
    if all(isinstance(value, File) for value in values):
        return FilesOutput(tuple(_clean_part(value, tool) for value in values))
    return PartsOutput(tuple(_clean_part(_as_part(value, tool), tool) for value in values))


def _as_part(value: Any, tool: str) -> Part:
    match value:
        case Text() | Media() | File() | Structured() | Reasoning() | Custom():
            return value
        case str():
            return Text(text=value)
        case bytes():
            return part_of_bytes(value)
        case ToolCall() | ToolResult():
            reason = "an output cannot contain tool calls or tool results"
            raise UnwritableOutput(tool, _type_name(value), reason)
        case _:
            return Structured(value=json_value_of(value, tool=tool))


def _clean_output(output: ToolOutput, tool: str) -> ToolOutput:
    match output:
        case TextOutput(text=text):
            return TextOutput(without_lone_surrogates(text))
        case StructuredOutput(value=value):
            return StructuredOutput(json_value_of(value, tool=tool))
        case PartsOutput(parts=parts):
            return PartsOutput(tuple(_clean_part(_as_part(part, tool), tool) for part in parts))
        case FilesOutput(files=files):
            return FilesOutput(tuple(_clean_part(file, tool) for file in files))


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
    allowed = foreign_metadata(metadata)
    return {key: json_value_of(value, tool=tool) for key, value in allowed.items()}
