"""From a request to the bytes of a Chat Completions request.

`SendableHistory` has made the history fit; here its items are written one by one, each as one
message (a tool item as one a result), and kept for the conversation's next request. Options
come first and messages last, in fixed order: a longer conversation begins with the bytes of
the shorter one, and providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Final

from agentkit_core import (
    File,
    FilesOutput,
    Item,
    ItemKind,
    Media,
    ModelRequest,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    Text,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolOutput,
    ToolResult,
    to_json,
)
from agentkit_core.provider import SendableHistory, Target, WireRequest
from agentkit_providers._protocol_kit._plain_text import plain_text
from agentkit_providers.openai_chat._cache_marks import cache_control, mark_messages
from agentkit_providers.openai_chat._encode_options import body_options, thinking_level
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

PATH: Final = "/chat/completions"
AFTER_RESULTS: Final = "I have processed the tool results."
"""What stands between results and a user message, where a vendor wants something there."""


class OpenAIChatEncoder:
    """Writes the requests of one conversation; what was written of its history is kept.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor wants it.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history: SendableHistory | None = None
        self._thinking = False
        self._written: list[bytes] = []  # the messages of each sendable item, joined by commas

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request must have something that the vendor cannot do.
        """
        quirks = self._quirks
        items = self._sendable(request)
        history_calls = quirks.empty_tools_with_history and any(
            item.kind is ItemKind.TOOL for item in items
        )
        body, metadata = body_options(request, quirks, history_calls=history_calls)
        written = to_json(body)
        if "messages" not in body:
            thinking = thinking_level(request, quirks) not in (None, ThinkingLevel.OFF)
            mark = cache_control(request, quirks)
            if mark is None:
                messages = self._messages(items, thinking=thinking)
            else:
                # Marks wander with every request, so nothing that was written can be kept.
                write = partial(_messages_of, quirks=quirks, thinking=thinking)
                marked = write(items)
                mark_messages(marked, request, self._target_of(request.model), write, mark)
                messages = list(map(to_json, marked))
            written = _with_messages(written, messages)
        return WireRequest(
            path=PATH,
            body=written,
            headers={"content-type": "application/json"},
            metadata=metadata,
        )

    def _sendable(self, request: ModelRequest) -> Sequence[Item]:
        """The request's items as they can be sent; what was written of others is dropped."""
        target = self._target_of(request.model)
        if self._history is None or self._history.target != target:
            self._history = SendableHistory(target)
            self._written.clear()
        same = self._history.update(request.items)
        del self._written[same:]
        return self._history.items

    def _messages(self, items: Sequence[Item], *, thinking: bool) -> list[bytes]:
        written = self._written
        if thinking is not self._thinking:
            self._thinking = thinking
            written.clear()
        before = items[len(written) - 1] if written else None
        for item in islice(items, len(written), None):
            messages = messages_of(item, before, self._quirks, thinking=thinking)
            written.append(b",".join(map(to_json, messages)))
            before = item
        return [one for one in written if one]


def _with_messages(body: bytes, messages: list[bytes]) -> bytes:
    """Put messages at the end of a body, which has none yet, in one copy of them all."""
    if not messages:
        return body[:-1] + b',"messages":[]}'
    messages[0] = body[:-1] + b',"messages":[' + messages[0]
    messages[-1] += b"]}"
    return b",".join(messages)


def _messages_of(items: Iterable[Item], quirks: Quirks, *, thinking: bool) -> list[Message]:
    messages: list[Message] = []
    before: Item | None = None
    for item in items:
        messages += messages_of(item, before, quirks, thinking=thinking)
        before = item
    return messages


def messages_of(
    item: Item, before: Item | None, quirks: Quirks, *, thinking: bool
) -> list[Message]:
    """Write one item that the vendor can be sent: a message, none, or one for each result.

    Args:
        item: One of those that `sendable` gave.
        before: The one before it; None for the first.
        quirks: How the vendor wants it.
        thinking: Whether the model is to think.
    """
    match item.kind:
        case ItemKind.SYSTEM:
            return [SystemMessage(_joined(item.parts))]
        case ItemKind.DEVELOPER:
            return [DeveloperMessage(_joined(item.parts))]
        case ItemKind.ASSISTANT:
            message = _assistant_message(item, quirks, thinking=thinking)
            return [] if message is None else [message]
        case ItemKind.TOOL:
            names = dict[ToolCallId, str]()
            if quirks.requires_tool_result_name and before is not None:
                names = {call.id: call.name for call in before.tool_calls}
            return [
                _tool_message(result, names.get(result.call_id), quirks)
                for result in item.tool_results
            ]
        case _:
            said = UserMessage(_content(item.parts))
            after_results = before is not None and before.kind is ItemKind.TOOL
            if after_results and quirks.requires_assistant_after_tool_result:
                return [AssistantMessage(AFTER_RESULTS), said]
            return [said]


def _assistant_message(item: Item, quirks: Quirks, *, thinking: bool) -> AssistantMessage | None:
    calls = _calls(item.tool_calls, quirks)
    text = _joined(item.parts, separator="")
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
        message.reasoning_details = list(details.joined()) or None
    elif field == "reasoning":
        message.reasoning = text or None
    elif text or (thinking and quirks.requires_reasoning_content_on_assistant):
        message.reasoning_content = text


def _calls(calls: Sequence[ToolCall], quirks: Quirks) -> list[ToolCallParam]:
    written = [
        ToolCallParam(
            call.id,
            Function(call.name, to_json(call.input).decode()),
            call.metadata.get(EXTRA_CONTENT_KEY),
        )
        for call in calls
    ]
    stand_in = quirks.imported_call_signature
    if written and stand_in and all(call.extra_content is None for call in written):
        written[0].extra_content = {"google": {"thought_signature": stand_in}}
    return written


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


def _joined(parts: Iterable[Part], *, separator: str = "\n") -> str:
    return separator.join(text for part in parts if (text := plain_text(part)))


def _content(parts: Sequence[Part]) -> Content:
    """A content: plain text where one text is all there is."""
    written = [one for part in parts if (one := _content_part(part)) is not None]
    if len(written) == 1 and isinstance(written[0], TextPart):
        return written[0].text
    return written


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
