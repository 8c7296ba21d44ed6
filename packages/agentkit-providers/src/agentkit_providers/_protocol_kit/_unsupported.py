"""The errors for requests that a protocol cannot express, worded alike for all protocols."""

from __future__ import annotations

from collections.abc import Collection

from agentkit_core import ModelRequest, NamedTool, ToolChoice, ToolChoiceMode, UnsupportedContent
from agentkit_core.cache import CacheRequest

_CACHE_ADVICE = "make caching best effort, or leave the marks to the projection"


def check_tool_choice(
    choice: ToolChoice | None, names: Collection[str], api: str, *, vendor_tools: bool = False
) -> None:
    """Refuse a required tool call that the request's tools do not allow.

    Args:
        choice: What the caller asks for.
        names: The names of the tools that the request offers.
        api: The protocol's name.
        vendor_tools: Whether the request also offers tools of the vendor's own, without names.

    Raises:
        UnsupportedContent: A call is required and there are no tools, or not the tool it names.
    """
    if not requires_call(choice):
        return
    if not names and not vendor_tools:
        raise UnsupportedContent(
            "a required tool call without tools",
            target=api,
            advice="offer the tool, or leave the choice to the model",
        )
    if isinstance(choice, NamedTool) and choice.name not in names:
        raise UnsupportedContent(
            f"a required call of {choice.name!r}, which is not among the request's tools",
            target=api,
            advice="offer that tool with the request",
        )


def requires_call(choice: ToolChoice | None) -> bool:
    """Whether the model must call a tool."""
    return choice is ToolChoiceMode.REQUIRED or isinstance(choice, NamedTool)


def tool_names(request: ModelRequest) -> frozenset[str]:
    """The names of the tools that a request offers."""
    return frozenset(tool.name for tool in request.tools)


def unsupported_schema(api: str) -> UnsupportedContent:
    """The error for a response format with a schema, where the vendor takes none."""
    return UnsupportedContent(
        "a response format with a schema",
        target=api,
        advice="ask for JSON and put the schema in the instructions",
    )


def unsupported_cache(
    cache: CacheRequest, api: str, advice: str = _CACHE_ADVICE
) -> UnsupportedContent:
    """The error for caching that is required and not available."""
    what = "cache marks of your own" if cache.marks else "a request for caching"
    return UnsupportedContent(what, target=api, advice=advice)


def unsupported_mark(what: str, api: str) -> UnsupportedContent:
    """The error for a required cache mark that cannot stand where the caller wants it.

    Args:
        what: The mark, or how many marks there are.
        api: The protocol's name.
    """
    return UnsupportedContent(what, target=api, advice=_CACHE_ADVICE)


def unresolved_artifact(artifact_id: str, api: str) -> UnsupportedContent:
    """The error for content that is the id of an artifact instead of its bytes or address."""
    return UnsupportedContent(
        f"the artifact {artifact_id!r}, which is only an id",
        target=api,
        advice="replace it with its bytes or its address first",
    )
