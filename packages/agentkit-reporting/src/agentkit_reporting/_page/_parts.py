"""Parts of items, and outputs of tools, on a page."""

from __future__ import annotations

from typing import assert_never

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
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
)
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined
from agentkit_reporting._page._media import media_block
from agentkit_reporting._page._values import (
    argument_list,
    folded,
    json_block,
    metadata_block,
    prose,
    text_block,
)


def part_block(part: Part) -> Markup:
    """Show a part, with its metadata folded below it."""
    return joined([_content(part), metadata_block(part.metadata)])


def output_block(output: ToolOutput) -> Markup:
    """Show the output of a tool."""
    match output:
        case TextOutput(text=text):
            return text_block(text, code=True) if text else _nothing("No output")
        case StructuredOutput(value=value):
            return json_block(value)
        case PartsOutput(parts=parts) | FilesOutput(files=parts):
            return joined(map(part_block, parts)) if parts else _nothing("No output")
        case _:
            assert_never(output)


def arguments_block(call: ToolCall) -> Markup:
    """Show the arguments of a call; text that could not be read, as the model wrote it."""
    if call.raw_input is None:
        return argument_list(call.input)
    why = element("p", f"Could not be read: {call.input_error}", class_="problem")
    return joined([why, text_block(call.raw_input, code=True)])


def _content(part: Part) -> Markup:
    match part:
        case Text(text=text):
            return prose(text)
        case Media() | File():
            return media_block(part)
        case Structured(value=value):
            return json_block(value)
        case Reasoning():
            return _reasoning(part)
        case Custom(kind=kind, value=value):
            shown = NOTHING if value is None else json_block(value)
            return folded(f"Block {kind}", joined([shown, media_block(part)]), name="fold custom")
        case ToolCall(name=name):
            return folded(f"Call of {name}", arguments_block(part))
        case ToolResult(output=output):
            return folded("Tool result", output_block(output))
        case _:
            assert_never(part)


def _reasoning(part: Reasoning) -> Markup:
    if not part.summary:
        why = "withheld by the provider" if part.redacted else "not shown by the provider"
        return joined([_nothing(f"Reasoning, {why}"), media_block(part)])
    summary = f"Reasoning, {len(part.summary):,} characters"
    content = joined([prose(part.summary), media_block(part)])
    return folded(summary, content, name="fold reasoning")


def _nothing(text: str) -> Markup:
    return element("p", text, class_="none")
