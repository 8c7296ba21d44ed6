"""The arguments of a tool call, read from their whole text.

Models write them, so they may be anything: what is no JSON object is kept as it came, and the
call is marked so that nobody runs it.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from agentkit_core._json import JsonValue, decode_json, to_json
from agentkit_core._part import ToolCall
from agentkit_core._streaming._partial_json import repaired_json

_BROKEN_OFF: Final = "the response broke off before the call was complete"


def parsed_arguments(text: str) -> tuple[dict[str, JsonValue], str | None]:
    """Read the text of a tool call's arguments.

    Returns:
        The arguments and None; or `{}` and why they could not be read. Blank text and `null`
        are how some providers write "no arguments"; raw control characters and stray
        backslashes in strings are read as meant, and so is an object that was written as JSON
        twice.
    """
    if not text.strip():
        return {}, None
    try:
        value = _read(text)
    except msgspec.DecodeError as error:
        return {}, f"not valid JSON: {error}"
    if value is None:
        return {}, None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        arguments, why = parsed_arguments(value)
        if why is None:
            return arguments, None
    if not isinstance(value, dict):
        return {}, f"not a JSON object but {type(value).__name__}"
    return value, None


def _read(text: str) -> JsonValue:
    try:
        return decode_json(text)
    except msgspec.DecodeError:
        repaired = repaired_json(text)
        if repaired == text:
            raise
        return decode_json(repaired)


def complete_call(call: ToolCall, text: str, *, cut: bool = False) -> ToolCall:
    """Give a call its arguments, from their whole text.

    Text that is not a JSON object is kept in `raw_input` and marked in `input_error`.

    Args:
        call: The call so far. Its `input` stays where `text` is blank: some servers send whole
            arguments at once and an empty text after them.
        text: All the text of the arguments.
        cut: Whether the response broke off; then the call is marked even if it can be read.
    """
    if cut:
        seen = text if text.strip() or not call.input else to_json(call.input).decode()
        return replace(call, input={}, raw_input=seen, input_error=_BROKEN_OFF)
    if not text.strip():
        return call
    arguments, error = parsed_arguments(text)
    if error is None:
        return replace(call, input=arguments)
    return replace(call, input={}, raw_input=text, input_error=error)
