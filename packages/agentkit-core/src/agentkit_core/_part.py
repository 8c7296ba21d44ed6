"""Parts: what an item consists of, from text to tool results.

    Text        text of the user, the model or the system
    Media       audio, image, video or other bytes with a MIME type
    File        a document
    Structured  a JSON value
    Reasoning   the model's reasoning, as far as the provider shows it
    ToolCall    the model calls a tool              (assistant items only)
    ToolResult  the output of the tool, or an error (tool items only)
    Custom      a block of one provider or application, kept unchanged

What only one provider understands (a signature, an item id) is kept in the part's metadata,
under the provider's name. In JSON each part is an object with a `type`; fields that have their
default are left out.
"""

from __future__ import annotations

from typing import Final

from msgspec import field

from agentkit_core._data_ref import DataRef, InlineText, Modality
from agentkit_core._errors import MisplacedPart
from agentkit_core._failure import ToolFailure
from agentkit_core._ids import ToolCallId
from agentkit_core._json import JsonValue, to_json
from agentkit_core._metadata import MetadataMap
from agentkit_core._usage import Usage
from agentkit_core.settings import check_values
from agentkit_core.values import Record, StringEnum


class PartKind(StringEnum):
    """The eight kinds of part; the values are the tags in JSON."""

    TEXT = "text"
    MEDIA = "media"
    FILE = "file"
    STRUCTURED = "structured"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    CUSTOM = "custom"


class _Part(Record, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    metadata: MetadataMap = field(default_factory=dict)


class Text(_Part, frozen=True, tag="text"):
    """Text of the user, the model or the system.

    Attributes:
        text: The text; may be empty.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    text: str


class Media(_Part, frozen=True, tag="media"):
    """Audio, an image, a video, or other bytes in a model's input or output.

    Attributes:
        modality: Audio, image, video or other bytes.
        mime_type: For example `image/png`; empty if unknown.
        data: The content, or where it is.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    modality: Modality
    mime_type: str
    data: DataRef

    def __post_init__(self) -> None:
        check_values(self)

    @property
    def text(self) -> str | None:
        """The content, where it is inline text (an SVG image); None for anything else."""
        return self.data.text if isinstance(self.data, InlineText) else None


class File(_Part, frozen=True, tag="file"):
    """A document in a model's input or output.

    Attributes:
        data: The content, or where it is.
        mime_type: For example `application/pdf`; None if unknown.
        name: The file name; None if it has none.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    data: DataRef
    mime_type: str | None = None
    name: str | None = None

    @property
    def text(self) -> str | None:
        """The content, where it is inline text; None for anything else."""
        return self.data.text if isinstance(self.data, InlineText) else None


class Structured(_Part, frozen=True, tag="structured"):
    """A JSON value: typed output of a model, or typed input for it.

    Attributes:
        value: The JSON value.
        schema: The JSON Schema that `value` follows; None if there is none.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    value: JsonValue
    schema: dict[str, JsonValue] | None = None

    @property
    def text(self) -> str:
        """The value as compact JSON, as a model reads it."""
        return to_json(self.value).decode()


class Reasoning(_Part, frozen=True, tag="reasoning"):
    """The model's reasoning, as far as the provider shows it.

    Some providers need their reasoning back unchanged. Its signature, or the encrypted original,
    is kept in `metadata` under the provider's name.

    Attributes:
        summary: The text that the provider shows: the reasoning itself or a summary; None if there
            is none.
        data: Reasoning that is not text, such as an encrypted block.
        redacted: Whether the provider withholds the text.
        metadata: Data that owners attach, by namespaced key: signatures, for example.
    """

    summary: str | None = None
    data: DataRef | None = None
    redacted: bool = False


class ToolCall(_Part, frozen=True, tag="tool_call"):
    """The model calls a tool.

    If the arguments are not a JSON object, their text is kept in `raw_input`, `input` is empty, and
    `input_error` says what is wrong. Such a call is never run: its result is an error.

    Attributes:
        id: The id that the result of this call refers to.
        name: The name of the tool, as the model wrote it; there may be no such tool.
        input: The arguments by name; empty if there are none, or if they could not be read.
        raw_input: The text of the arguments, where `input` could not be read from it; else None.
        input_error: Why `input` could not be read; None if it could.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    id: ToolCallId
    name: str
    input: dict[str, JsonValue] = field(default_factory=dict)
    raw_input: str | None = None
    input_error: str | None = None


class TextOutput(Record, frozen=True, tag="text", tag_field="type"):
    """A tool's output as text.

    Attributes:
        text: The text; may be empty.
    """

    text: str


class StructuredOutput(Record, frozen=True, tag="structured", tag_field="type"):
    """A tool's output as a JSON value.

    Attributes:
        value: The JSON value.
    """

    value: JsonValue

    @property
    def text(self) -> str:
        """The value as compact JSON, as a model reads it."""
        return to_json(self.value).decode()


class PartsOutput(Record, frozen=True, tag="parts", tag_field="type"):
    """A tool's output as parts: texts, media, values.

    Attributes:
        parts: The parts in order; may be empty. No tool calls and no tool results.

    Raises:
        MisplacedPart: A part is a tool call or a tool result.
    """

    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        for part in self.parts:
            if type(part) is ToolCall or type(part) is ToolResult:
                raise MisplacedPart(KIND_OF_PART[type(part)].value, kind="tool output")

    @property
    def text(self) -> str:
        """Texts, values as JSON and inline texts of files, joined by line breaks.

        Empty where a model finds nothing to read as text, such as an image alone.
        """
        return _join_texts(self.parts)


class FilesOutput(Record, frozen=True, tag="files", tag_field="type"):
    """A tool's output as documents.

    Attributes:
        files: The documents in order; may be empty.
    """

    files: tuple[File, ...]

    @property
    def text(self) -> str:
        """The inline texts of the files, joined by line breaks; empty where there are none."""
        return _join_texts(self.files)


ToolOutput = TextOutput | StructuredOutput | PartsOutput | FilesOutput
"""The output of a tool, independent of any provider's format."""


class ToolResult(_Part, frozen=True, tag="tool_result"):
    """The result of a tool call: the tool's output, or an error.

    Attributes:
        call_id: The id of the call.
        output: What the model reads; for an error, its text.
        is_error: Whether the call failed.
        failure: Why the call failed; None if it did not, or if the reason is unknown.
        started: Whether the tool itself ran.
        details: Data for people and logs, never sent to a model.
        usage: The usage of model calls that the tool made itself; None if it reports none.
        added_tools: Names of hidden tools that the model may use from now on; often empty.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    call_id: ToolCallId
    output: ToolOutput
    is_error: bool = False
    failure: ToolFailure | None = None
    started: bool = True
    details: JsonValue = None
    usage: Usage | None = None
    added_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_values(self)

    @property
    def text(self) -> str:
        """The output as a model reads it: texts and JSON values; empty for media alone."""
        return self.output.text


class Custom(_Part, frozen=True, tag="custom"):
    """A block that only its owner understands: a protocol, a provider or an application.

    It is kept unchanged and sent back to its owner; requests to others leave it out.

    Attributes:
        kind: Namespaced like a metadata key: `anthropic_messages.server_tool_use`.
        value: The JSON value of the block.
        data: Content that is not JSON; None if there is none.
        metadata: Data that owners attach, by namespaced key; often empty.
    """

    kind: str
    value: JsonValue = None
    data: DataRef | None = None


Part = Text | Media | File | Structured | Reasoning | ToolCall | ToolResult | Custom
"""Any part."""


def _join_texts(parts: tuple[Part, ...]) -> str:
    readable = (part.text for part in parts if isinstance(part, Text | Structured | Media | File))
    return "\n".join(filter(None, readable))


KIND_OF_PART: Final[dict[type[Part], PartKind]] = {
    Text: PartKind.TEXT,
    Media: PartKind.MEDIA,
    File: PartKind.FILE,
    Structured: PartKind.STRUCTURED,
    Reasoning: PartKind.REASONING,
    ToolCall: PartKind.TOOL_CALL,
    ToolResult: PartKind.TOOL_RESULT,
    Custom: PartKind.CUSTOM,
}
"""From a part's class to its kind; a table, because the lookup is frequent."""
