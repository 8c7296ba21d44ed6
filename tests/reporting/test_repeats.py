"""An event that is reported again after a crash is recognised by its number."""

from __future__ import annotations

from agentkit_core import SessionId
from agentkit_loop.events import Diagnostic, Envelope, Event, RunStarted
from agentkit_reporting import _repeats
from agentkit_reporting._repeats import RepeatFilter


def numbered(number: int | None, event: Event | None = None, *, session: str = "s") -> Envelope:
    return Envelope(
        seq=number or 1,
        session_id=SessionId(session),
        at=0,
        event=event or Diagnostic("x"),
        number=number,
    )


def test_a_number_counts_once_and_what_has_none_always() -> None:
    repeats = RepeatFilter()
    numbers = [1, 2, None, None, 2, 1, 3, 3]

    assert [repeats.is_repeat(numbered(number)) for number in numbers] == [
        False,
        False,
        False,
        False,
        True,
        True,
        False,
        True,
    ]


def test_sessions_have_numbers_of_their_own() -> None:
    repeats = RepeatFilter()

    assert not repeats.is_repeat(numbered(5))
    assert not repeats.is_repeat(numbered(1, session="other"))


def test_another_history_under_the_same_id_counts() -> None:
    repeats = RepeatFilter()
    for number in (1, 2, 3):
        repeats.is_repeat(numbered(number))
    begun = Envelope(seq=1, session_id=SessionId("s"), at=0, event=RunStarted(True), number=2)

    assert not repeats.is_repeat(begun)
    assert not repeats.is_repeat(numbered(3))


def test_any_number_of_sessions_takes_bounded_memory() -> None:
    repeats = RepeatFilter()
    for at in range(_repeats._MOST_SESSIONS + 5):
        repeats.is_repeat(numbered(1, session=f"s{at}"))

    assert len(repeats._last) == _repeats._MOST_SESSIONS
    assert repeats.is_repeat(numbered(1, session="s20"))
