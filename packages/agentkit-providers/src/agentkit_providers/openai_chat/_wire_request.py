"""What goes over the wire of Chat Completions: the vendors' names, and nothing else.

The order of the fields is the order in which they are written, so that equal messages are
equal bytes.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class CacheControl(Struct, omit_defaults=True, tag_field="type", tag="ephemeral"):
    """Where a cached prefix ends, in Anthropic's manner."""

    ttl: str | None = None


class TextPart(Struct, omit_defaults=True, tag_field="type", tag="text"):
    """Text."""

    text: str
    cache_control: CacheControl | None = None


class ImageUrl(Struct, omit_defaults=True):
    """Where an image is, or itself as a `data:` address."""

    url: str
    detail: Any = None


class ImagePart(Struct, tag_field="type", tag="image_url"):
    """An image."""

    image_url: ImageUrl


class InputAudio(Struct):
    """Sound, as base64."""

    data: str
    format: str


class AudioPart(Struct, tag_field="type", tag="input_audio"):
    """Sound."""

    input_audio: InputAudio


class VideoUrl(Struct):
    """Where a video is, or itself as a `data:` address."""

    url: str


class VideoPart(Struct, tag_field="type", tag="video_url"):
    """A video; OpenRouter, Alibaba and vLLM take it, OpenAI does not."""

    video_url: VideoUrl


class FileContent(Struct, omit_defaults=True):
    """A document: by the vendor's id of it, or as a `data:` address."""

    filename: str | None = None
    file_data: str | None = None
    file_id: str | None = None


class FilePart(Struct, tag_field="type", tag="file"):
    """A document."""

    file: FileContent


ContentPart = TextPart | ImagePart | AudioPart | VideoPart | FilePart
"""One entry of a content that is a list."""

Content = str | list[ContentPart]
"""What a message says."""


class SystemMessage(Struct, tag_field="role", tag="system"):
    """What the model is to be."""

    content: Content


class DeveloperMessage(Struct, tag_field="role", tag="developer"):
    """The application's own instructions."""

    content: Content


class UserMessage(Struct, tag_field="role", tag="user"):
    """What the user says."""

    content: Content


class Function(Struct):
    """A call's name, and its arguments as JSON text."""

    name: str
    arguments: str


class ToolCallParam(Struct, omit_defaults=True, tag_field="type", tag="function"):
    """A call that the model made."""

    id: str
    function: Function
    extra_content: Any = None


class AudioId(Struct):
    """Sound that the model spoke, by the vendor's id of it."""

    id: str


class AssistantMessage(Struct, omit_defaults=True, tag_field="role", tag="assistant"):
    """What the model said; at most one of the reasoning fields is used."""

    content: Content | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    audio: AudioId | None = None
    tool_calls: list[ToolCallParam] | None = None
    extra_content: Any = None


class ToolMessage(Struct, omit_defaults=True, tag_field="role", tag="tool"):
    """What a tool gave."""

    tool_call_id: str
    content: Content
    name: str | None = None


Message = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage
"""One entry of `messages`."""


class FunctionSpec(Struct, omit_defaults=True):
    """A function as it is offered."""

    name: str
    description: str | None = None
    parameters: Any = None
    strict: bool | None = None


class ToolParam(Struct, omit_defaults=True, tag_field="type", tag="function"):
    """A tool as it is offered."""

    function: FunctionSpec
    cache_control: CacheControl | None = None


class JsonSchema(Struct, omit_defaults=True):
    """The schema that an answer is to follow."""

    name: str
    description: str | None = None
    schema: Any = None
    strict: bool | None = None


class JsonSchemaParam(Struct, tag_field="type", tag="json_schema"):
    """An answer by a schema."""

    json_schema: JsonSchema


class JsonObjectParam(Struct, tag_field="type", tag="json_object"):
    """An answer that is some JSON object."""
