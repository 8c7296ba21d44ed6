"""What a user says and what tools gave, as input items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    Item,
    Media,
    Part,
    PartsOutput,
    Structured,
    Text,
    ToolOutput,
)
from agentkit_providers._protocol_kit._plain_text import plain_text
from agentkit_providers.openai_responses._media import file_part, media_part
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._replay import answer_ids, item_of
from agentkit_providers.openai_responses._wire_request import (
    CallOutput,
    Content,
    ContentPart,
    InputItem,
    InputMessage,
    InputText,
)


def said(parts: Iterable[Part], called: frozenset[str] | None = None) -> Iterator[InputItem]:
    """Write what a user says; answers to the vendor's own tools are items between the messages.

    Args:
        parts: What is said.
        called: Ids of the calls of the vendor's own tools that wait for an answer; answers to
            others are left out. None leaves none out.
    """
    content: list[ContentPart] = []
    for part in parts:
        if isinstance(part, Custom):
            answers = set(answer_ids(part))
            if not isinstance(part.value, dict) or (
                answers and called is not None and not answers & called
            ):
                continue  # what it answers is gone
            if content:
                yield InputMessage("user", _content(content))
                content = []
            yield part.value
        elif (one := _content_part(part)) is not None:
            content.append(one)
    if content:
        yield InputMessage("user", _content(content))


def outputs(item: Item, before: Item | None, quirks: Quirks) -> list[InputItem]:
    """Write a round of results, each as an item.

    Args:
        item: The tool item.
        before: The one before it, which has the calls.
        quirks: How the vendor wants it.
    """
    calls = {} if before is None else {call.id: call for call in before.tool_calls}
    written: list[InputItem] = []
    for result in item.tool_results:
        call = calls.get(result.call_id)
        made = (None if call is None else item_of(call)) or {}
        custom = made.get("type") == "custom_tool_call"
        output = _output(result.output)
        if result.is_error and quirks.error_prefix:
            if isinstance(output, str):
                output = quirks.error_prefix + output
            else:
                output = [InputText(quirks.error_prefix), *output]
        kind = "custom_tool_call_output" if custom else "function_call_output"
        written.append(CallOutput(kind, result.call_id, output, made.get("caller")))
    return written


def _output(output: ToolOutput) -> Content:
    match output:
        case PartsOutput(parts=parts) if any(isinstance(part, Media | File) for part in parts):
            return _content([one for part in parts if (one := _content_part(part))])
        case FilesOutput(files=files):
            return _content(list(map(file_part, files)))
        case _:
            return output.text


def _content(written: list[ContentPart]) -> Content:
    """A content: plain text where one text is all there is."""
    if len(written) == 1 and isinstance(written[0], InputText):
        return written[0].text
    return written


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
