"""The JSON of requests in Responses, with the vendors' names.

Fields are written in the order in which they are declared, so that equal items are equal bytes. The
model's own items go back as they came and have no struct here.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class CacheBreakpoint(Struct):
    """A mark at the end of a cached prefix."""

    mode: str = "explicit"


class InputText(Struct, omit_defaults=True, tag_field="type", tag="input_text"):
    """Text."""

    text: str
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class InputImage(Struct, omit_defaults=True, tag_field="type", tag="input_image"):
    """An image: by its URL, or the vendor's id.

    Attributes:
        detail: The vendor's types want it, though its server does not.
    """

    detail: Any
    image_url: str | None = None
    file_id: str | None = None
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class InputFile(Struct, omit_defaults=True, tag_field="type", tag="input_file"):
    """A document: by its URL, as a `data:` URL, or by the vendor's id."""

    filename: str | None = None
    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    prompt_cache_breakpoint: CacheBreakpoint | None = None


ContentPart = InputText | InputImage | InputFile
"""One entry of a content that is a list."""

Content = str | list[ContentPart]
"""The content of a message, or the output of a call."""


class InputMessage(Struct):
    """A message of the `system`, the `developer` or the `user`."""

    role: str
    content: Content


class AssistantMessage(Struct, omit_defaults=True):
    """A message of the assistant that is not one of the vendor's output items."""

    role: str
    content: str
    phase: Any = None


class CallOutput(Struct, omit_defaults=True):
    """The result of a call: `function_call_output` or `custom_tool_call_output`.

    Attributes:
        caller: On whose behalf the call was made, as the call says.
    """

    type: str
    call_id: str
    output: Content
    caller: Any = None


InputItem = InputMessage | AssistantMessage | CallOutput | dict[str, Any]
"""One entry of `input`."""


class FunctionTool(Struct, omit_defaults=True, tag_field="type", tag="function"):
    """A function that the request offers."""

    name: str
    description: str | None = None
    parameters: Any = None
    strict: bool | None = None


class JsonSchemaParam(Struct, omit_defaults=True, tag_field="type", tag="json_schema"):
    """The response format with a schema."""

    name: str
    description: str | None = None
    schema: Any = None
    strict: bool | None = None


class JsonObjectParam(Struct, tag_field="type", tag="json_object"):
    """The response format that is any JSON object."""
