"""Laws of the fold: cuts do not matter, looking does no harm, work grows with the deltas."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import InlineBytes, JsonValue, Media, Modality, Part, Text, ToolCall, ToolCallId
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    DeltaOutOfOrder,
    Fold,
    PartId,
    SetMetadata,
    fold,
)
from support.deltas import any_deltas, fitting_deltas, opening_parts
from support.operations import operations

P = PartId("p")
CALL = ToolCall(ToolCallId("c1"), "look")
SOUND = Media(Modality.AUDIO, "audio/wav", InlineBytes(b""))
TEXT = Text("")


def begun(part: Part, *rest: Delta) -> list[Delta]:
    return [BeginPart(P, part), *rest]


@given(any_deltas())
def test_what_a_strict_fold_refuses_leaves_it_as_it_was(deltas: list[Delta]) -> None:
    folding, accepted = Fold(), list[Delta]()
    for delta in deltas:
        before = folding.partial()
        try:
            folding.feed(delta)
        except DeltaOutOfOrder:
            assert folding.partial() == before
        else:
            accepted.append(delta)

    assert folding.finish() == fold(accepted)


@given(fitting_deltas())
def test_strict_and_lenient_agree_on_what_fits(deltas: list[Delta]) -> None:
    assert fold(deltas) == fold(deltas, strict=False)


@given(any_deltas())
def test_a_lenient_fold_never_raises_and_can_be_asked_at_any_moment(deltas: list[Delta]) -> None:
    folding = Fold(strict=False)
    for delta in deltas:
        folding.feed(delta)
        folding.partial()
        folding.finish(cut=True)
        folding.keepable()

    assert folding.finish() == fold(deltas, strict=False)
    assert folding.has_parts == bool(folding.partial())


def cut(delta: Delta, at: int) -> list[Delta]:
    match delta:
        case AppendText(part_id=part_id, chunk=chunk):
            return [AppendText(part_id, chunk[:at]), AppendText(part_id, chunk[at:])]
        case AppendBytes(part_id=part_id, chunk=chunk):
            return [AppendBytes(part_id, chunk[:at]), AppendBytes(part_id, chunk[at:])]
        case _:
            return [delta]


@given(fitting_deltas(), st.lists(st.integers(0, 20), min_size=12))
def test_c14_where_text_and_bytes_are_cut_does_not_matter(
    deltas: list[Delta], places: list[int]
) -> None:
    finer = [value for delta, at in zip(deltas, places, strict=False) for value in cut(delta, at)]

    assert fold(finer) == fold(deltas)


@given(fitting_deltas())
def test_looking_at_the_parts_so_far_does_not_change_them(deltas: list[Delta]) -> None:
    folding = Fold()
    for delta in deltas:
        folding.feed(delta)
        received = folding.partial()
        assert folding.partial() == received

    assert folding.finish() == fold(deltas)


@given(fitting_deltas())
def test_what_was_seen_earlier_is_not_changed_afterwards(deltas: list[Delta]) -> None:
    folding, received = Fold(), list[tuple[tuple[Part, ...], str]]()
    for delta in deltas:
        folding.feed(delta)
        received.append((folding.partial(), repr(folding.partial())))

    assert [repr(parts) for parts, _ in received] == [spelled for _, spelled in received]


class CountedText(str):
    """A text that counts how many of its characters are joined to others."""

    __slots__ = ()
    added = 0

    def __add__(self, other: str) -> str:
        CountedText.added += len(self) + len(other)
        return CountedText(str.__add__(self, other))

    __iadd__ = __add__


@pytest.mark.parametrize("kind", ["text", "bytes", "arguments", "metadata", "parts"])
def test_the_work_of_a_fold_grows_with_its_deltas_and_no_faster(kind: str) -> None:
    def stream(length: int) -> list[Delta]:
        match kind:
            case "text":
                return begun(TEXT, *(AppendText(P, CountedText("chunk ")) for _ in range(length)))
            case "bytes":
                return begun(SOUND, *(AppendBytes(P, b"chunk ") for _ in range(length)))
            case "arguments":
                middle = (AppendText(P, '"abc",') for _ in range(length))
                return begun(CALL, AppendText(P, '{"a":['), *middle, AppendText(P, "1]}"))
            case "parts":
                return [BeginPart(PartId(f"p{n}"), TEXT) for n in range(length)]
            case _:
                return begun(TEXT, *(SetMetadata(P, {f"a.{n}": n}) for n in range(length)))

    few, many = stream(2_000), stream(20_000)
    CountedText.added = 0

    assert operations(lambda: fold(many)) <= 10 * operations(lambda: fold(few)) + 100
    assert CountedText.added == 0, "text is joined once, at the end, not added up"


@pytest.mark.parametrize("kind", ["text after parts", "parts", "open parts", "arguments"])
def test_the_work_of_looking_after_every_delta_grows_with_the_deltas_and_no_faster(
    kind: str,
) -> None:
    def stream(length: int) -> list[Delta]:
        ids = [PartId(f"p{n}") for n in range(length)]
        opened: list[Delta] = [
            delta for at in ids for delta in (BeginPart(at, TEXT), AppendText(at, "x"))
        ]
        match kind:
            case "text after parts":
                texts = [AppendText(P, "chunk ") for _ in range(length)]
                return [*(CommitPart(Text("x")) for _ in ids), *begun(TEXT, *texts)]
            case "parts":
                return [*opened, *(CommitPart(Text("x"), at) for at in ids)]
            case "open parts":
                return opened
            case _:
                middle = (AppendText(P, '"abc",') for _ in range(length))
                return begun(CALL, AppendText(P, '{"a":['), *middle, AppendText(P, "1]}"))

    def look(deltas: list[Delta]) -> None:
        folding = Fold()
        for delta in deltas:
            folding.feed(delta)
            folding.partial()

    few, many = stream(200), stream(2_000)

    assert operations(lambda: look(many)) <= 13 * operations(lambda: look(few))


def test_metadata_that_have_not_changed_are_not_copied_at_every_look() -> None:
    folding = Fold()
    folding.feed(BeginPart(P, TEXT))
    folding.feed(SetMetadata(P, {"a.a": 1}))
    (before,) = folding.partial()
    folding.feed(AppendText(P, "x"))
    (after,) = folding.partial()
    folding.feed(SetMetadata(P, {"a.a": 2}))

    assert after.metadata is before.metadata
    assert before.metadata == {"a.a": 1}
    assert folding.partial()[0].metadata == folding.finish()[0].metadata == {"a.a": 2}


@given(st.lists(st.text(max_size=3), min_size=1), st.integers(0, 2))
def test_a_long_text_that_is_looked_at_keeps_all_of_it(chunks: list[str], kept: int) -> None:
    folding, sent, seen = Fold(), "long " * 2_000, list[Part]()
    for delta in begun(TEXT, AppendText(P, sent)):
        folding.feed(delta)
    for chunk in chunks:
        folding.feed(AppendText(P, chunk))
        sent += chunk
        seen = [*seen[len(seen) - kept :], *folding.partial()]
        assert seen[-1] == Text(sent)

    assert folding.finish() == (Text(sent),)


def test_metadata_is_not_copied_at_every_delta() -> None:
    class Counted(dict[str, JsonValue]):
        reads = 0

        def keys(self) -> Any:
            Counted.reads += len(self)
            return super().keys()

        def items(self) -> Any:
            Counted.reads += len(self)
            return super().items()

    steps = [SetMetadata(P, Counted({f"a.{n}": n})) for n in range(3_000)]
    (part,) = fold(begun(TEXT, *steps))

    assert len(part.metadata) == 3_000
    assert Counted.reads <= 2 * 3_000


@given(opening_parts())
def test_a_part_that_nothing_is_added_to_is_given_as_it_began(part: Part) -> None:
    assert fold(begun(part)) == (part,)
