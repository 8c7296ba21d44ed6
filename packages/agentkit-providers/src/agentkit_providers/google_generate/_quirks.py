"""How an endpoint's or a model's generateContent differs from Google's newest: data, no code.

Where nothing is said, the model's name decides (`_models`); a catalogue may know better.
"""

from __future__ import annotations

from msgspec import Struct, field

from agentkit_core import Modality, ThinkingLevel


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one endpoint or model wants and does in its own way.

    Attributes:
        media: Modalities that user contents may hold; empty for text-only models (Gemma 2).
        files: Whether documents can be sent. False: text-only models.
        tool_media: Whether images and documents may stand inside a function's response; else they
            follow in a user content. None asks the model's name: Gemini 1 and 2 cannot.
        call_ids: Whether calls that others made are sent with ids. True: models of others behind
            this protocol (Claude, gpt-oss). Ids that the vendor gave go back to it in any case.
        imported_call_signature: What stands for the thought signature of a turn's calls that
            another model made, or that came without their origin; sent to Gemini 3 and newer, which
            refuse such calls otherwise.
        json_schema: Whether schemas are sent as JSON Schema; else in the dialect of OpenAPI 3.0,
            without references. False: gateways and old Vertex endpoints that know no
            `parametersJsonSchema`.
        thinking_level_map: Another word for a level, sent as `thinkingLevel`; or None where a model
            does not have it, for all of them where it cannot think. `xhigh` and `max` are had only
            where they are named.
        thinking_budgets: Tokens for a level, sent as `thinkingBudget`, in place of the model's own.
    """

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE, Modality.AUDIO, Modality.VIDEO})
    files: bool = True
    tool_media: bool | None = None

    # Functions.
    call_ids: bool = False
    imported_call_signature: str | None = "skip_thought_signature_validator"
    json_schema: bool = True

    # Thinking.
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    thinking_budgets: dict[ThinkingLevel, int] = field(default_factory=dict)
