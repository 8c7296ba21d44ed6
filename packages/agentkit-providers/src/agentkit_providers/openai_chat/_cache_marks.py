"""Where cached prefixes end, for vendors that take marks as Anthropic does.

A caller's mark stands for the prefix of the request that ends with it; see `_cache_prefix`. Writing
that prefix alone shows how far the mark reaches among the messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from agentkit_core import Item, ModelRequest
from agentkit_core.cache import CacheMark, CacheMode, CacheRetention, ToolsEnd
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._cache_prefix import marked_prefix
from agentkit_providers._protocol_kit._unsupported import unsupported_mark
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
_FRONT: Final = (SystemMessage, DeveloperMessage)
_CONVERSATION: Final = (UserMessage, AssistantMessage, ToolMessage)


class _Spot(NamedTuple):
    """Where a text stands.

    Attributes:
        message: The index of its message.
        place: Its index in that message's content.
    """

    message: int
    place: int


MessagesOf = Callable[[Sequence[Item]], list[Message]]
"""Writes sendable items as messages."""


def cache_control(request: ModelRequest, quirks: Quirks) -> CacheControl | None:
    """The mark for the end of a cached prefix; None where none is asked for, or possible."""
    cache = request.options.cache
    if cache is None or cache.mode is CacheMode.DISABLED or not quirks.cache_control:
        return None
    return CacheControl("1h" if cache.retention is CacheRetention.EXTENDED else None)


def marks_tools(request: ModelRequest) -> bool:
    """Whether the last tool is marked, at vendors that take marks.

    It is where the caller names no marks, and where one of the caller's marks stands there, unless
    the four allowed marks are used up by later ones.
    """
    marks = _callers_marks(request)
    return bool(request.tools) and (
        marks is None or (ToolsEnd() in marks and len(marks) <= _MOST_MARKS)
    )


def mark_messages(
    messages: Sequence[Message],
    request: ModelRequest,
    target: Target,
    messages_of: MessagesOf,
    mark: CacheControl,
) -> dict[int, Message]:
    """Mark a request's messages.

    Where the caller names no marks, the ends of the instructions, of what the request before has
    sent, and of the conversation are marked: a read looks back 20 blocks only, and a round of calls
    may be wider (redpanda-data/ai-sdk-go#205). Where there are more than four marks, the tools'
    included, the first are dropped, since longer prefixes save more. Only text can be marked; a
    mark on something else moves to the text before it.

    Args:
        messages: The request's messages; they are not changed.
        request: The request, whose items the marks count.
        target: What the request's items were made sendable for.
        messages_of: Writes sendable items as messages.
        mark: The mark.

    Returns:
        The messages with marks, by their index.

    Raises:
        UnsupportedContent: Caching is required, and a mark cannot stand where the caller wants it.
    """
    marks = _callers_marks(request)
    if marks is None:
        spots: Iterable[_Spot] = _default_spots(messages)
    else:
        spots = _spots_of(marks, request, messages, target, messages_of)
    marked: dict[int, Message] = {}
    for spot in spots:
        message = marked.get(spot.message, messages[spot.message])
        content = [
            replace(entry, cache_control=mark)
            if place == spot.place and isinstance(entry, TextPart)
            else entry
            for place, entry in enumerate(_entries(message))
        ]
        marked[spot.message] = replace(message, content=content)
    return marked


def _callers_marks(request: ModelRequest) -> frozenset[CacheMark] | None:
    cache = request.options.cache
    return None if cache is None or cache.marks is None else frozenset(cache.marks)


def _default_spots(messages: Sequence[Message]) -> Iterator[_Spot]:
    """The ends of the instructions, of the request before, and of the conversation."""
    at = _last_index(messages, len(messages) - 1, _FRONT)
    ends = [] if at is None else [at]
    end = _last_index(messages, len(messages) - 1, _CONVERSATION)
    if end is not None:
        answer = _last_index(messages, end - 1, (AssistantMessage,), with_content=False)
        while answer is not None and answer and isinstance(messages[answer - 1], AssistantMessage):
            answer -= 1
        before = None if answer is None else _last_index(messages, answer - 1, _CONVERSATION)
        if before is not None:
            ends.append(before)
        ends.append(end)
    for at in ends:
        spot = _text_at(_Spot(at, len(_entries(messages[at])) - 1), messages, exact=False)
        if spot is not None:
            yield spot


def _last_index(
    messages: Sequence[Message],
    end: int,
    roles: tuple[type[Message], ...],
    *,
    with_content: bool = True,
) -> int | None:
    """Find the last message of some roles up to an index; None where there is none."""
    for at in range(end, -1, -1):
        message = messages[at]
        if isinstance(message, roles) and (_entries(message) or not with_content):
            return at
    return None


def _spots_of(
    marks: frozenset[CacheMark],
    request: ModelRequest,
    messages: Sequence[Message],
    target: Target,
    messages_of: MessagesOf,
) -> list[_Spot]:
    cache = request.options.cache
    required = cache is not None and cache.mode is CacheMode.REQUIRED
    spots = set[_Spot]()
    for mark in marks:
        spot: _Spot | None = None
        if not isinstance(mark, ToolsEnd):
            prefix = marked_prefix(mark, request.items, target)
            end = None if prefix is None else _end(messages_of(prefix), messages)
            spot = None if end is None else _text_at(end, messages, exact=required)
        if spot is not None:
            spots.add(spot)
        elif required and not (isinstance(mark, ToolsEnd) and request.tools):
            raise unsupported_mark(f"the cache mark {mark!r}", API)
    if required and len(marks) > _MOST_MARKS:
        raise unsupported_mark(f"{len(marks)} cache marks (at most {_MOST_MARKS})", API)
    return sorted(spots)[-(_MOST_MARKS - marks_tools(request)) :]


def _end(prefix: Sequence[Message], messages: Sequence[Message]) -> _Spot | None:
    """Find where a prefix that was written alone ends among all messages."""
    at = min(len(prefix), len(messages)) - 1
    if at < 0:
        return None
    cut, whole = prefix[at].content, messages[at].content
    if isinstance(messages[at], ToolMessage):
        cut = whole  # a result is never cut; where the prefix lacks one, `sendable` invented it
    if isinstance(cut, str) and isinstance(whole, str) and cut != whole:
        return _Spot(at, -1)  # several texts that are sent as one: no mark can stand between them
    return _Spot(at, min(len(_entries_of(cut)), len(_entries_of(whole))) - 1)


def _text_at(end: _Spot, messages: Sequence[Message], *, exact: bool) -> _Spot | None:
    """Find the text at a prefix's end, or, unless `exact`, the last text before it."""
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
