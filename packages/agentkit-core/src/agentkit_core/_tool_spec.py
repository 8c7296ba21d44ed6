"""What a model is told of a tool."""

from __future__ import annotations

from msgspec import field

from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core.values import Record


class ToolAnnotations(Record, frozen=True, omit_defaults=True):
    """What a tool says of itself. Never sent to a model; policies, loops and resumption read it.

    Attributes:
        read_only: It changes nothing.
        destructive: It may destroy what cannot be brought back.
        idempotent: Running it twice with the same arguments does no more than running it once.
        needs_approval: Someone must agree before it runs.
        exclusive: No other call of its round may run beside it; what is in the background already
            may.
        timeout_s: How long a call may run, in seconds; None means as long as it likes.
        detach_after_s: After how many seconds a call goes on in the background; 0 means at once,
            None never.
    """

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    needs_approval: bool = False
    exclusive: bool = False
    timeout_s: float | None = None
    detach_after_s: float | None = None


class ToolSpec(Record, frozen=True, omit_defaults=True):
    """A tool as it is offered to a model: name, what it is for, what it takes.

    Attributes:
        name: `[A-Za-z0-9_-]`, 1 to 64 characters, unique among the tools of a request.
        input_schema: JSON Schema of the arguments, an object.
        output_schema: JSON Schema of the result; for hosts, never sent to a model.
        strict: Whether the provider must follow the schema to the letter; None leaves it to the
            target.
        label: A name for people.
    """

    name: str
    description: str = ""
    input_schema: dict[str, JsonValue] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    output_schema: dict[str, JsonValue] | None = None
    strict: bool | None = None
    annotations: ToolAnnotations = ToolAnnotations()
    label: str | None = None
    metadata: MetadataMap = field(default_factory=dict)
