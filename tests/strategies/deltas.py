"""Streams of deltas: such as fit, and such as no decoder should give."""

from dataclasses import dataclass, field

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agentkit_core import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Custom,
    Delta,
    File,
    InlineBytes,
    Media,
    Modality,
    Part,
    PartId,
    Reasoning,
    ReplaceStructured,
    SetMetadata,
    Structured,
    Text,
    ToolCall,
    ToolCallId,
)
from strategies.json_values import json_objects, json_values, texts

TAKES_TEXT = (Text, Reasoning, ToolCall)
TAKES_BYTES = (Media, File, Reasoning, Custom)
TAKES_VALUES = (Structured, Custom, ToolCall)


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


@dataclass
class _Parts:
    opened: dict[PartId, Part] = field(default_factory=dict)
    begun: int = 0


@st.composite
def fitting_deltas(draw: st.DrawFn, max_size: int = 12) -> list[Delta]:
    """A stream that folds strictly: parts by turns, some committed, some left open."""
    parts, stream = _Parts(), list[Delta]()
    for _ in range(draw(st.integers(0, max_size))):
        stream.append(draw(_next_delta(parts)))
    return stream


@st.composite
def _next_delta(draw: st.DrawFn, parts: _Parts) -> Delta:
    if not parts.opened or draw(st.integers(0, 3)) == 0:
        if draw(st.integers(0, 4)) == 0:
            return CommitPart(Text(draw(texts())))
        part_id, part = PartId(f"p{parts.begun}"), draw(opening_parts())
        parts.begun += 1
        parts.opened[part_id] = part
        return BeginPart(part_id, part)
    part_id = draw(st.sampled_from(sorted(parts.opened)))
    part = parts.opened[part_id]
    ways: list[SearchStrategy[Delta]] = [
        st.builds(SetMetadata, st.just(part_id), json_objects(st.sampled_from(["a.b", "a.c"])))
    ]
    if isinstance(part, TAKES_TEXT):
        chunk = st.one_of(texts(), st.sampled_from(['{"a":', '{"', "1}", '"x"']))
        ways.append(st.builds(AppendText, st.just(part_id), chunk))
    if isinstance(part, TAKES_BYTES):
        ways.append(st.builds(AppendBytes, st.just(part_id), st.binary(max_size=5)))
    if isinstance(part, TAKES_VALUES):
        values = json_objects() if isinstance(part, ToolCall) else json_values()
        ways.append(st.builds(ReplaceStructured, st.just(part_id), values))
    if draw(st.integers(0, 5)) == 0:
        del parts.opened[part_id]
        return CommitPart(part, part_id)
    return draw(st.one_of(ways))


def any_deltas() -> SearchStrategy[list[Delta]]:
    """Any stream at all: ids that are unknown, repeated or closed, kinds that do not match."""
    part_ids = st.sampled_from(["p0", "p1", "p2"]).map(PartId)
    one: SearchStrategy[Delta] = st.one_of(
        st.builds(BeginPart, part_ids, opening_parts()),
        st.builds(AppendText, part_ids, texts()),
        st.builds(AppendBytes, part_ids, st.binary(max_size=5)),
        st.builds(ReplaceStructured, part_ids, json_values()),
        st.builds(SetMetadata, part_ids, json_objects()),
        st.builds(CommitPart, opening_parts(), st.none() | part_ids),
    )
    return st.lists(one, max_size=12)
