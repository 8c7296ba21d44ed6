"""How an endpoint's or a model's generateContent differs from Google's newest: data, no code.

Where a quirk is None, the model's name decides (`_models`).
"""

from __future__ import annotations

from msgspec import Struct, field

from agentkit_core import Modality, ThinkingLevel


class Quirks(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one endpoint or model differs from Google's newest.

    Attributes:
        media: Modalities that user contents may hold; empty for text-only models (Gemma 2).
        image_types: The MIME types of images that are read; others are left out, with a text that
            says so.
        files: Whether documents can be sent. False: text-only models.
        tool_media: Whether a function's response may hold images and documents; else they follow in
            a user content. None goes by the model's name: not in Gemini 1 and 2.
        call_ids: Whether calls that other models made are sent with ids. True: models of other
            vendors behind this protocol (Claude, gpt-oss). The vendor's own ids always go back.
        imported_call_signature: What is sent as the thought signature of a turn's calls that
            another model made, or whose origin is unknown. Sent to Gemini 3 and newer, which refuse
            calls without a signature.
        json_schema: Whether schemas are sent as JSON Schema; else in the dialect of OpenAPI 3.0,
            without references. False: gateways and old Vertex endpoints that know no
            `parametersJsonSchema`.
        json_with_tools: Whether a request may have tools and a response format. None goes by the
            model's name: not before Gemini 3.
        max_output_tokens: The most that the model puts out; a higher limit is lowered to it. None
            where it is not known.
        thinking_level_map: Another word for a level, sent as `thinkingLevel`; or None for a level
            that the model does not have (all of them, if it cannot think). The model has `xhigh`
            and `max` only if they are in the map.
        thinking_budgets: Tokens for a level, sent as `thinkingBudget`, instead of the model's own.
    """

    # What content it takes.
    media: frozenset[Modality] = frozenset({Modality.IMAGE, Modality.AUDIO, Modality.VIDEO})
    image_types: frozenset[str] = frozenset(
        {"image/jpeg", "image/png", "image/webp", "image/heic", "image/heif"}
    )
    files: bool = True
    tool_media: bool | None = None

    # Functions.
    call_ids: bool = False
    imported_call_signature: str | None = "skip_thought_signature_validator"
    json_schema: bool = True
    json_with_tools: bool | None = None

    # Limits.
    max_output_tokens: int | None = None

    # Thinking.
    thinking_level_map: dict[ThinkingLevel, str | None] = field(default_factory=dict)
    thinking_budgets: dict[ThinkingLevel, int] = field(default_factory=dict)
