"""Requests to a model: the history, the tools and options that are the same for all providers.

Every option can be left out; None always means that the provider's default applies. A projection
translates the options that its provider supports, and raises `UnsupportedContent` for those that
it can neither translate nor ignore.
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
from agentkit_core.settings import Settings
from agentkit_core.values import Record, StringEnum


class ThinkingLevel(StringEnum):
    """How much a model should reason before it answers, in ascending order."""

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
    """The model must call this tool.

    Attributes:
        name: The name of the tool.
    """

    name: str


ToolChoice = ToolChoiceMode | NamedTool
"""Which tools the model may or must call."""


class JsonFormat(Record, frozen=True, tag="json", tag_field="type"):
    """The answer has to be a JSON object, of any schema."""


class JsonSchemaFormat(Settings, frozen=True, tag="json_schema", tag_field="type"):
    """The answer has to be JSON that follows a schema.

    Attributes:
        schema: The JSON Schema.
        name: A name for the schema; some providers require one.
        description: What the answer is for, for the model; None if there is none.
        strict: Whether the provider must enforce the schema exactly; None leaves it to the
            provider's default.
    """

    schema: dict[str, JsonValue]
    name: str = "answer"
    description: str | None = None
    strict: bool | None = None


ResponseFormat = JsonFormat | JsonSchemaFormat
"""The format of the answer's text."""


class Timeouts(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """How long to wait for a model, in seconds; None means no limit.

    Attributes:
        connect_s: Until the connection is made.
        first_byte_s: From the request to the first byte of the response.
        idle_s: Between two reads of a streamed response; a provider's pings count as data.
        no_content_s: Between two pieces of content; pings do not count.
        total_s: For the whole call.
    """

    connect_s: float | None = 10.0
    first_byte_s: float | None = 600.0
    idle_s: float | None = 60.0
    no_content_s: float | None = None
    total_s: float | None = None


class ModelOptions(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """How the model should answer, in terms that are the same for all providers.

    None leaves an option to the provider's default.

    Attributes:
        thinking: How much the model should reason.
        max_output_tokens: The most tokens that the answer may have, including reasoning.
        temperature: The sampling temperature.
        top_p: The probability mass that nucleus sampling considers.
        seed: The seed for sampling, where the provider supports one.
        stop_sequences: Texts at which the model stops; often empty.
        tool_choice: Which tools the model may or must call.
        parallel_tool_calls: Whether the model may call several tools at once.
        response_format: The format of the answer's text; None is free text.
        cache: What the provider should cache; None leaves caching to the provider.
        timeouts: How long to wait.
        extra: Fields of one protocol, by the protocol's name: `{"openai_chat": {"n": 2}}` is merged
            last into the body that `openai_chat` sends; other protocols ignore it.

    Raises:
        TypeError: The fields in `extra` are not under the name of a protocol.
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
        super().__post_init__()
        for api, fields in self.extra.items():
            if not isinstance(fields, dict):
                raise TypeError(
                    f"extra[{api!r}] is not an object; put extra fields under the name of their "
                    f"protocol, as in {{'openai_chat': {{{api!r}: …}}}}"
                )


class ModelRequest(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """One request to a model.

    Attributes:
        model: The model's id at its provider.
        items: The history, oldest first. Any history is allowed: the projection makes it valid.
        tools: The tools that the model may call, in a stable order, because providers cache by
            prefix; may be empty.
        options: How the model should answer.
        streamed: Whether the provider should stream the response.
        session_id: The session that makes the request; None outside a session.
        turn_id: The turn that makes the request; None outside a session.
        metadata: For code that handles the request before it is sent; it is not sent.
    """

    model: str
    items: Sequence[Item] = ()
    tools: tuple[ToolSpec, ...] = ()
    options: ModelOptions = ModelOptions()
    streamed: bool = True
    session_id: SessionId | None = None
    turn_id: TurnId | None = None
    metadata: MetadataMap = field(default_factory=dict)
