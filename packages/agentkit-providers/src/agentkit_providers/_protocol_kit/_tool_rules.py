"""Rules about tools that are alike in several protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from agentkit_core import (
    JsonValue,
    NamedTool,
    ToolChoiceMode,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._fitting import Draft
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._schema_dialects import strict_or_same
from agentkit_providers._protocol_kit._tool_schemas import NotAnObject, object_schema
from agentkit_providers._protocol_kit._typed_schemas import typed_schema
from agentkit_providers._protocol_kit._unsupported import requires_call

StrictForm = Callable[[Mapping[str, JsonValue]], Mapping[str, JsonValue] | None]
"""Writes a schema in a vendor's strict dialect; None where it has no such form."""


def fit_tool_schemas(draft: Draft, traits: ModelTraits) -> None:
    """Write the schemas of tools as objects; leave out tools of which that is not possible.

    Raises:
        UnsupportedContent: The request requires a call of a tool that has to be left out.
    """
    tools: list[ToolSpec] = []
    changed = False
    for tool in draft.request.tools:
        try:
            schema: Any = object_schema(tool.input_schema)
        except (NotAnObject, RecursionError) as error:
            changed = True
            _leave_out(draft, tool, str(error), traits.target)
            continue
        if traits.typed_schemas:
            schema = typed_schema(schema)
        if schema is not tool.input_schema:
            changed = True
            tool = replace(tool, input_schema=schema)
        tools.append(tool)
    if changed:
        draft.set_tools(tools)


def _leave_out(draft: Draft, tool: ToolSpec, reason: str, target: Target) -> None:
    choice = draft.options.tool_choice
    if isinstance(choice, NamedTool) and choice.name == tool.name:
        raise UnsupportedContent(
            f"the tool {tool.name!r}, of which a call is required: {reason}",
            target=target.api,
            advice="change the tool's schema, or leave the choice to the model",
        )
    draft.note(f"the tool {tool.name!r}", "offered", None, reason)


def fit_strict_tools(draft: Draft, traits: ModelTraits) -> None:
    """Write strict tools in OpenAI's strict dialect, or send them without `strict`."""
    fit_strictness(draft, strict_or_same if traits.strict_tools else None)


def fit_strictness(draft: Draft, form: StrictForm | None) -> None:
    """Write strict tools in a strict dialect, or send them without `strict`, and note that.

    Args:
        draft: The draft.
        form: Writes a schema in the dialect; None where the vendor has no strict tools.
    """
    if not any(tool.strict for tool in draft.request.tools):
        return
    tools: list[ToolSpec] = []
    for tool in draft.request.tools:
        if tool.strict:
            schema = None if form is None else form(tool.input_schema)
            if schema is None:
                reason = "the vendor has no strict tools"
                if form is not None:
                    reason = "its schema is open, or has what strict mode does not have"
                draft.note(f"strict of the tool {tool.name!r}", True, None, reason)
                tool = replace(tool, strict=None)
            elif schema != tool.input_schema:
                tool = replace(tool, input_schema=dict(schema))
        tools.append(tool)
    draft.set_tools(tools)


def fit_tools_of_history(draft: Draft, traits: ModelTraits) -> None:
    """Offer the tools that the history calls, with calls forbidden, where the host wants tools."""
    request, options = draft.request, draft.options
    if request.tools or requires_call(options.tool_choice) or not traits.tools_of_history:
        return
    if "tools" in options.extra.get(traits.target.api, {}):
        return
    names = dict.fromkeys(call.name for item in traits.history for call in item.tool_calls)
    if names:
        draft.set_tools(map(_placeholder, names))
        draft.set_options(tool_choice=ToolChoiceMode.NONE, parallel_tool_calls=None)
        draft.note("tools", None, list(names), "the host wants tools where the history has calls")


@lru_cache(maxsize=256)
def _placeholder(name: str) -> ToolSpec:
    return ToolSpec(name, "A tool of an earlier request. Do not call it.")
