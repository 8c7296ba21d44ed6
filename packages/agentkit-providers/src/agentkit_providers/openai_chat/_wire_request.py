"""The JSON of requests in Chat Completions, with the vendors' names.

Fields are written in the order in which they are declared, so that equal messages are equal bytes.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class CacheControl(Struct, omit_defaults=True, tag_field="type", tag="ephemeral"):
    """A mark at the end of a cached prefix, as Anthropic writes it."""

    ttl: str | None = None


class TextPart(Struct, omit_defaults=True, tag_field="type", tag="text"):
    """Text."""

    text: str
    cache_control: CacheControl | None = None


class ImageUrl(Struct, omit_defaults=True):
    """The URL of an image, or the image as a `data:` URL."""

    url: str
    detail: Any = None


class ImagePart(Struct, tag_field="type", tag="image_url"):
    """An image."""

    image_url: ImageUrl


class InputAudio(Struct):
    """Audio as base64."""

    data: str
    format: str


class AudioPart(Struct, tag_field="type", tag="input_audio"):
    """Audio."""

    input_audio: InputAudio


class VideoUrl(Struct):
    """The URL of a video, or the video as a `data:` URL."""

    url: str


class VideoPart(Struct, tag_field="type", tag="video_url"):
    """A video; OpenRouter, Alibaba and vLLM take it, OpenAI does not."""

    video_url: VideoUrl


class FileContent(Struct, omit_defaults=True):
    """A document: by the vendor's id, or as a `data:` URL."""

    filename: str | None = None
    file_data: str | None = None
    file_id: str | None = None


class FilePart(Struct, tag_field="type", tag="file"):
    """A document."""

    file: FileContent


ContentPart = TextPart | ImagePart | AudioPart | VideoPart | FilePart
"""One entry of a content that is a list."""

Content = str | list[ContentPart]
"""The content of a message."""


class SystemMessage(Struct, tag_field="role", tag="system"):
    """Instructions for the model."""

    content: Content


class DeveloperMessage(Struct, tag_field="role", tag="developer"):
    """The application's own instructions."""

    content: Content


class UserMessage(Struct, tag_field="role", tag="user"):
    """A message of the user."""

    content: Content


class Function(Struct):
    """A call's name, and its arguments as JSON text."""

    name: str
    arguments: str


class ToolCallParam(Struct, omit_defaults=True, tag_field="type", tag="function"):
    """A tool call of the model."""

    id: str
    function: Function
    extra_content: Any = None


class AudioId(Struct):
    """Audio that the model spoke, by the vendor's id."""

    id: str


class AssistantMessage(Struct, omit_defaults=True, tag_field="role", tag="assistant"):
    """A message of the model; at most one of the reasoning fields is used."""

    content: Content | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[Any] | None = None
    audio: AudioId | None = None
    tool_calls: list[ToolCallParam] | None = None
    extra_content: Any = None
    prefix: bool | None = None
    partial: bool | None = None


class ToolMessage(Struct, omit_defaults=True, tag_field="role", tag="tool"):
    """The result of a tool call."""

    tool_call_id: str
    content: Content
    name: str | None = None


Message = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage
"""One entry of `messages`."""


class FunctionSpec(Struct, omit_defaults=True):
    """A function that the request offers."""

    name: str
    description: str | None = None
    parameters: Any = None
    strict: bool | None = None


class ToolParam(Struct, omit_defaults=True, tag_field="type", tag="function"):
    """A tool that the request offers."""

    function: FunctionSpec
    cache_control: CacheControl | None = None


class JsonSchema(Struct, omit_defaults=True):
    """A schema for the response."""

    name: str
    description: str | None = None
    schema: Any = None
    strict: bool | None = None


class JsonSchemaParam(Struct, tag_field="type", tag="json_schema"):
    """The response format with a schema."""

    json_schema: JsonSchema


class JsonObjectParam(Struct, tag_field="type", tag="json_object"):
    """The response format that is any JSON object."""
