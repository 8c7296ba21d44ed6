"""The JSON of requests in generateContent, with the vendor's names.

Fields are written in the order in which they are declared, so that equal contents are equal bytes.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Blob(Struct, rename="camel"):
    """Media as data.

    Attributes:
        data: Base64.
    """

    data: str
    mime_type: str


class FileData(Struct, rename="camel", omit_defaults=True):
    """Media by URL: an uploaded file, a bucket, a public page."""

    file_uri: str
    mime_type: str | None = None


class FunctionCall(Struct, omit_defaults=True):
    """A tool call of the model."""

    id: str | None = None
    name: str = ""
    args: Any = None


class FunctionResponse(Struct, omit_defaults=True):
    """The result of a function call.

    Attributes:
        response: `{"output": …}` or `{"error": …}`.
        parts: Media that belong to it: `[{"inlineData": …}]`.
    """

    id: str | None = None
    name: str = ""
    response: Any = None
    parts: Any = None


class Part(Struct, rename="camel", omit_defaults=True):
    """One part of a content. Of the fields except the first and last, at most one is used."""

    thought: bool | None = None
    text: str | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None
    function_call: FunctionCall | None = None
    function_response: FunctionResponse | None = None
    thought_signature: str | None = None


AnyPart = Part | dict[str, Any]
"""A part, or the vendor's own part, which goes back as it came."""


class FunctionDeclaration(Struct, rename="camel", omit_defaults=True):
    """A function that the request offers; one of the two schemas is used.

    Attributes:
        parameters_json_schema: JSON Schema.
        parameters: The dialect of OpenAPI 3.0.
    """

    name: str
    description: str | None = None
    parameters_json_schema: Any = None
    parameters: Any = None


class ThinkingConfig(Struct, rename="camel", omit_defaults=True):
    """How much to think; a level or a budget, never both.

    Attributes:
        thinking_budget: Tokens; -1 leaves it to the model.
    """

    include_thoughts: bool | None = None
    thinking_level: str | None = None
    thinking_budget: int | None = None
