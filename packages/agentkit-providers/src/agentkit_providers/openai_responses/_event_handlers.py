"""What each event of a stream does to the parts of the response.

Events of other types are ignored, as are deltas that are not texts and items that are not objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agentkit_core.provider import ModelEvent
from agentkit_providers.openai_responses._decode_parts import ResponseParts
from agentkit_providers.openai_responses._wire_events import TEXT_DELTA, Event


def _text(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        parts.take_text(event.output_index, event.content_index, event.delta, out)


def _refusal(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        parts.take_refusal(event.output_index, event.content_index, event.delta, out)


def _reasoning(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        parts.take_reasoning(event.output_index, event.delta, out)


def _arguments(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        parts.take_arguments(event.output_index, event.delta, out)


def _input(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        parts.take_input(event.output_index, event.delta, out)


def _text_done(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.text, str):
        parts.complete_text(event.output_index, event.content_index, event.text, out)


def _arguments_done(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.arguments, str):
        parts.complete_arguments(event.output_index, event.arguments, out)


def _annotation(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    parts.take_annotation(event.output_index, event.content_index, event.annotation)


def _item_added(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.item, dict):
        parts.begin_item(event.output_index, event.item, out)


def _item_done(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.item, dict):
        parts.finish_item(event.output_index, event.item, out)


Handler = Callable[[ResponseParts, Event, list[ModelEvent]], None]


def _of(kind: str, handle: Handler) -> Handler:
    """The handler for deltas of one type of item; it passes over those that belong to nothing."""

    def take(parts: ResponseParts, event: Event, out: list[ModelEvent]) -> None:
        if parts.expects(event.output_index, kind):
            handle(parts, event, out)

    return take


_ANNOUNCING: Final = frozenset({"response.output_item.added", "response.output_item.done"})


def is_early(event: Event, parts: ResponseParts) -> bool:
    """Whether a delta may belong to nothing, which shows once the server announces an item.

    A server that announces none counts its items from 0, one after the other.
    """
    if parts.items.announced or event.type in _ANNOUNCING:
        return False
    return event.output_index is not None and event.output_index > len(parts.items.all)


HANDLERS: Final[Mapping[str, Handler]] = {
    "response.output_item.added": _item_added,
    "response.output_item.done": _item_done,
    TEXT_DELTA: _of("message", _text),
    "response.output_text.done": _of("message", _text_done),
    "response.output_text.annotation.added": _of("message", _annotation),
    "response.refusal.delta": _of("message", _refusal),
    "response.reasoning_summary_text.delta": _of("reasoning", _reasoning),
    "response.reasoning_text.delta": _of("reasoning", _reasoning),
    "response.reasoning.delta": _of("reasoning", _reasoning),
    "response.function_call_arguments.delta": _of("function_call", _arguments),
    "response.function_call_arguments.done": _of("function_call", _arguments_done),
    "response.custom_tool_call_input.delta": _of("custom_tool_call", _input),
}
"""Types of events to what they do to the parts."""
