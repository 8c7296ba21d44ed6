"""Items as blocks: each block is written as bytes of its own.

Blocks stay separate bytes so that a cache mark can be put on any of them without writing the rest
of the history again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

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
from agentkit_core.values import StringEnum
from agentkit_providers._protocol_kit._incremental_history import EncodedItem
from agentkit_providers._protocol_kit._plain_text import ASSISTANT, USER, only_text, plain_text
from agentkit_providers._protocol_kit._readable_media import readable_item
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
"""The text of a tool result that holds only images."""
_THINKING: Final = (b'{"type":"thinking"', b'{"type":"redacted_thinking"')


class Place(StringEnum):  # unlike other enums, hashed as fast as a string
    """Where an item's blocks go."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


_USER: Final = Place.USER
_ASSISTANT: Final = Place.ASSISTANT


class EncodedBlocks(EncodedItem, frozen=True, kw_only=True):
    """One item as blocks.

    Attributes:
        data: The blocks, joined by commas.
        is_final: False where a tool that the vendor runs has no result yet, so that the next item
            decides whether the tool's call is sent.
        is_notable: Whether it has instructions, uses, uploads or marks.
        place: Where the blocks go.
        blocks: The blocks in order; empty where nothing of the item is sent.
        uses: Ids of the tools that the vendor runs, as the blocks name them.
        uploads: Whether a block refers to an uploaded file.
        own_marks: How many cache marks the caller has put into the blocks.
    """

    place: Place
    blocks: tuple[bytes, ...]
    uses: frozenset[str] = frozenset()
    uploads: bool = False
    own_marks: int = 0


def encode_item(
    items: Sequence[Item], at: int, *, is_known: Callable[[str], bool] = lambda use_id: True
) -> EncodedBlocks:
    """Write one item.

    Args:
        items: The sendable items.
        at: Which one.
        is_known: Whether an earlier item called the vendor's tool with this id. Results of other
            calls are left out, since the vendor refuses them.
    """
    item = items[at]
    kind, text = item.kind, only_text(item)
    if text is not None and (kind is USER or kind is ASSISTANT):
        # Most items are one text, and need none of what follows.
        block = b'{"type":"text","text":%b}' % to_json(text)
        return EncodedBlocks(block, place=_USER if kind is USER else _ASSISTANT, blocks=(block,))
    if kind is not ASSISTANT:
        item = readable_item(item)
    match kind:
        case ItemKind.SYSTEM:
            return _encode_blocks(Place.SYSTEM, _instructions(item.parts))
        case ItemKind.ASSISTANT:
            following = items[at + 1] if at + 1 < len(items) else None
            return _assistant(item, following, is_known)
        case ItemKind.TOOL:
            blocks = [_result(result) for result in item.tool_results]
            return _encode_blocks(
                Place.USER, blocks, _has_uploads(_output_parts(item.tool_results))
            )
        case _:
            return _encode_blocks(Place.USER, _content(item.parts), _has_uploads(item.parts))


def is_markable(block: bytes) -> bool:
    """Whether a cached prefix may end with this block."""
    return not block.startswith(_THINKING)


def is_marked(json: bytes) -> bool:
    """Whether the caller has put a cache mark into a block, a tool or a field."""
    # In a text the quotes would be escaped.
    return b'"cache_control":{' in json


def _encode_blocks(
    place: Place,
    blocks: Sequence[bytes],
    uploads: bool = False,
    *,
    is_final: bool = True,
    uses: frozenset[str] = frozenset(),
) -> EncodedBlocks:
    own_marks = sum(map(is_marked, blocks))
    return EncodedBlocks(
        b",".join(blocks),
        is_final,
        is_notable=bool(place is Place.SYSTEM or uses or uploads or own_marks),
        place=place,
        blocks=tuple(blocks),
        uses=uses,
        uploads=uploads,
        own_marks=own_marks,
    )


def _instructions(parts: Iterable[Part]) -> list[bytes]:
    blocks: list[bytes] = []
    for part in parts:
        if isinstance(part, Media | File):
            what = part.modality.value if isinstance(part, Media) else "file"
            blocks.append(_block(TextBlock(f"({what} omitted: instructions are text)"), {}))
        elif text := plain_text(part):
            blocks.append(_block(TextBlock(text), part.metadata))
    return blocks


def _assistant(
    item: Item, following: Item | None, is_known: Callable[[str], bool]
) -> EncodedBlocks:
    uses = {use for part in item.parts if (use := _use_id(part))}
    waiting = uses - {use for part in item.parts if (use := _answered_use_id(part))}
    # A response that the vendor completed is whole, whatever its ids say.
    waits = bool(waiting) and item.finish_reason is not FinishReason.COMPLETED
    if waits and not _may_continue(item, following):
        uses -= waiting
    blocks: list[bytes] = []
    for part in item.parts:
        use, answered = _use_id(part), _answered_use_id(part)
        if (use and use not in uses) or (answered and not uses and not is_known(answered)):
            continue
        block = _assistant_block(part)
        if block is not None:
            blocks.append(block)
    return _encode_blocks(Place.ASSISTANT, blocks, is_final=not waits, uses=frozenset(uses))


def _may_continue(item: Item, following: Item | None) -> bool:
    """Whether the vendor may yet send the results of tools that it has begun to run."""
    unfinished = item.finish_reason in (None, FinishReason.PAUSED, FinishReason.TOOL_CALL)
    continues = following is None or following.kind in (ItemKind.ASSISTANT, ItemKind.TOOL)
    return unfinished and continues and not item.interrupted


def _use_id(part: Part) -> str | None:
    """The id of a call of a tool that the vendor runs; None for other parts."""
    if isinstance(part, Custom) and part.kind.endswith("_tool_use"):
        return _id_in(part.value, "id")
    return None


def _answered_use_id(part: Part) -> str | None:
    """The id of the call that a result of the vendor's own tool answers; None for other parts."""
    return _id_in(part.value, "tool_use_id") if isinstance(part, Custom) else None


def _id_in(value: JsonValue, name: str) -> str | None:
    use_id = value.get(name) if isinstance(value, dict) else None
    return use_id if isinstance(use_id, str) else None


def _assistant_block(part: Part) -> bytes | None:
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
            return _user_block(part)


def _reasoning(part: Reasoning) -> bytes:
    metadata = part.metadata
    redacted = metadata.get(REDACTED_KEY)
    if isinstance(redacted, str):
        return _block(RedactedThinkingBlock(redacted), metadata)
    signature = metadata.get(SIGNATURE_KEY)
    signed = signature if isinstance(signature, str) else ""
    return _block(ThinkingBlock(part.summary or "", signed), metadata)


def _content(parts: Iterable[Part]) -> list[bytes]:
    """Write the content of a user message."""
    return [block for part in parts if (block := _user_block(part)) is not None]


def _user_block(part: Part) -> bytes | None:
    content = _content_block(part)
    if content is not None:
        return _block(content, part.metadata)
    if isinstance(part, Custom) and isinstance(part.value, dict) and part.value.get("type"):
        return to_json(part.value)
    return None


def _content_block(part: Part) -> ContentBlock | None:
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
            content: Sequence[Part] = parts
        case FilesOutput(files=files) if files:
            content = files
        case _:
            return output.text
    blocks = [block for part in content if (block := _content_block(part)) is not None]
    if all(isinstance(block, ImageBlock) for block in blocks):
        blocks.insert(0, TextBlock(IMAGE_ONLY))
    return blocks


def _output_parts(results: Iterable[ToolResult]) -> list[Part]:
    parts: list[Part] = []
    for result in results:
        if isinstance(result.output, PartsOutput):
            parts += result.output.parts
        elif isinstance(result.output, FilesOutput):
            parts += result.output.files
    return parts


def _has_uploads(parts: Iterable[Part]) -> bool:
    return any(isinstance(part, Media | File) and is_uploaded(part) for part in parts)


def _block(block: AnyBlock, metadata: dict[str, JsonValue]) -> bytes:
    """Write a block, with the further fields that the part's metadata keeps for it."""
    written = to_json(block)
    further_fields = metadata.get(BLOCK_KEY)
    if isinstance(further_fields, dict) and further_fields:
        return with_field(written, to_json(further_fields)[1:-1])
    return written


def with_field(block: bytes, field: bytes) -> bytes:
    """Add a field at the end of a JSON object that has at least one."""
    return b"".join((block[:-1], b",", field, b"}"))
