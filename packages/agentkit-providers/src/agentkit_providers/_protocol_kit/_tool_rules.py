"""Rules about tools that are alike in several protocols."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import lru_cache, partial
from operator import is_
from typing import Any, NamedTuple

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
from agentkit_providers._protocol_kit._kept_facts import KeptFacts
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._schema_dialects import strict_or_same
from agentkit_providers._protocol_kit._tool_schemas import NotAnObject, object_schema
from agentkit_providers._protocol_kit._typed_schemas import typed_schema
from agentkit_providers._protocol_kit._unsupported import requires_call

StrictForm = Callable[[Mapping[str, JsonValue]], Mapping[str, JsonValue] | None]
"""Writes a schema in a vendor's strict dialect; None where it has no such form."""


class _Fitted(NamedTuple):
    """The tools of a request as they can be sent.

    Attributes:
        tools: The tools; the same object where nothing changed.
        notes: Tools that are left out or changed, and why.
    """

    tools: tuple[ToolSpec, ...]
    notes: tuple[tuple[ToolSpec, str], ...] = ()


def fit_tool_schemas(draft: Draft, traits: ModelTraits) -> None:
    """Write the schemas of tools as objects; leave out tools of which that is not possible.

    Raises:
        UnsupportedContent: The request requires a call of a tool that has to be left out.
    """
    # A list could change, so it is not known again.
    tools, kept = tuple(draft.request.tools), draft.kept
    dialect = ("object", traits.typed_schemas)
    fitted = kept.of(tools, dialect, lambda: _as_objects(tools, traits, kept))
    for tool, reason in fitted.notes:
        _leave_out(draft, tool, reason, traits.target)
    if fitted.tools is not tools:
        draft.set_tools(fitted.tools)


def _as_objects(tools: tuple[ToolSpec, ...], traits: ModelTraits, kept: KeptFacts) -> _Fitted:
    typed = traits.typed_schemas
    fitted: list[ToolSpec] = []
    left_out: list[tuple[ToolSpec, str]] = []
    for tool in tools:
        made = kept.of(tool, ("object", typed), partial(_as_object, tool, typed=typed))
        if isinstance(made, str):
            left_out.append((tool, made))
        else:
            fitted.append(made)
    same = len(fitted) == len(tools) and all(map(is_, fitted, tools))
    return _Fitted(tools if same else tuple(fitted), tuple(left_out))


def _as_object(tool: ToolSpec, *, typed: bool) -> ToolSpec | str:
    """Write a tool's schema as an object's; the reason where that is not possible."""
    try:
        schema: Any = object_schema(tool.input_schema)
    except (NotAnObject, RecursionError) as error:
        return str(error)
    if typed:
        schema = typed_schema(schema)
    return tool if schema is tool.input_schema else replace(tool, input_schema=schema)


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
    if traits.strict_tools:
        fit_strictness(draft, "strict", strict_or_same)
    else:
        fit_strictness(draft, "not strict", None)


def fit_strictness(draft: Draft, dialect: Hashable, form: StrictForm | None) -> None:
    """Write strict tools in a strict dialect, or send them without `strict`, and note that.

    Args:
        draft: The draft.
        dialect: The dialect's name, with everything else that the form of a schema depends on.
        form: Writes a schema in the dialect; None where the vendor has no strict tools.
    """
    tools = tuple(draft.request.tools)
    fitted = draft.kept.of(tools, dialect, lambda: _as_strict(tools, form))
    for tool, reason in fitted.notes:
        draft.note(f"strict of the tool {tool.name!r}", True, None, reason)
    if fitted.tools is not tools:
        draft.set_tools(fitted.tools)


def _as_strict(tools: tuple[ToolSpec, ...], form: StrictForm | None) -> _Fitted:
    if not any(tool.strict for tool in tools):
        return _Fitted(tools)
    fitted: list[ToolSpec] = []
    changed: list[tuple[ToolSpec, str]] = []
    for tool in tools:
        if tool.strict:
            schema = None if form is None else form(tool.input_schema)
            if schema is None:
                reason = "the vendor has no strict tools"
                if form is not None:
                    reason = "its schema is open, or has what strict mode does not have"
                changed.append((tool, reason))
                tool = replace(tool, strict=None)
            elif schema != tool.input_schema:
                tool = replace(tool, input_schema=dict(schema))
        fitted.append(tool)
    return _Fitted(tuple(fitted), tuple(changed))


def fit_tools_of_history(draft: Draft, traits: ModelTraits) -> None:
    """Offer the tools that the history calls, with calls forbidden, where the host wants tools."""
    request, options = draft.request, draft.options
    if request.tools or requires_call(options.tool_choice) or not traits.tools_of_history:
        return
    if "tools" in options.extra.get(traits.target.api, {}):
        return
    names = dict.fromkeys(call.name for item in draft.history for call in item.tool_calls)
    if names:
        draft.set_tools(map(_placeholder, names))
        draft.set_options(tool_choice=ToolChoiceMode.NONE, parallel_tool_calls=None)
        draft.note("tools", None, list(names), "the host wants tools where the history has calls")


@lru_cache(maxsize=256)
def _placeholder(name: str) -> ToolSpec:
    return ToolSpec(name, "A tool of an earlier request. Do not call it.")
