"""Where cached prefixes end, for the vendors that take marks in Anthropic's manner.

A mark of the caller's own names an item of the request, and what is written of it may stand
elsewhere: items before it were merged, mended or left out. So a mark is taken for what it
means: the prefix that ends with it. What is written of that prefix is how far the mark goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, UnsupportedContent
from agentkit_core.cache import CacheMark, CacheMode, CacheRetention, ToolsEnd
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._cache_prefix import marked_prefix
from agentkit_providers.openai_chat._metadata_keys import API
from agentkit_providers.openai_chat._quirks import Quirks
from agentkit_providers.openai_chat._wire_request import (
    AssistantMessage,
    CacheControl,
    Content,
    ContentPart,
    DeveloperMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)

_MOST_MARKS: Final = 4


class _Spot(NamedTuple):
    """A text, by its message and its place in that message's content."""

    message: int
    place: int


def cache_control(request: ModelRequest, quirks: Quirks) -> CacheControl | None:
    """The mark that ends a cached prefix; None where none is wanted or understood."""
    cache = request.options.cache
    if cache is None or cache.mode is CacheMode.DISABLED or not quirks.cache_control:
        return None
    return CacheControl("1h" if cache.retention is CacheRetention.EXTENDED else None)


def marks_tools(request: ModelRequest) -> bool:
    """Say whether the last tool is marked, where marks are understood.

    A plan marks it, and so does a caller's own mark unless later ones have used up the four.
    """
    marks = _own_marks(request)
    return bool(request.tools) and (
        marks is None or (ToolsEnd() in marks and len(marks) <= _MOST_MARKS)
    )


def mark_messages(
    messages: Sequence[Message],
    request: ModelRequest,
    target: Target,
    write: Callable[[Iterable[Item]], list[Message]],
    mark: CacheControl,
) -> None:
    """Mark a request's messages.

    Without marks of the caller's own these are the end of the instructions and of the
    conversation so far. Of more than four, the tools' included, the first are dropped, for
    longer prefixes are worth more. Only text can be marked; a mark on something else goes to
    the text before it.

    Args:
        messages: All that is sent; those that are marked are changed.
        request: Whose items the marks count.
        target: What these were made sendable for.
        write: Writes sendable items as messages.
        mark: What ends a prefix.

    Raises:
        UnsupportedContent: Caching is required, and a mark cannot stand where it is asked for.
    """
    marks = _own_marks(request)
    spots = _planned(messages) if marks is None else _asked(request, marks, messages, target, write)
    for spot in spots:
        message = messages[spot.message]
        message.content = [
            replace(one, cache_control=mark)
            if place == spot.place and isinstance(one, TextPart)
            else one
            for place, one in enumerate(_entries(message))
        ]


def _own_marks(request: ModelRequest) -> frozenset[CacheMark] | None:
    cache = request.options.cache
    return None if cache is None or cache.marks is None else frozenset(cache.marks)


def _planned(messages: Sequence[Message]) -> Iterator[_Spot]:
    for roles in ((SystemMessage, DeveloperMessage), (UserMessage, AssistantMessage)):
        for at in range(len(messages) - 1, -1, -1):
            content = _entries(messages[at])
            if isinstance(messages[at], roles) and content:
                if isinstance(content[-1], TextPart):
                    yield _Spot(at, len(content) - 1)
                break


def _asked(
    request: ModelRequest,
    marks: frozenset[CacheMark],
    messages: Sequence[Message],
    target: Target,
    write: Callable[[Iterable[Item]], list[Message]],
) -> list[_Spot]:
    cache = request.options.cache
    required = cache is not None and cache.mode is CacheMode.REQUIRED
    spots = set[_Spot]()
    for mark in marks:
        spot: _Spot | None = None
        if not isinstance(mark, ToolsEnd):
            prefix = marked_prefix(mark, request.items, target)
            end = None if prefix is None else _end(write(prefix), messages)
            spot = None if end is None else _text_at(end, messages, exact=required)
        if spot is not None:
            spots.add(spot)
        elif required and not (isinstance(mark, ToolsEnd) and request.tools):
            raise _refused(f"the cache mark {mark!r}")
    if required and len(marks) > _MOST_MARKS:
        raise _refused(f"{len(marks)} cache marks, for {_MOST_MARKS} are the most")
    return sorted(spots)[-(_MOST_MARKS - marks_tools(request)) :]


def _end(prefix: Sequence[Message], messages: Sequence[Message]) -> _Spot | None:
    """Where a prefix that was written alone ends among all messages."""
    at = min(len(prefix), len(messages)) - 1
    if at < 0:
        return None
    cut, whole = prefix[at].content, messages[at].content
    if isinstance(messages[at], ToolMessage):
        cut = whole  # a result is never cut, and one that the prefix lacks was made up in it
    if isinstance(cut, str) and isinstance(whole, str) and cut != whole:
        return _Spot(at, -1)  # texts that are sent as one cannot be marked between
    return _Spot(at, min(len(_entries_of(cut)), len(_entries_of(whole))) - 1)


def _text_at(end: _Spot, messages: Sequence[Message], *, exact: bool) -> _Spot | None:
    """The text at a prefix's end, or the next one before it unless it is to be exact."""
    for at in range(end.message, -1, -1):
        content = _entries(messages[at])
        last = end.place if at == end.message else len(content) - 1
        for place in range(last, -1, -1):
            if isinstance(content[place], TextPart):
                return _Spot(at, place)
            if exact:
                return None
        if exact:
            return None
    return None


def _entries(message: Message) -> list[ContentPart]:
    return _entries_of(message.content)


def _entries_of(content: Content | None) -> list[ContentPart]:
    if isinstance(content, str):
        return [TextPart(content)] if content else []
    return list(content or ())


def _refused(what: str) -> UnsupportedContent:
    return UnsupportedContent(
        what, target=API, advice="make caching best effort, or leave the marks to the projection"
    )
