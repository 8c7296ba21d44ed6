"""Media that a provider refused: found when a request is refused, and left out of later ones.

A request that is refused for one of its media would be refused again with every later prompt. So
media that no accepted request has held are put aside with the first refusal. The transcript keeps
them; a request has a text in their place. Another model is sent them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from agentkit_core import (
    FailureKind,
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    Item,
    Media,
    Part,
    PartsOutput,
    ProviderFailure,
    Text,
    ToolOutput,
    ToolResult,
)

_REFUSALS: Final = frozenset({FailureKind.INVALID_REQUEST, FailureKind.CONTENT_FILTER})
_TOO_LARGE: Final = 413
_MEDIA_WORDS: Final = ("image", "audio", "video", "file", "document", "media", "modalit")


def may_refuse_media(failure: ProviderFailure) -> bool:
    """Whether a request may have failed because of its media: for their size or what they are."""
    if failure.kind in _REFUSALS or failure.status == _TOO_LARGE:
        return True
    # Routers find no model that takes images, for one.
    message = failure.message.lower()
    return failure.kind is FailureKind.NOT_FOUND and any(word in message for word in _MEDIA_WORDS)


def media_of(item: Item) -> Iterator[Media | File]:
    """The media of an item and of the tool results in it; files that are text do not count."""
    for part in item.parts:
        match part:
            case Media() | File():
                if _is_media(part):
                    yield part
            case ToolResult(output=PartsOutput(parts=parts) | FilesOutput(files=parts)):
                for inner in parts:
                    if isinstance(inner, Media | File) and _is_media(inner):
                        yield inner
            case _:
                pass


def has_media(item: Item) -> bool:
    """Whether an item has media, or a tool result in it has."""
    return next(media_of(item), None) is not None


def without_media(item: Item) -> Item:
    """Return an item with a text in place of each of its media; all else is kept."""
    return replace(item, parts=tuple(map(_without_media, item.parts)))


def describe_media(part: Media | File) -> str:
    """Describe media in a few words: the name, the MIME type or what it is, and the bytes."""
    kind = part.mime_type or (part.modality.value if isinstance(part, Media) else "a file")
    name = f"{part.name!r}, {kind}" if isinstance(part, File) and part.name else kind
    match part.data:
        case InlineBytes(data=data):
            return f"{name}, {len(data)} bytes"
        case _:
            return name


def refused_after_rewrite(
    refused: Sequence[int], before: Sequence[Item], after: Sequence[Item]
) -> tuple[int, ...]:
    """Find the items that were put aside in a transcript that was rewritten."""
    items = [before[at] for at in refused]
    return tuple(at for at, item in enumerate(after) if item in items) if items else ()


def accepted_after_rewrite(accepted: int, before: Sequence[Item], after: Sequence[Item]) -> int:
    """Count the first items of a rewritten transcript whose media have all been accepted before."""
    known = [before[at] for at in range(accepted) if has_media(before[at])]
    for at, item in enumerate(after):
        if has_media(item) and item not in known:
            return at
    return len(after)


def _is_media(part: Media | File) -> bool:
    return isinstance(part, Media) or not isinstance(part.data, InlineText)


def _without_media(part: Part) -> Part:
    match part:
        case Media() | File() if _is_media(part):
            return _text_for(part)
        case ToolResult(output=output):
            return replace(part, output=_output_without_media(output))
        case _:
            return part


def _output_without_media(output: ToolOutput) -> ToolOutput:
    match output:
        case PartsOutput(parts=parts) | FilesOutput(files=parts):
            changed = tuple(map(_without_media, parts))
            return output if changed == parts else PartsOutput(changed)
        case _:
            return output


def _text_for(part: Media | File) -> Text:
    return Text(
        text=f"[{describe_media(part)}: left out, because the model's provider refused the "
        f"request that held it; it may be too large, or of a kind that the model does not take]"
    )
