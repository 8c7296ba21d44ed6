"""What a model is asked: the history, the tools and neutral options. Data only.

Every option may be left out; None always means "say nothing to the provider about it".
A projection maps what its provider knows and refuses (`UnsupportedContent`) what it cannot
express and must not ignore.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import field

from agentkit_core._ids import SessionId, TurnId
from agentkit_core._item import Item
from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core._tool_spec import ToolSpec
from agentkit_core.cache import CacheRequest
from agentkit_core.values import Record, StringEnum


class ThinkingLevel(StringEnum):
    """How much a model should reason before it answers, least first."""

    OFF = "off"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    XHIGH = "xhigh"
    MAX = "max"


class ToolChoiceMode(StringEnum):
    """Whether the model may, must or must not call tools."""

    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


class NamedTool(Record, frozen=True):
    """The model must call this tool."""

    name: str


ToolChoice = ToolChoiceMode | NamedTool
"""Which tools the model may or must call."""


class JsonFormat(Record, frozen=True, tag="json", tag_field="type"):
    """The answer is to be some JSON object."""


class JsonSchemaFormat(Record, frozen=True, tag="json_schema", tag_field="type"):
    """The answer is to be JSON that follows a schema.

    Attributes:
        strict: Whether the provider must follow the schema to the letter.
    """

    schema: dict[str, JsonValue]
    name: str = "answer"
    description: str | None = None
    strict: bool | None = None


ResponseFormat = JsonFormat | JsonSchemaFormat
"""What the text of the answer is to be."""


class Timeouts(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How long to wait for a model, in seconds; None is for ever.

    Attributes:
        connect_s: For the connection to stand.
        first_byte_s: From the request to the first byte of the answer.
        idle_s: Between two reads of a streamed answer; a provider's pings count as life.
        no_content_s: Between two pieces of content; pings do not count.
        total_s: For the whole call.
    """

    connect_s: float | None = 10.0
    first_byte_s: float | None = 600.0
    idle_s: float | None = 60.0
    no_content_s: float | None = None
    total_s: float | None = None


class ModelOptions(Record, frozen=True, kw_only=True, omit_defaults=True):
    """How the model should answer, in words that no provider owns.

    Raises:
        TypeError: An extra field does not stand under the name of its protocol.

    Attributes:
        parallel_tool_calls: Whether the model may call several tools at once.
        extra: Fields of one protocol, by the name of its api: `{"openai_chat": {"n": 2}}` is merged
            last into the body that `openai_chat` sends; other protocols leave it alone.
    """

    thinking: ThinkingLevel | None = None
    max_output_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop_sequences: tuple[str, ...] = ()
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    cache: CacheRequest | None = None
    timeouts: Timeouts = Timeouts()
    extra: dict[str, dict[str, JsonValue]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for api, fields in self.extra.items():
            if not isinstance(fields, dict):
                raise TypeError(
                    f"extra[{api!r}] is no object; extra fields stand under the name of their "
                    f"protocol, as in {{'openai_chat': {{{api!r}: …}}}}"
                )


class ModelRequest(Record, frozen=True, kw_only=True, omit_defaults=True):
    """One question to a model.

    Attributes:
        model: The model's id, as its provider knows it.
        items: The history, oldest first; any history: the projection makes it sendable.
        tools: In the order in which they are offered; keep it stable, providers cache by prefix.
        streamed: Whether the answer should come in pieces.
        metadata: For whoever handles the request on its way; a projection sends none of it.
    """

    model: str
    items: Sequence[Item] = ()
    tools: tuple[ToolSpec, ...] = ()
    options: ModelOptions = ModelOptions()
    streamed: bool = True
    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    metadata: MetadataMap = field(default_factory=dict)
