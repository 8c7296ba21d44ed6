"""Items as messages: one message for an item, and one for each result of a tool item."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from agentkit_core import (
    File,
    FilesOutput,
    Item,
    ItemKind,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    Text,
    ToolCall,
    ToolCallId,
    ToolOutput,
    ToolResult,
    to_json,
)
from agentkit_providers._protocol_kit._plain_text import joined_text, plain_text
from agentkit_providers._protocol_kit._readable_media import readable_item
from agentkit_providers.openai_chat._media import file_part, media_part
from agentkit_providers.openai_chat._metadata_keys import (
    AUDIO_ID_KEY,
    DETAILS_KEY,
    EXTRA_CONTENT_KEY,
)
from agentkit_providers.openai_chat._quirks import Quirks
from agentkit_providers.openai_chat._reasoning_details import DetailsJoin
from agentkit_providers.openai_chat._wire_request import (
    AssistantMessage,
    AudioId,
    Content,
    ContentPart,
    DeveloperMessage,
    Function,
    Message,
    SystemMessage,
    TextPart,
    ToolCallParam,
    ToolMessage,
    UserMessage,
)

AFTER_RESULTS: Final = "I have processed the tool results."
"""The assistant message between tool results and a user message, for vendors that require one."""


def encode_item(items: Sequence[Item], at: int, quirks: Quirks, *, thinking: bool) -> list[Message]:
    """Write one item.

    Args:
        items: The sendable items.
        at: Which one.
        quirks: How the vendor differs from OpenAI.
        thinking: Whether the model is asked to think.

    Returns:
        One message, one for each result of a tool item, or none for an item that is empty.
    """
    item = items[at]
    if item.kind is not ItemKind.ASSISTANT:
        item = readable_item(item, quirks.media_traits)
    before = items[at - 1] if at else None
    match item.kind:
        case ItemKind.SYSTEM:
            return [SystemMessage(joined_text(item.parts))]
        case ItemKind.DEVELOPER:
            return [DeveloperMessage(joined_text(item.parts))]
        case ItemKind.ASSISTANT:
            assistant = _assistant_message(item, quirks, thinking=thinking)
            return [] if assistant is None else [assistant]
        case ItemKind.TOOL:
            names = dict[ToolCallId, str]()
            if quirks.requires_tool_result_name and before is not None:
                names = {call.id: call.name for call in before.tool_calls}
            return [
                _tool_message(result, names.get(result.call_id), quirks)
                for result in item.tool_results
            ]
        case _:
            message = UserMessage(_content(item.parts))
            follows_results = before is not None and before.kind is ItemKind.TOOL
            if follows_results and quirks.requires_assistant_after_tool_result:
                return [AssistantMessage(AFTER_RESULTS), message]
            return [message]


def _assistant_message(item: Item, quirks: Quirks, *, thinking: bool) -> AssistantMessage | None:
    calls = _tool_calls(item.tool_calls, quirks)
    text = joined_text(item.parts, separator="")
    message = AssistantMessage(text or None, tool_calls=calls or None)
    _add_reasoning(message, item.parts, quirks, thinking=thinking)
    for part in item.parts:
        if isinstance(part, Media) and isinstance(part.metadata.get(AUDIO_ID_KEY), str):
            message.audio = AudioId(str(part.metadata[AUDIO_ID_KEY]))
        elif isinstance(part, Text) and EXTRA_CONTENT_KEY in part.metadata:
            message.extra_content = part.metadata[EXTRA_CONTENT_KEY]
    if message.extra_content is None:
        message.extra_content = item.metadata.get(EXTRA_CONTENT_KEY)
    if message == AssistantMessage():
        return None
    if message.content is None and (
        quirks.requires_assistant_after_tool_result or not (calls or message.audio)
    ):
        message.content = ""
    return message


def _add_reasoning(
    message: AssistantMessage, parts: Sequence[Part], quirks: Quirks, *, thinking: bool
) -> None:
    field = quirks.reasoning_field_out
    if field is None:
        return
    reasoning = [part for part in parts if isinstance(part, Reasoning)]
    text = "".join(part.summary or "" for part in reasoning)
    if field == "reasoning_details":
        details = DetailsJoin()
        for part in reasoning:
            entries = part.metadata.get(DETAILS_KEY)
            if isinstance(entries, list):
                details.add(entry for entry in entries if isinstance(entry, dict))
        message.reasoning_details = list(details.entries()) or None
    elif field == "reasoning":
        message.reasoning = text or None
    elif text or (thinking and quirks.requires_reasoning_content_on_assistant):
        message.reasoning_content = text


def _tool_calls(calls: Sequence[ToolCall], quirks: Quirks) -> list[ToolCallParam]:
    params = [
        ToolCallParam(
            call.id,
            Function(call.name, to_json(call.input).decode()),
            call.metadata.get(EXTRA_CONTENT_KEY),
        )
        for call in calls
    ]
    signature = quirks.imported_call_signature
    if params and signature and all(param.extra_content is None for param in params):
        params[0].extra_content = {"google": {"thought_signature": signature}}
    return params


def _tool_message(result: ToolResult, name: str | None, quirks: Quirks) -> ToolMessage:
    content = _output(result.output)
    if result.is_error and quirks.error_prefix:
        if isinstance(content, str):
            content = quirks.error_prefix + content
        else:
            content = [TextPart(quirks.error_prefix), *content]
    return ToolMessage(result.call_id, content, name)


def _output(output: ToolOutput) -> Content:
    match output:
        case PartsOutput(parts=parts) if any(isinstance(part, Media | File) for part in parts):
            return _content(parts)
        case FilesOutput(files=files):
            return _content(files)
        case _:
            return output.text


def _content(parts: Iterable[Part]) -> Content:
    """Write the content of a message: plain text where it is one text."""
    entries = [entry for part in parts if (entry := _content_part(part)) is not None]
    if len(entries) == 1 and isinstance(entries[0], TextPart):
        return entries[0].text
    return entries


def _content_part(part: Part) -> ContentPart | None:
    match part:
        case Text() | Structured():
            return TextPart(plain_text(part))
        case Media():
            return media_part(part)
        case File():
            return file_part(part)
        case _:
            return None
