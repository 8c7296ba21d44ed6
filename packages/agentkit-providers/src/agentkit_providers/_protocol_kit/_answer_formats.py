"""Answers in JSON where a request cannot ask for them by a format: it asks for them in words."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import JsonSchemaFormat, to_json
from agentkit_providers._protocol_kit._fitting import Draft
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._schema_dialects import strict_or_same


def ask_in_words(draft: Draft, *, reason: str) -> None:
    """Replace the response format by an instruction, and note that.

    Args:
        draft: The draft, which has a response format.
        reason: Why, for the note.
    """
    wanted = draft.options.response_format
    text = (
        "Write your final answer as JSON, with nothing before and after it, and without a code "
        "fence."
    )
    if isinstance(wanted, JsonSchemaFormat):
        schema = to_json(wanted.schema).decode()
        purpose = f" ({wanted.description})" if wanted.description else ""
        text += f"\nIt has to be valid for this JSON Schema{purpose}:\n{schema}"
    else:
        text += "\nIt has to be a JSON object."
    draft.instructions.append(text)
    draft.set_options(response_format=None)
    kind = "json_schema" if isinstance(wanted, JsonSchemaFormat) else "json"
    draft.note("response_format", kind, "instructions", reason)


def fit_format_with_tools(draft: Draft, traits: ModelTraits) -> None:
    """Ask in words for JSON where the request has tools and the model does not take both."""
    if draft.options.response_format is None or traits.json_with_tools:
        return
    if draft.request.tools or "tools" in draft.options.extra.get(traits.target.api, {}):
        ask_in_words(draft, reason="the model takes no such format together with tools")


def fit_strict_answer(draft: Draft, *, strict_mode: bool) -> None:
    """Ask for an answer without `strict` where the schema has no strict form, and note that.

    Args:
        draft: The draft, whose response format has a schema.
        strict_mode: Whether the vendor knows `strict`.
    """
    wanted = draft.options.response_format
    if not isinstance(wanted, JsonSchemaFormat) or not wanted.strict:
        return
    reason = "the vendor has no strict mode"
    if strict_mode:
        schema = strict_or_same(wanted.schema, optional_as_null=False)
        if schema is not None:
            if schema != wanted.schema:
                draft.set_options(response_format=replace(wanted, schema=dict(schema)))
            return
        reason = "the schema is open, or has what strict mode does not have"
    draft.set_options(response_format=replace(wanted, strict=None))
    draft.note("response_format.strict", True, None, reason)
