"""What a model is told of a tool."""

from __future__ import annotations

from msgspec import Struct, field

from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap


class ToolAnnotations(Struct, frozen=True, omit_defaults=True):
    """What a tool says of itself. Never sent to a model; policies, loops and resumption read it."""

    read_only: bool = False
    """It changes nothing."""
    destructive: bool = False
    """It may destroy what cannot be brought back."""
    idempotent: bool = False
    """Running it twice with the same arguments does no more than running it once."""
    needs_approval: bool = False
    """Someone must agree before it runs."""
    supports_streaming: bool = False
    """It reports progress while it runs."""
    exclusive: bool = False
    """No other call of its round may run beside it; what is in the background already may."""
    timeout_s: float | None = None
    """How long a call may run, in seconds; None means as long as it likes."""
    detach_after_s: float | None = None
    """After how many seconds a call goes on in the background; 0 means at once, None never."""


class ToolSpec(Struct, frozen=True, omit_defaults=True):
    """A tool as it is offered to a model: name, what it is for, what it takes."""

    name: str
    """`[A-Za-z0-9_-]`, 1 to 64 characters, unique among the tools of a request."""
    description: str = ""
    input_schema: dict[str, JsonValue] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """JSON Schema of the arguments, an object."""
    output_schema: dict[str, JsonValue] | None = None
    """JSON Schema of the result; for hosts, never sent to a model."""
    strict: bool | None = None
    """Whether the provider must follow the schema to the letter; None leaves it to the target."""
    annotations: ToolAnnotations = ToolAnnotations()
    label: str | None = None
    """A name for people."""
    metadata: MetadataMap = field(default_factory=dict)
