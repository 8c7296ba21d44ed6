"""Recorded histories against the rules that `sendable` mends.

A history that breaks one is never sent as it was recorded, and should not be. The rules are
looked at one by one, so that `sendable` itself is not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from agentkit_core import (
    DuplicateToolCall,
    DuplicateToolResult,
    Item,
    ItemKind,
    OrphanToolResult,
    PartsOutput,
    Reasoning,
    Text,
    TextOutput,
    ToolResult,
    Transcript,
    TranscriptError,
    UnansweredToolCall,
)
from agentkit_core.provider import Target
from providers.requests.reading import MENDED, NotExpressible

_TRANSCRIPT_RULES: dict[type[TranscriptError], str] = {
    DuplicateToolCall: "two calls have the same id",
    DuplicateToolResult: "a call has two results",
    OrphanToolResult: "a result answers no earlier call",
    UnansweredToolCall: "something else comes before all calls are answered",
}


def refuse_mended(items: Sequence[Item], target: Target) -> None:
    """Check that a history can be sent as it is.

    Raises:
        NotExpressible: It breaks a rule, of transcripts or of the target.
    """
    for broken in broken_rules(items, target):
        raise NotExpressible(MENDED + broken)


def broken_rules(items: Sequence[Item], target: Target) -> Iterator[str]:
    """Which rules a history breaks, in words."""
    try:
        transcript = Transcript(items)
    except TranscriptError as error:
        yield _TRANSCRIPT_RULES[type(error)]
        return
    if transcript.open_calls:
        yield "a call at the end has no result"
    for before, item in pairwise(items):
        if item.kind is ItemKind.TOOL:
            asked = [call.id for call in before.tool_calls]
            if asked != [result.call_id for result in item.tool_results]:
                yield "results are not in the order of their calls, or not in one place"
        elif not target.consecutive_roles and before.kind is item.kind:
            yield "two neighbours have one role, where the vendor wants turns to alternate"
    spoken = [entry for entry in items if entry.kind not in (ItemKind.SYSTEM, ItemKind.DEVELOPER)]
    if target.first_user and spoken and spoken[0].kind is not ItemKind.USER:
        yield "the first turn is not the user's"
    for item in items:
        yield from _broken_in(item, target)


def _broken_in(item: Item, target: Target) -> Iterator[str]:
    if not item.parts:
        yield "an item says nothing"
    for call in item.tool_calls:
        if not target.call_ids.accepts(call.id):
            yield "the vendor's rule for call ids is not kept"
        if not target.tool_names.accepts(call.name):
            yield "the vendor's rule for names of tools is not kept"
    if not target.empty_text and any(map(_blank, item.parts)):
        yield "a text is blank"


def _blank(part: object) -> bool:
    match part:
        case Text(text=text) | ToolResult(output=TextOutput(text=text)):
            return not text.strip()
        case ToolResult(output=PartsOutput(parts=parts)):
            return not parts or any(map(_blank, parts))
        case Reasoning(summary=summary, data=None, metadata=metadata):
            return not (metadata or (summary or "").strip())
        case _:
            return False
