"""Whatever is written and wherever it is cut, only harmless characters come out."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_reporting import TerminalCleaner, clean

HARMFUL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff]"
)

SEQUENCES = {
    "clipboard": "\x1b]52;c;cm0gLXJm\x07",
    "clipboard, other end": "\x1b]52;c;cm0gLXJm\x1b\\",
    "title": "\x1b]0;evil\x07",
    "link": "\x1b]8;;http://x\x1b\\",
    "clear": "\x1b[2J",
    "where is the cursor": "\x1b[6n",
    "private mode": "\x1b[?1049h",
    "colour": "\x1b[38;5;196m",
    "intermediate": "\x1b[0 q",
    "reset": "\x1bc",
    "character set": "\x1b(0",
    "save": "\x1b7",
    "device": "\x1bP1$r0m\x1b\\",
    "application": "\x1b_hidden\x1b\\",
    "privacy": "\x1b^hidden\x1b\\",
    "start of string": "\x1bXhidden\x1b\\",
    "8-bit CSI": "\x9b2J",
    "8-bit OSC": "\x9d0;evil\x9c",
    "8-bit DCS": "\x90hidden\x9c",
    "8-bit APC": "\x9fhidden\x07",
    "cancelled": "\x1b[12\x18",
    "cancelled string": "\x1b]0;hidden\x1a",
    "backspace": "\x08",
    "bell": "\x07",
    "delete": "\x7f",
    "null": "\x00",
    "next line": "\x85",
    "right to left": "\u202e",
    "isolate": "\u2066",
    "two escapes": "\x1b\x1b[2J",
    "escape inside": "\x1b]0;x\x1b[2J",
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_z07_a_sequence_is_taken_out_whole(name: str) -> None:
    assert clean(f"before {SEQUENCES[name]}after") == "before after"


@pytest.mark.parametrize("name", SEQUENCES)
def test_z07_where_a_sequence_is_cut_does_not_matter(name: str) -> None:
    text = f"a{SEQUENCES[name]}b"

    for cuts in itertools.combinations(range(1, len(text)), 2):
        cleaner = TerminalCleaner()
        pieces = [text[: cuts[0]], text[cuts[0] : cuts[1]], text[cuts[1] :]]
        assert "".join(map(cleaner.feed, pieces)) + cleaner.finish() == "ab"


def test_z07_a_string_that_nobody_ends_is_over_at_the_newline() -> None:
    assert clean("a\x1b]0;hidden\nseen") == "a\nseen"
    assert clean("a\x9dhidden\r\nseen") == "a\nseen"
    assert clean("a\x1b]0;hidden") == "a"


def test_z07_a_character_that_cannot_belong_to_a_sequence_ends_it() -> None:
    assert clean("\x1b[1é") == "é"
    assert clean("\x1bé") == "é"
    assert clean("\x1b[1\nx") == "\nx"
    assert clean("\x1b\x08x") == "x"


def test_z07_a_carriage_return_never_goes_back() -> None:
    assert clean("10%\r20%\r\ndone\r") == "10%\n20%\ndone\n"
    cleaner = TerminalCleaner()
    assert [cleaner.feed(piece) for piece in ("a\r", "\nb\r", "c")] == ["a\n", "b\n", "c"]


def test_a_pair_that_is_cut_in_two_is_joined_and_a_half_is_replaced() -> None:
    cleaner = TerminalCleaner()
    assert cleaner.feed("a\ud83d") + cleaner.feed("\ude00b") + cleaner.finish() == "a😀b"
    assert cleaner.feed("a\ud83d") + cleaner.finish() == "a\ufffd"
    assert cleaner.feed("b") == "b"


texts = st.text(
    st.sampled_from([*"\x00\x07\x08\n\t\r\x18\x1b\x7f\x85\x90\x9b\x9c\x9d[]P()\\;0maJ é😀"])
    | st.sampled_from(["\u202e", "\u2066", "\ud83d", "\ude00"])
    | st.characters(),
    max_size=60,
)


@given(texts)
def test_z07_nothing_harmful_ever_comes_out(text: str) -> None:
    assert HARMFUL.search(clean(text)) is None


@given(texts, st.data())
def test_z07_any_cut_gives_the_same_and_nothing_harmful(text: str, data: st.DataObject) -> None:
    cuts = data.draw(st.lists(st.integers(0, len(text)), max_size=6).map(sorted))
    edges = [0, *cuts, len(text)]
    cleaner = TerminalCleaner()
    pieces = [cleaner.feed(text[a:b]) for a, b in itertools.pairwise(edges)]
    pieces.append(cleaner.finish())

    assert "".join(pieces) == clean(text)
    assert all(HARMFUL.search(piece) is None for piece in pieces)


@given(texts)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(
    st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Cn", "Zl", "Zp"])).filter(
        lambda text: HARMFUL.search(text) is None
    )
)
def test_harmless_text_is_left_as_it_is(text: str) -> None:
    assert clean(text) is text
    assert clean(text + "\n\t\u00a0") == text + "\n\t\u00a0"
