"""What goes over the wire of Responses: the vendors' names, and nothing else.

The order of the fields is the order in which they are written, so that equal items are equal
bytes. What the model itself made goes back as it came and has no struct here.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class CacheBreakpoint(Struct):
    """Where a cached prefix ends."""

    mode: str = "explicit"


class InputText(Struct, omit_defaults=True, tag_field="type", tag="input_text"):
    """Text."""

    text: str
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class InputImage(Struct, omit_defaults=True, tag_field="type", tag="input_image"):
    """An image: by its address, or the vendor's id of it.

    Attributes:
        detail: The vendor's types want it, though its server does not.
    """

    detail: Any
    image_url: str | None = None
    file_id: str | None = None
    prompt_cache_breakpoint: CacheBreakpoint | None = None


class InputFile(Struct, omit_defaults=True, tag_field="type", tag="input_file"):
    """A document: by its address, as a `data:` address, or by the vendor's id of it."""

    filename: str | None = None
    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    prompt_cache_breakpoint: CacheBreakpoint | None = None


ContentPart = InputText | InputImage | InputFile
"""One entry of a content that is a list."""

Content = str | list[ContentPart]
"""What a message says, or a call gave."""


class InputMessage(Struct):
    """What somebody says: `system`, `developer` or `user`."""

    role: str
    content: Content


class AssistantMessage(Struct, omit_defaults=True):
    """What an assistant said, where it is not known as an output item."""

    role: str
    content: str
    phase: Any = None


class CallOutput(Struct, omit_defaults=True):
    """What a tool gave: `function_call_output` or `custom_tool_call_output`.

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
    """A function as it is offered."""

    name: str
    description: str | None = None
    parameters: Any = None
    strict: bool | None = None


class JsonSchemaParam(Struct, omit_defaults=True, tag_field="type", tag="json_schema"):
    """An answer by a schema."""

    name: str
    description: str | None = None
    schema: Any = None
    strict: bool | None = None


class JsonObjectParam(Struct, tag_field="type", tag="json_object"):
    """An answer that is some JSON object."""
