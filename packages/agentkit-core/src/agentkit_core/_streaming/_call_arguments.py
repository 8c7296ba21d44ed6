"""The arguments of a tool call, read from their complete text.

A model writes them, so they can be anything. If they are not a JSON object, their text is kept and
the call is marked so that it is never run.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from agentkit_core._json import JsonValue, decode_json, is_blank, to_json
from agentkit_core._part import ToolCall
from agentkit_core._streaming._partial_json import repair_strings
from agentkit_core._streaming._repeated_arguments import only_object

_TRUNCATED: Final = "Input data was truncated"
"""What msgspec says of text that is the beginning of JSON."""
_CUT_OFF: Final = "the response ended before the arguments were complete"


def parse_arguments(text: str) -> tuple[dict[str, JsonValue], str | None]:
    """Parse the text of a tool call's arguments.

    Blank text and `null` mean "no arguments", as some providers write it. Raw control characters
    and stray backslashes in strings are accepted. So are an object that was encoded as JSON twice,
    that stands alone in a list, or that a server wrote more than once (`only_object`), as long as
    only one object can be meant.

    Returns:
        The arguments and None; or `{}` and the reason why they could not be read.
    """
    if is_blank(text):
        return {}, None
    try:
        value = _decode(text)
    except msgspec.DecodeError as error:
        meant = None if str(error) == _TRUNCATED else only_object(text)
        return (meant, None) if meant is not None else ({}, f"not valid JSON: {error}")
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0]
    if value is None:
        return {}, None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        arguments, error_text = parse_arguments(value)
        if error_text is None:
            return arguments, None
    if not isinstance(value, dict):
        return {}, f"not a JSON object but {type(value).__name__}"
    return value, None


def _decode(text: str) -> JsonValue:
    try:
        return decode_json(text)
    except msgspec.DecodeError:
        repaired = repair_strings(text)
        if repaired == text:
            raise
        return decode_json(repaired)


def complete_call(call: ToolCall, text: str, *, cut: bool = False) -> ToolCall:
    """Return a call with the arguments that their complete text contains.

    Text that is not a JSON object is kept in `raw_input`, with the reason in `input_error`.

    Args:
        call: The call so far. Its `input` is kept if `text` is blank: some servers send all
            arguments at once, and an empty text after them.
        text: The complete text of the arguments.
        cut: Whether the response ended early; then the call is marked even if it can be read.
    """
    if cut:
        received = to_json(call.input).decode() if is_blank(text) and call.input else text
        return replace(call, input={}, raw_input=received, input_error=_CUT_OFF)
    if is_blank(text):
        return call
    arguments, error = parse_arguments(text)
    if error is None:
        return replace(call, input=_unwrapped(arguments, call.name))
    return replace(call, input={}, raw_input=text, input_error=error)


def _unwrapped(arguments: dict[str, JsonValue], name: str) -> dict[str, JsonValue]:
    """The arguments without the call around them, which models write and some servers leave in."""
    if len(arguments) == 2 and name and arguments.get("name") == name:
        for key in ("arguments", "parameters"):
            inner = arguments.get(key)
            if isinstance(inner, dict):
                return inner
    return arguments
