"""An item in the words of the corpus' `expected`, as far as all protocols share them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentkit_core import (
    Custom,
    File,
    Item,
    Media,
    Modality,
    Part,
    Reasoning,
    Text,
    ToolCall,
)


def texts_of(item: Item, *, refusal: bool) -> list[Text]:
    """The texts that are refusals, or that are none."""
    texts = [part for part in item.parts if isinstance(part, Text)]
    return [text for text in texts if is_refusal(text) is refusal]


def is_refusal(text: Text) -> bool:
    """Whether a text says that the model refuses."""
    return any(key.endswith(".refusal") and value for key, value in text.metadata.items())


def reasoning_of(item: Item) -> str | None:
    """The reasoning's text; None where there is none."""
    texts = [part.summary for part in item.parts if isinstance(part, Reasoning) and part.summary]
    return "".join(texts) if texts else None


def annotations_of(item: Item) -> int:
    """How many citations or annotations the texts carry.

    What stands beside the whole answer as `citations` is a list of sources, not of marks.
    """
    beside = [value for key, value in item.metadata.items() if key.endswith(".annotations")]
    on_text = [
        value
        for part in item.parts
        for key, value in part.metadata.items()
        if key.endswith((".annotations", ".citations"))
    ]
    return sum(len(marks) for marks in beside + on_text if isinstance(marks, list))


def expected_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as the corpus expects it; no arguments are an empty object."""
    arguments = call["arguments"]
    return {**call, "arguments": {} if arguments in ("", None) else arguments}


def calls_of(item: Item, expected: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The calls as the corpus writes them; an id that is made up here stands for the wire's own."""
    ids = [call["id"] for call in expected]
    return [
        {
            "id": ids[at] if at < len(ids) and _is_made_up(ids, at) else call.id,
            "name": call.name,
            "arguments": _arguments(call),
        }
        for at, call in enumerate(item.tool_calls)
    ]


def _is_made_up(ids: Sequence[str | None], at: int) -> bool:
    return not ids[at] or ids[at] in ids[:at]


def _arguments(call: ToolCall) -> Any:
    if call.raw_input is None:
        return call.input
    try:
        return json.loads(call.raw_input)
    except ValueError:
        return call.raw_input


def kind_of_part(part: Part) -> str | None:
    """A part's kind in the corpus' words; None for parts that it does not list."""
    match part:
        case Text():
            return ("refusal" if is_refusal(part) else "text") if part.text else None
        case Reasoning():
            return "reasoning" if part.summary else None
        case ToolCall():
            return "tool_call"
        case Media(modality=Modality.IMAGE | Modality.AUDIO):
            return part.modality.value
        case File():
            return "file"
        case Custom(kind=kind):
            name = kind.partition(".")[2]
            return name if name == "reference" else f"other:{name}"
        case _:
            return None


def runs_of(item: Item) -> list[str]:
    """Kinds of part in the order in which they arrived; neighbours of one kind are one."""
    return without_repeats(kind for part in item.parts if (kind := kind_of_part(part)))


def without_repeats(kinds: Iterable[str]) -> list[str]:
    """A list in which no value follows itself."""
    distinct: list[str] = []
    for kind in kinds:
        if not distinct or distinct[-1] != kind:
            distinct.append(kind)
    return distinct
