"""Which words of a program are harmless: they write nothing, delete nothing and run nothing else.

A program is described by what is known to be harmless. Every other option, every word too many and
every program without a description counts as harmful, because it might be.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import field

from agentkit_core.values import Record

UNKNOWN_WORD: Final = "\ufffd"
"""Stands for words that are not known, such as those that `xargs` reads from its input."""
_NUMBER: Final = re.compile(r"-[0-9]+")
_NUMERIC_VALUE: Final = re.compile(r"-[0-9.]+[a-zA-Z]?")


class Usage(Record, frozen=True, kw_only=True):
    """The harmless words of one program, or of one of its subcommands.

    Attributes:
        letters: Letters of short options without a value; they may be joined: `-la`.
        valued: Letters of short options with a value, in the same word or the next one.
        attached: Letters of short options whose optional value is in the same word: `-M50`.
        long: Names of long options, without dashes; a value may follow after `=`.
        long_valued: Names of long options whose value may also be the next word.
        whole: Options with one dash and several letters, as `find` has them, and the number of
            words that belong to each.
        numbers: Whether `-5` is an option.
        any_option: Whether all options of the program are harmless.
        max_words: How many other words there may be; None means any number.
        word: A pattern that each other word must match as a whole; empty means any word.
        first_word: A pattern for the first of the other words; empty means as `word` says.
        subcommands: What may be the first of the other words, and what may follow it; empty if the
            program has no subcommands.
        when_named: More subcommands, which are harmless only if an entry of the policy names them.
        alone: Whether the program is harmless without any words: `git` is, but `python` runs what
            it reads from its input, and `git stash` changes files.
    """

    letters: str = ""
    valued: str = ""
    attached: str = ""
    long: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    whole: Mapping[str, int] = field(default_factory=dict)
    numbers: bool = False
    any_option: bool = False
    max_words: int | None = None
    word: str = ""
    first_word: str = ""
    subcommands: Mapping[str, Usage] = field(default_factory=dict)
    when_named: Mapping[str, Usage] = field(default_factory=dict)
    alone: bool = True


NOTHING: Final = Usage(max_words=0)
"""The usage of an unknown program: nothing is known to be harmless, except the bare program."""


def is_harmless(usage: Usage, words: Sequence[str], *, named: int = 0) -> bool:
    """Whether all words after a program are known to be harmless.

    Args:
        usage: What is known about the program.
        words: The words after the program, in order.
        named: How many of the first words are allowed by name, whatever they mean.
    """
    reader = _Reader(usage, named)
    at = 0
    while at < len(words):
        length = reader.read(words, at)
        if not length:
            return False
        at += length
    return reader.may_end()


class _Reader:
    """Reads the words of one command from left to right."""

    def __init__(self, usage: Usage, named: int) -> None:
        self._usage = usage
        self._named = named
        self._count = 0
        self._is_alone = True
        self._options_ended = False

    def read(self, words: Sequence[str], at: int) -> int:
        """Return how many words belong to the option or word at a position; 0 if it may harm."""
        word = words[at]
        usage = self._usage
        self._is_alone = False
        if word.startswith(UNKNOWN_WORD):
            return int(usage.any_option and usage.max_words is None and not usage.word)
        if self._options_ended or word == "-" or not word.startswith("-"):
            length = self._read_word(word, is_named=at < self._named)
        elif usage.any_option:
            length = 1
        elif word == "--":
            self._options_ended = not usage.whole
            length = int(self._options_ended)
        else:
            length = self._read_option(word)
        if not length:
            return int(at < self._named)
        # A program that reads the value otherwise would see an option in it.
        values = words[at + 1 : at + length]
        is_complete = len(values) == length - 1
        for offset, value in enumerate(values, start=1):
            if value.startswith((UNKNOWN_WORD, "-")) and not _NUMERIC_VALUE.fullmatch(value):
                is_complete = is_complete and at + offset < self._named
        return length if is_complete else int(at < self._named)

    def may_end(self) -> bool:
        """Whether the command may end after the words that were read."""
        return self._usage.alone or not self._is_alone

    def _read_word(self, word: str, *, is_named: bool) -> int:
        usage = self._usage
        if usage.subcommands:
            following = usage.subcommands.get(word)
            if following is None and is_named:
                following = usage.when_named.get(word, NOTHING)
            if following is None:
                return 0
            self._usage, self._count, self._is_alone = following, 0, not is_named
            return 1
        pattern = usage.first_word if usage.first_word and not self._count else usage.word
        self._count += 1
        is_too_many = usage.max_words is not None and self._count > usage.max_words
        return int(not is_too_many and (not pattern or bool(re.fullmatch(pattern, word))))

    def _read_option(self, word: str) -> int:
        usage = self._usage
        if word in usage.whole:
            return 1 + usage.whole[word]
        if word.startswith("--"):
            name, equals, _ = word[2:].partition("=")
            if name in usage.long_valued:
                return 1 if equals else 2
            return int(name in usage.long)
        if usage.numbers and _NUMBER.fullmatch(word):
            return 1
        rest = word[1:].lstrip(usage.letters) if usage.letters else word[1:]
        if not rest or rest[0] in usage.attached:
            return 1
        if rest[0] in usage.valued:
            return 1 if len(rest) > 1 else 2
        return 0


def words(text: str) -> frozenset[str]:
    """Return the words of a text, for tables."""
    return frozenset(text.split())
