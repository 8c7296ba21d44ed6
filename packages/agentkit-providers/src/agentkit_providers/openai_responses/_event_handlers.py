"""What the events of a stream mean for the answer; those of other types are let by.

A delta that is no text, or an item that is no object, says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from agentkit_core.provider import ModelEvent
from agentkit_providers.openai_responses._decode_parts import Answer
from agentkit_providers.openai_responses._wire_events import TEXT_DELTA, Event


def _text(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        answer.take_text(event.output_index, event.content_index, event.delta, out)


def _refusal(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        answer.take_refusal(event.output_index, event.content_index, event.delta, out)


def _reasoning(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        answer.take_reasoning(event.output_index, event.delta, out)


def _arguments(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        answer.take_arguments(event.output_index, event.delta, out)


def _input(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.delta, str):
        answer.take_input(event.output_index, event.delta, out)


def _rest_of_text(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.text, str):
        answer.take_all_text(event.output_index, event.content_index, event.text, out)


def _rest_of_arguments(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.arguments, str):
        answer.take_all_arguments(event.output_index, event.arguments, out)


def _annotation(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    answer.take_annotation(event.output_index, event.content_index, event.annotation)


def _item_added(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.item, dict):
        answer.add_item(event.output_index, event.item, out)


def _item_done(answer: Answer, event: Event, out: list[ModelEvent]) -> None:
    if isinstance(event.item, dict):
        answer.finish_item(event.output_index, event.item, out)


HANDLERS: Final[Mapping[str, Callable[[Answer, Event, list[ModelEvent]], None]]] = {
    "response.output_item.added": _item_added,
    "response.output_item.done": _item_done,
    TEXT_DELTA: _text,
    "response.output_text.done": _rest_of_text,
    "response.output_text.annotation.added": _annotation,
    "response.refusal.delta": _refusal,
    "response.reasoning_summary_text.delta": _reasoning,
    "response.reasoning_text.delta": _reasoning,
    "response.reasoning.delta": _reasoning,
    "response.function_call_arguments.delta": _arguments,
    "response.function_call_arguments.done": _rest_of_arguments,
    "response.custom_tool_call_input.delta": _input,
}
"""Types of events to what they do to the answer."""
