"""Streams of deltas: those that fit, and those that no decoder should produce."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agentkit_core import (
    Custom,
    File,
    InlineBytes,
    JsonValue,
    Media,
    Modality,
    Part,
    Reasoning,
    Structured,
    Text,
    ToolCall,
    ToolCallId,
)
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    PartId,
    ReplaceStructured,
    SetMetadata,
)
from support.json_values import json_objects, json_values, texts

TAKES_TEXT = (Text, Reasoning, ToolCall)
TAKES_BYTES = (Media, File, Reasoning, Custom)
TAKES_VALUES = (Structured, Custom, ToolCall)


@cache
def opening_parts() -> SearchStrategy[Part]:
    """Parts as they are when they begin."""
    empty = InlineBytes(b"")
    return st.sampled_from(
        [
            Text(""),
            Reasoning(),
            ToolCall(ToolCallId("c1"), "look"),
            Media(Modality.AUDIO, "audio/wav", empty),
            File(empty, "text/plain", "a.txt"),
            Structured(None),
            Custom("app.note"),
        ]
    )


VALUES: list[JsonValue] = [None, 1, [2]]
METADATA = st.dictionaries(st.sampled_from(["a.b", "a.c"]), st.sampled_from(VALUES))
CHUNKS = st.one_of(texts(), st.sampled_from(['{"a":', '{"', "1}", '"x"']))


@st.composite
def fitting_deltas(draw: st.DrawFn, max_size: int = 12) -> list[Delta]:
    """A stream that folds strictly: parts by turns, some committed, some left open."""
    opened: dict[PartId, Part] = {}
    stream: list[Delta] = []
    for number in range(draw(st.integers(0, max_size))):
        way = draw(st.sampled_from(["begin", "whole", "commit", "grow", "grow", "grow", "grow"]))
        if way == "whole":
            stream.append(CommitPart(Text(draw(texts()))))
        elif way == "begin" or not opened:
            part_id = PartId(f"p{number}")
            opened[part_id] = draw(opening_parts())
            stream.append(BeginPart(part_id, opened[part_id]))
        else:
            part_id = draw(st.sampled_from(sorted(opened)))
            if way == "commit":
                stream.append(CommitPart(opened.pop(part_id), part_id))
            else:
                stream.append(_growth(draw, part_id, opened[part_id]))
    return stream


def _growth(draw: st.DrawFn, part_id: PartId, part: Part) -> Delta:
    ways = ["metadata"]
    ways += ["text"] * isinstance(part, TAKES_TEXT)
    ways += ["bytes"] * isinstance(part, TAKES_BYTES)
    ways += ["value"] * isinstance(part, TAKES_VALUES)
    match draw(st.sampled_from(ways)):
        case "text":
            return AppendText(part_id, draw(CHUNKS))
        case "bytes":
            return AppendBytes(part_id, draw(st.binary(max_size=5)))
        case "value":
            values = json_objects() if isinstance(part, ToolCall) else json_values()
            return ReplaceStructured(part_id, draw(values))
        case _:
            return SetMetadata(part_id, draw(METADATA))


@cache
def any_deltas() -> SearchStrategy[list[Delta]]:
    """Any stream at all: ids that are unknown, repeated or closed, kinds that do not match."""
    part_ids = st.sampled_from(["p0", "p1", "p2"]).map(PartId)
    any_delta: SearchStrategy[Delta] = st.one_of(
        st.builds(BeginPart, part_ids, opening_parts()),
        st.builds(AppendText, part_ids, texts()),
        st.builds(AppendBytes, part_ids, st.binary(max_size=5)),
        st.builds(ReplaceStructured, part_ids, json_values()),
        st.builds(SetMetadata, part_ids, json_objects()),
        st.builds(CommitPart, opening_parts(), st.none() | part_ids),
    )
    return st.lists(any_delta, max_size=12)
