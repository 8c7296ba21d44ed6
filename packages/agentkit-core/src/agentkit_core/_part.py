"""Parts: what an item consists of, from text to tool results.

    Text        what is said
    Media       audio, image, video or other bytes with a MIME type
    File        a document, by name
    Structured  a JSON value that is to stay one
    Reasoning   the model's thoughts, as far as they are shown
    ToolCall    the model asks for a tool           (assistant items only)
    ToolResult  what the tool gave                  (tool items only)
    Custom      a provider's or an application's own block, kept as it is

What only one provider understands (a signature, an item id) stands in a part's metadata
under that provider's name, and travels with the part. In JSON each part is an object with
a `type`; fields that have their default are left out.
"""

from __future__ import annotations

from typing import Final

from msgspec import field

from agentkit_core._errors import MisplacedPart
from agentkit_core._ids import ArtifactId, ToolCallId
from agentkit_core._json import JsonValue, to_json
from agentkit_core._metadata import MetadataMap
from agentkit_core._usage import Usage
from agentkit_core.values import Record, StringEnum


class PartKind(StringEnum):
    """The eight kinds of part, as they are tagged in JSON."""

    TEXT = "text"
    MEDIA = "media"
    FILE = "file"
    STRUCTURED = "structured"
    REASONING = "reasoning"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    CUSTOM = "custom"


class Modality(StringEnum):
    """What a media part is to the senses."""

    AUDIO = "audio"
    IMAGE = "image"
    VIDEO = "video"
    BINARY = "binary"


class _DataRef(Record, frozen=True, tag_field="type"):
    pass


class InlineText(_DataRef, frozen=True, tag="text"):
    """The content itself, as text."""

    text: str


class InlineBytes(_DataRef, frozen=True, tag="bytes"):
    """The content itself, as bytes; base64 in JSON."""

    data: bytes


class Uri(_DataRef, frozen=True, tag="uri"):
    """Where the content is (`https:`, `data:`, a provider's file id, …); never fetched here."""

    uri: str


class Handle(_DataRef, frozen=True, tag="handle"):
    """A name in an artifact store; whoever has the store resolves it before a request."""

    artifact_id: ArtifactId


DataRef = InlineText | InlineBytes | Uri | Handle
"""Where the content of a part is. Nothing in the core looks behind it."""


class _Part(Record, frozen=True, kw_only=True, omit_defaults=True, tag_field="type"):
    metadata: MetadataMap = field(default_factory=dict)
    """What owners keep beside the part; see `agentkit_core._metadata`."""


class Text(_Part, frozen=True, tag="text"):
    """Something said: by the user, the model or the system."""

    text: str


class Media(_Part, frozen=True, tag="media"):
    """Audio, an image, a video, or other bytes that a model takes or gives.

    Attributes:
        mime_type: Such as `image/png`; empty where nobody said.
    """

    modality: Modality
    mime_type: str
    data: DataRef

    @property
    def text(self) -> str | None:
        """The content, where it is inline text (an SVG image); None for anything else."""
        return self.data.text if isinstance(self.data, InlineText) else None


class File(_Part, frozen=True, tag="file"):
    """A document that a model takes or gives."""

    data: DataRef
    mime_type: str | None = None
    name: str | None = None

    @property
    def text(self) -> str | None:
        """The content, where it is inline text; None for anything else."""
        return self.data.text if isinstance(self.data, InlineText) else None


class Structured(_Part, frozen=True, tag="structured"):
    """A JSON value that is to stay one: typed output of a model, typed input for it.

    Attributes:
        schema: The JSON Schema that `value` follows, where one was agreed.
    """

    value: JsonValue
    schema: dict[str, JsonValue] | None = None

    @property
    def text(self) -> str:
        """The value as compact JSON, as a model reads it."""
        return to_json(self.value).decode()


class Reasoning(_Part, frozen=True, tag="reasoning"):
    """The model's reasoning, as far as the provider shows it.

    A provider that wants it back unchanged keeps its signature, or the encrypted original,
    in `metadata` under its own name.

    Attributes:
        summary: The text that is shown: raw thoughts or a summary; None when there is none.
        data: Reasoning that is not text, such as an encrypted block.
        redacted: Whether the provider withholds the text.
    """

    summary: str | None = None
    data: DataRef | None = None
    redacted: bool = False


class ToolCall(_Part, frozen=True, tag="tool_call"):
    """The model asks for a tool to be run.

    Arguments that are not a JSON object are kept as they came in `raw_input`, with
    `input` empty and `input_error` saying what is wrong: such a call is answered with an
    error, never run.

    Attributes:
        raw_input: The arguments' text, where `input` could not be read from it.
        input_error: Why `input` could not be read; None when it is good.
    """

    id: ToolCallId
    name: str
    input: dict[str, JsonValue] = field(default_factory=dict)
    raw_input: str | None = None
    input_error: str | None = None


class ToolFailure(StringEnum):
    """Why a tool result is an error, as far as more is known than that it is one."""

    NOT_FOUND = "not_found"
    INVALID_INPUT = "invalid_input"
    CUT_OFF = "cut_off"
    """The output limit cut the arguments; nothing was run."""
    PERMISSION_DENIED = "permission_denied"
    EXECUTION_FAILED = "execution_failed"
    UNAVAILABLE = "unavailable"
    TIMED_OUT = "timed_out"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"
    """New input came before the call was started."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """Whoever ran it was lost; it may or may not have happened."""


class TextOutput(Record, frozen=True, tag="text", tag_field="type"):
    """Text for the model."""

    text: str


class StructuredOutput(Record, frozen=True, tag="structured", tag_field="type"):
    """A JSON value for the model."""

    value: JsonValue

    @property
    def text(self) -> str:
        """The value as compact JSON, as a model reads it."""
        return to_json(self.value).decode()


class PartsOutput(Record, frozen=True, tag="parts", tag_field="type"):
    """Several parts for the model, media among them.

    Raises:
        MisplacedPart: A tool call or a tool result is among them.
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
    """Documents for the model."""

    files: tuple[File, ...]

    @property
    def text(self) -> str:
        """The inline texts of the files, joined by line breaks; empty where there are none."""
        return _join_texts(self.files)


ToolOutput = TextOutput | StructuredOutput | PartsOutput | FilesOutput
"""What a tool gave, before any provider's way of writing it."""


class ToolResult(_Part, frozen=True, tag="tool_result"):
    """What a tool gave, or why it gave nothing, in answer to the call with that id.

    Attributes:
        failure: For an error: what is known of the reason.
        started: Whether the tool itself ran at all.
        details: For people and logs; never sent to a model.
        usage: Model calls that the tool made by itself.
        added_tools: Names of tools that the model may use from here on.
    """

    call_id: ToolCallId
    output: ToolOutput
    is_error: bool = False
    failure: ToolFailure | None = None
    started: bool = True
    details: JsonValue = None
    usage: Usage | None = None
    added_tools: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The output as a model reads it: texts and JSON values; empty for media alone."""
        return self.output.text


class Custom(_Part, frozen=True, tag="custom"):
    """A block that only its owner understands; kept, and given back to its owner as it is.

    Everyone else leaves it out of requests.

    Attributes:
        kind: Namespaced like a metadata key: `anthropic_messages.server_tool_use`.
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
"""From a part's class to its kind; a table, since it is asked often."""
