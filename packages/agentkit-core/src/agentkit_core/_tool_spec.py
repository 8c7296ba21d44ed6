"""The description of a tool: what the model gets, and annotations for policies and the loop."""

from __future__ import annotations

from msgspec import field

from agentkit_core._json import JsonValue
from agentkit_core._metadata import MetadataMap
from agentkit_core.settings import Settings


class ToolAnnotations(Settings, frozen=True, omit_defaults=True):
    """Properties of a tool for policies and the loop. They are never sent to a model.

    Attributes:
        read_only: Whether the tool changes nothing.
        destructive: Whether the tool may destroy something that cannot be restored.
        idempotent: Whether running it twice with the same arguments has the effect of running it
            once.
        needs_approval: Whether a person must approve each call.
        exclusive: Whether no other call of the same round may run at the same time; calls that
            are in the background already may.
        timeout_s: How long a call may run, in seconds; None means no limit.
        detach_after_s: After how many seconds a call continues in the background; 0 means
            immediately, None never.
    """

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    needs_approval: bool = False
    exclusive: bool = False
    timeout_s: float | None = None
    detach_after_s: float | None = None


class ToolSpec(Settings, frozen=True, omit_defaults=True):
    """A tool as it is described to a model: its name, its purpose and its arguments.

    Attributes:
        name: 1 to 64 characters of `A-Za-z0-9_-`, unique among the tools of a request. What a
            vendor refuses, of these or of other names, the projections of agentkit-providers
            replace in requests and restore in answers.
        description: What the tool does and when to use it, for the model; may be empty.
        input_schema: The JSON Schema of the arguments, of type object.
        output_schema: The JSON Schema of the result, for hosts; it is never sent to a model. None
            if there is none.
        strict: Whether the provider must enforce the schema exactly; None leaves it to the
            provider's default.
        annotations: Properties for policies and the loop; never sent to a model.
        label: A name for people; None if there is none.
        metadata: Data that owners attach, by namespaced key; often empty.
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
