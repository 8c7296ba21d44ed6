"""One item as the blocks of a message, each written as bytes of its own.

Blocks are bytes so that what was written once can be joined anew for the next request, and a
cache mark can be put on any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Final

from msgspec import Struct

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    FinishReason,
    Item,
    ItemKind,
    JsonValue,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    Text,
    ToolCall,
    ToolOutput,
    ToolResult,
    to_json,
)
from agentkit_providers._protocol_kit._plain_text import plain_text
from agentkit_providers.anthropic_messages._media import file_block, is_uploaded, media_block
from agentkit_providers.anthropic_messages._metadata_keys import (
    BLOCK_KEY,
    CITATIONS_KEY,
    REDACTED_KEY,
    SIGNATURE_KEY,
)
from agentkit_providers.anthropic_messages._wire_request import (
    AnyBlock,
    ContentBlock,
    ImageBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
)

IMAGE_ONLY: Final = "(see attached image)"
"""What a result says that is only an image."""
_THINKING: Final = (b'{"type":"thinking"', b'{"type":"redacted_thinking"')


class Place(Enum):
    """Where an item's blocks go."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Written(Struct, frozen=True):
    """An item that is written.

    Attributes:
        blocks: In order; may be empty, then there is nothing to send of the item.
        joined: The blocks, with commas between.
        uses: Ids of tools that the vendor ran, or began to run, as the blocks tell.
        waits: Whether such a tool has no result yet, so that what follows matters.
        uploads: Whether a block names an uploaded file.
    """

    place: Place
    blocks: tuple[bytes, ...]
    joined: bytes
    uses: frozenset[str] = frozenset()
    waits: bool = False
    uploads: bool = False


def written_item(
    item: Item, following: Item | None, is_known: Callable[[str], bool] = lambda use_id: True
) -> Written:
    """Write one item that the vendor can be sent.

    Args:
        item: One of those that `sendable` gave.
        following: The one after it; None for the last.
        is_known: Whether an earlier item began the vendor's tool with this id. Results of
            others are left out, for the vendor refuses them.
    """
    match item.kind:
        case ItemKind.SYSTEM:
            return _written(Place.SYSTEM, _instructions(item.parts))
        case ItemKind.ASSISTANT:
            return _assistant(item, following, is_known)
        case ItemKind.TOOL:
            blocks = [_result(result) for result in item.tool_results]
            return _written(Place.USER, blocks, _uploads(_parts_given(item.tool_results)))
        case _:
            blocks = [block for part in item.parts if (block := _content_block(part)) is not None]
            return _written(Place.USER, blocks, _uploads(item.parts))


def is_markable(block: bytes) -> bool:
    """Whether a cached prefix may end with this block."""
    return not block.startswith(_THINKING)


def _written(place: Place, blocks: Sequence[bytes], uploads: bool = False) -> Written:
    return Written(place, tuple(blocks), b",".join(blocks), uploads=uploads)


def _instructions(parts: Iterable[Part]) -> list[bytes]:
    blocks: list[bytes] = []
    for part in parts:
        if isinstance(part, Media | File):
            what = part.modality.value if isinstance(part, Media) else "file"
            blocks.append(_block(TextBlock(f"({what} omitted: instructions are text)"), {}))
        elif text := plain_text(part):
            blocks.append(_block(TextBlock(text), part.metadata))
    return blocks


def _assistant(item: Item, following: Item | None, is_known: Callable[[str], bool]) -> Written:
    uses = {use for part in item.parts if (use := _use_of(part))}
    waiting = uses - {use for part in item.parts if (use := _answers(part))}
    # An answer that the vendor completed is whole, whatever its ids say.
    waits = bool(waiting) and item.finish_reason is not FinishReason.COMPLETED
    if waits and not _may_go_on(item, following):
        uses -= waiting
    blocks: list[bytes] = []
    for part in item.parts:
        use, answer = _use_of(part), _answers(part)
        if (use and use not in uses) or (answer and not uses and not is_known(answer)):
            continue
        block = _said_block(part)
        if block is not None:
            blocks.append(block)
    joined = b",".join(blocks)
    return Written(Place.ASSISTANT, tuple(blocks), joined, frozenset(uses), waits)


def _may_go_on(item: Item, following: Item | None) -> bool:
    """Whether the vendor may yet give the results of tools that it has begun to run."""
    unfinished = item.finish_reason in (None, FinishReason.PAUSED, FinishReason.TOOL_CALL)
    goes_on = following is None or following.kind in (ItemKind.ASSISTANT, ItemKind.TOOL)
    return unfinished and goes_on and not item.interrupted


def _use_of(part: Part) -> str | None:
    """The id of a tool that the vendor runs, where the part is its call."""
    if isinstance(part, Custom) and part.kind.endswith("_tool_use"):
        return _id_in(part.value, "id")
    return None


def _answers(part: Part) -> str | None:
    """The id of a tool that the vendor ran, where the part is its result."""
    return _id_in(part.value, "tool_use_id") if isinstance(part, Custom) else None


def _id_in(value: JsonValue, name: str) -> str | None:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, str) else None


def _said_block(part: Part) -> bytes | None:
    """A block of what the model said."""
    match part:
        case Text(text=text, metadata=metadata):
            return _block(TextBlock(text, metadata.get(CITATIONS_KEY)), metadata)
        case Reasoning():
            return _reasoning(part)
        case ToolCall(id=call_id, name=name, input=arguments, metadata=metadata):
            return _block(ToolUseBlock(call_id, name, arguments), metadata)
        case Custom(value=value):
            # A block of the vendor's own goes back as it came.
            return to_json(value) if isinstance(value, dict) and value.get("type") else None
        case Media() | File():
            what = part.modality.value if isinstance(part, Media) else "file"
            return _block(TextBlock(f"({what} omitted: an answer holds none here)"), {})
        case _:
            return _content_block(part)


def _reasoning(part: Reasoning) -> bytes:
    metadata = part.metadata
    redacted = metadata.get(REDACTED_KEY)
    if isinstance(redacted, str):
        return _block(RedactedThinkingBlock(redacted), metadata)
    signature = metadata.get(SIGNATURE_KEY)
    signed = signature if isinstance(signature, str) else ""
    return _block(ThinkingBlock(part.summary or "", signed), metadata)


def _content_block(part: Part) -> bytes | None:
    """A block of what a user says."""
    content = _content(part)
    if content is not None:
        return _block(content, part.metadata)
    if isinstance(part, Custom) and isinstance(part.value, dict) and part.value.get("type"):
        return to_json(part.value)
    return None


def _content(part: Part) -> ContentBlock | None:
    match part:
        case Text() | Structured():
            return TextBlock(plain_text(part))
        case Media():
            return media_block(part)
        case File():
            return file_block(part)
        case _:
            return None


def _result(result: ToolResult) -> bytes:
    block = ToolResultBlock(result.call_id, _output(result.output), result.is_error)
    return _block(block, result.metadata)


def _output(output: ToolOutput) -> str | list[ContentBlock]:
    match output:
        case PartsOutput(parts=parts) if any(isinstance(part, Media | File) for part in parts):
            given: Sequence[Part] = parts
        case FilesOutput(files=files) if files:
            given = files
        case _:
            return output.text
    blocks = [block for part in given if (block := _content(part)) is not None]
    if all(isinstance(block, ImageBlock) for block in blocks):
        blocks.insert(0, TextBlock(IMAGE_ONLY))
    return blocks


def _parts_given(results: Iterable[ToolResult]) -> list[Part]:
    given: list[Part] = []
    for result in results:
        if isinstance(result.output, PartsOutput):
            given += result.output.parts
        elif isinstance(result.output, FilesOutput):
            given += result.output.files
    return given


def _uploads(parts: Iterable[Part]) -> bool:
    return any(isinstance(part, Media | File) and is_uploaded(part) for part in parts)


def _block(block: AnyBlock, metadata: dict[str, JsonValue]) -> bytes:
    """Write a block, and the further fields that its part keeps for it."""
    written = to_json(block)
    more = metadata.get(BLOCK_KEY)
    if isinstance(more, dict) and more:
        return with_field(written, to_json(more)[1:-1])
    return written


def with_field(block: bytes, field: bytes) -> bytes:
    """Add a field to a written block, which has at least its type."""
    return b"".join((block[:-1], b",", field, b"}"))
