"""Items as input items: messages, calls and their outputs, reasoning, the vendor's own items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    Item,
    ItemKind,
    Media,
    Part,
    PartsOutput,
    Structured,
    Text,
    ToolOutput,
)
from agentkit_providers._protocol_kit._plain_text import joined_text, plain_text
from agentkit_providers._protocol_kit._readable_media import MediaTraits, readable_item
from agentkit_providers.openai_responses._assistant_items import assistant_items
from agentkit_providers.openai_responses._media import file_part, media_part
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._replay import (
    answered_after,
    answers,
    awaited_before,
    awaited_id,
    item_of,
    replayed_parts,
)
from agentkit_providers.openai_responses._wire_request import (
    CallOutput,
    Content,
    ContentPart,
    InputItem,
    InputMessage,
    InputText,
)


def encode_item(items: Sequence[Item], at: int, quirks: Quirks, *, stored: bool) -> list[InputItem]:
    """Write one item.

    Args:
        items: The sendable items.
        at: Which one.
        quirks: How the vendor differs from OpenAI.
        stored: Whether the vendor stores responses, so that it knows items by their id alone.

    Returns:
        Any number of input items; none for an item that is empty.
    """
    item = items[at]
    if item.kind is not ItemKind.ASSISTANT:
        item = readable_item(item, MediaTraits(image_types=quirks.image_types))
    match item.kind:
        case ItemKind.ASSISTANT:
            answered = frozenset[str]()
            if any(awaited_id(part) is not None for part in item.parts):
                answered = answered_after(items, at)
            parts = replayed_parts(item.parts, quirks, stored=stored, answered=answered)
            return list(assistant_items(parts, quirks))
        case ItemKind.TOOL:
            return _call_outputs(item, items[at - 1] if at else None, quirks)
        case ItemKind.SYSTEM | ItemKind.DEVELOPER:
            text = joined_text(item.parts)
            return [InputMessage(item.kind.value, text)] if text else []
        case _:
            awaited = None
            if any(isinstance(part, Custom) for part in item.parts):
                awaited = awaited_before(items, at)
            return list(user_items(item.parts, awaited))


def user_items(parts: Iterable[Part], awaited: frozenset[str] | None = None) -> Iterator[InputItem]:
    """Write what a user says; answers to the vendor's own tools are items between the messages.

    Args:
        parts: The parts of the user's item.
        awaited: Ids of the calls of the vendor's own tools that wait for an answer; answers to
            other calls are left out. None leaves none out.
    """
    content: list[Part] = []
    for part in parts:
        if not isinstance(part, Custom):
            content.append(part)
            continue
        answered = set(answers(part))
        if not isinstance(part.value, dict) or (
            answered and awaited is not None and not answered & awaited
        ):
            continue  # the call that this answers is gone
        yield from _user_message(content)
        content = []
        yield part.value
    yield from _user_message(content)


def _user_message(parts: list[Part]) -> Iterator[InputItem]:
    content = _content(parts)
    if content != []:
        yield InputMessage("user", content)


def _call_outputs(item: Item, before: Item | None, quirks: Quirks) -> list[InputItem]:
    """Write the results of a tool item; the item before it has the calls."""
    calls = {} if before is None else {call.id: call for call in before.tool_calls}
    outputs: list[InputItem] = []
    for result in item.tool_results:
        call = calls.get(result.call_id)
        call_item = (None if call is None else item_of(call)) or {}
        is_custom = call_item.get("type") == "custom_tool_call"
        output = _output(result.output)
        if result.is_error and quirks.error_prefix:
            if isinstance(output, str):
                output = quirks.error_prefix + output
            else:
                output = [InputText(quirks.error_prefix), *output]
        kind = "custom_tool_call_output" if is_custom else "function_call_output"
        outputs.append(CallOutput(kind, result.call_id, output, call_item.get("caller")))
    return outputs


def _output(output: ToolOutput) -> Content:
    match output:
        case PartsOutput(parts=parts) if any(isinstance(part, Media | File) for part in parts):
            return _content(parts)
        case FilesOutput(files=files):
            return _content(files)
        case _:
            return output.text


def _content(parts: Iterable[Part]) -> Content:
    """Write the content of a message or an output: plain text where it is one text."""
    entries = [entry for part in parts if (entry := _content_part(part)) is not None]
    if len(entries) == 1 and isinstance(entries[0], InputText):
        return entries[0].text
    return entries


def _content_part(part: Part) -> ContentPart | None:
    match part:
        case Text() | Structured():
            return InputText(plain_text(part))
        case Media():
            return media_part(part)
        case File():
            return file_part(part)
        case _:
            return None
