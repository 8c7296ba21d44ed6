"""Media and documents as the model can read them: typed by their bytes, or left out with a text.

One image that is not what it says would make every later request of a conversation fail. So the
type that is sent is that of the bytes, and what cannot be read becomes a text that tells the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import is_

from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import (
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    Item,
    Media,
    Modality,
    Part,
    PartsOutput,
    Text,
    ToolOutput,
    ToolResult,
    Uri,
)
from agentkit_core.json import without_lone_surrogates
from agentkit_providers._protocol_kit._media_types import (
    COMMON_IMAGE_TYPES,
    PDF,
    as_text,
    content_of,
    plain_type,
    type_of,
)


class MediaTraits(Struct, frozen=True, kw_only=True):
    """What a model reads.

    Attributes:
        image_types: The MIME types of images.
        pdf_only: Whether documents other than PDFs are sent as text, or left out.
        file_urls: Whether a document may be a URL; matters only with `pdf_only`.
    """

    image_types: frozenset[str] = COMMON_IMAGE_TYPES
    pdf_only: bool = False
    file_urls: bool = True


COMMON_MEDIA = MediaTraits()
"""The usual image types, and documents of any type."""


def readable_item(item: Item, traits: MediaTraits = COMMON_MEDIA) -> Item:
    """Write an item with media that the model can read; the same item where nothing changes."""
    parts = tuple(_readable_part(part, traits) for part in item.parts)
    return item if all(map(is_, parts, item.parts)) else replace(item, parts=parts)


def _readable_part(part: Part, traits: MediaTraits) -> Part:
    match part:
        case Media(modality=Modality.IMAGE):
            return _image(part, traits)
        case File():
            return _file(part, traits)
        case ToolResult():
            output = _output(part.output, traits)
            return part if output is part.output else replace(part, output=output)
        case _:
            return part


def _output(output: ToolOutput, traits: MediaTraits) -> ToolOutput:
    match output:
        case PartsOutput(parts=parts):
            before: Sequence[Part] = parts
        case FilesOutput(files=files):
            before = files
        case _:
            return output
    readable = tuple(_readable_part(part, traits) for part in before)
    if all(map(is_, readable, before)):
        return output
    if isinstance(output, FilesOutput) and all(isinstance(part, File) for part in readable):
        return FilesOutput(tuple(part for part in readable if isinstance(part, File)))
    return PartsOutput(readable)


def _image(image: Media, traits: MediaTraits) -> Part:
    content = content_of(image.data)
    if content is None:
        return image  # its bytes are elsewhere
    kind = type_of(content)
    if kind is None or not kind.startswith("image/"):
        return Text(f"(image omitted: {_what_it_is(kind, image.data)})")
    if kind not in traits.image_types:
        return Text(f"(image omitted: {kind} is not read)")
    if image.mime_type == kind and _says(image.data, kind):
        return image
    return replace(image, mime_type=kind, data=InlineBytes(content))


def _file(file: File, traits: MediaTraits) -> Part:
    content = content_of(file.data)
    named = plain_type(file.mime_type)
    if content is None:
        data = file.data
        if isinstance(data, Uri) and traits.pdf_only and not _is_taken(data.uri, named, traits):
            return Text(f"({_name_of(file)} omitted: documents are taken by value only)")
        return file
    kind = type_of(content)
    if kind is not None and kind.startswith("image/"):
        if kind not in traits.image_types:
            return Text(f"({_name_of(file)} omitted: {kind} is not read)")
    elif named.startswith("image/") and kind != PDF:
        return Text(f"({_name_of(file)} omitted: {_what_it_is(kind, file.data)})")
    elif isinstance(file.data, InlineText) or not (traits.pdf_only or kind == PDF):
        return file
    elif kind != PDF:
        text = as_text(content, file.mime_type)
        if text is None:
            what = kind or named or "its type"
            return Text(f"({_name_of(file)} omitted: {what} is not read)")
        return replace(file, data=InlineText(text))
    if file.mime_type == kind and _says(file.data, kind):
        return file
    return replace(file, mime_type=kind, data=InlineBytes(content))


def _is_taken(uri: str, named: str, traits: MediaTraits) -> bool:
    """Whether a document may be sent by its address."""
    if not uri.startswith(("http:", "https:")):
        return True  # an id that the vendor gave
    return named.startswith("image/") or (traits.file_urls and named in ("", PDF))


def _says(data: object, kind: str) -> bool:
    """Whether content that names its own type names this one."""
    if not isinstance(data, Uri):
        return isinstance(data, InlineBytes)
    head = data.uri.partition(",")[0]
    return head == f"data:{kind};base64"


def _what_it_is(kind: str | None, data: object) -> str:
    if isinstance(data, InlineText):
        return "its data is text"
    return "its data is no image" if kind is None else f"its data is {kind}"


def _name_of(file: File) -> str:
    return f"file {without_lone_surrogates(file.name)}" if file.name else "file"
