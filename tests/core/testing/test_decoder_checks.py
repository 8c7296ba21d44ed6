"""The checks of decoders pass what is good and catch what is not."""

from collections.abc import Callable

import pytest

from agentkit_core import (
    FinishReason,
    Text,
)
from agentkit_core.provider import (
    AppendText,
    BeginPart,
    CommitPart,
    ModelEvent,
    ResponseDecoder,
    ResponseFinished,
)
from agentkit_core.testing import (
    check_decoder,
    decode_chunks,
)
from support.line_protocol import BODY, CUT, Lines, P


class DecodesEachChunk(Lines):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return (*super().feed(b""), CommitPart(Text(str(len(chunk))))) if chunk else ()

    def finish(self) -> tuple[ModelEvent, ...]:
        return (CUT,) if not self.closed and self.close() else ()

    def close(self) -> bool:
        self.closed = True
        return True


class SplitsCharacters(Lines):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return super().feed(chunk.decode("utf-8", "replace").encode())


class Raises(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        if self.held:
            raise ValueError("half a line")
        return super().finish()


class NeverEnds(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        return ()


class TakesNothingForAnAnswer(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        ended, self.ended = self.ended, True
        return () if ended else (ResponseFinished(FinishReason.COMPLETED),)


class EndsTwice(Lines):
    def end(self) -> list[ModelEvent]:
        return [*super().end(), *super().end()]


class GoesOn(Lines):
    def end(self) -> list[ModelEvent]:
        return [*super().end(), AppendText(P, "!")]


class FinishesAgain(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        events = super().finish()
        if not events and self.closed:
            return (CUT,)
        self.closed = True
        return events


class BeginsNothing(Lines):
    def line(self, line: str) -> list[ModelEvent]:
        events = super().line(line)
        return [event for event in events if not isinstance(event, BeginPart)]


class GivesWords(Lines):
    def line(self, line: str) -> list[ModelEvent]:
        return ["a word", *super().line(line)]  # type: ignore[list-item]


class FeedsLists(Lines):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        return list(super().feed(chunk))  # type: ignore[return-value]


class FinishesWithNone(Lines):
    def finish(self) -> tuple[ModelEvent, ...]:
        return super().finish() or None  # type: ignore[return-value]


def test_a_good_decoder_passes_and_its_answer_is_given() -> None:
    response = check_decoder(Lines, BODY)

    assert response.item.text == "hé🙈 you"
    assert check_decoder(Lines, BODY, cuts=[3]) == response
    assert check_decoder(Lines, b"+x\n" * 400 + b"end\n").item.text == "x" * 400


@pytest.mark.parametrize(
    ("broken", "law"),
    [
        (DecodesEachChunk, "cutting the body"),
        (SplitsCharacters, "cutting the body at byte 3 changes the events"),
        (Raises, "raised ValueError"),
        (NeverEnds, "there are 0 end events"),
        (TakesNothingForAnAnswer, "an empty body is decoded as a response"),
        (EndsTwice, "there are 2 end events"),
        (GoesOn, "comes after the end"),
        (FinishesAgain, "a second call of `finish` returns events"),
        (BeginsNothing, "do not fold in strict mode"),
        (GivesWords, "is not a model event"),
        (FeedsLists, "`feed` returns a list instead of a tuple"),
        (FinishesWithNone, "`finish` returns a NoneType instead of a tuple"),
    ],
)
def test_a_broken_decoder_is_caught(broken: Callable[[], ResponseDecoder], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_decoder(broken, BODY)


class Forgets(Lines):
    def feed(self, chunk: bytes, /) -> tuple[ModelEvent, ...]:
        events = super().feed(chunk)
        return (*events, *self.late(chunk)) if self.ended else events

    def late(self, chunk: bytes) -> list[ModelEvent]:
        after = chunk.partition(b"end\n")[2]
        return [AppendText(P, after.decode())] if after else []


def test_bytes_after_the_end_of_a_response_give_no_events() -> None:
    with pytest.raises(AssertionError, match="continues after the end of the response"):
        check_decoder(Forgets, BODY)


@pytest.mark.parametrize(
    "line",
    ['data: {"error": "x"}', '{"type": "error", "message": "x"}', '[{"error": {"code": 1}}]'],
)
def test_an_error_in_the_body_must_not_be_ignored(line: str) -> None:
    body = f"+a\n{line}\nend\n".encode()

    class Ignores(Lines):
        def line(self, text: str) -> list[ModelEvent]:
            return [] if text == line else super().line(text)

    with pytest.raises(AssertionError, match="has an error, which the decoder ignores"):
        check_decoder(Ignores, body)
    assert check_decoder(Ignores, body, fails=False).item.text == "a"
    with pytest.raises(AssertionError, match="has an error"):
        check_decoder(Lines, BODY, fails=True)


def test_a_body_that_breaks_off_in_the_middle_is_checked_too() -> None:
    class RaisesWhenCut(Lines):
        def finish(self) -> tuple[ModelEvent, ...]:
            if self.begun and not self.ended:
                raise RuntimeError("cut")
            return super().finish()

    with pytest.raises(AssertionError, match="RuntimeError"):
        check_decoder(RaisesWhenCut, BODY)


def test_decode_chunks_feeds_finishes_and_returns_all_events() -> None:
    assert decode_chunks(Lines(), [b"+a\n", b"", b"en", b"d\n"]) == decode_chunks(
        Lines(), [b"+a\nend\n"]
    )
    assert decode_chunks(Lines(), []) == (CUT,)
