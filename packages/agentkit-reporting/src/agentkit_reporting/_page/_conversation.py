"""The conversation on a page: sessions, turns, entries, and inner agents inside their calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from agentkit_core import (
    FinishReason,
    Item,
    ItemKind,
    Part,
    SessionId,
    Text,
    ToolCall,
    ToolCallId,
    ToolResult,
    TurnId,
)
from agentkit_loop import TurnEnd
from agentkit_reporting._format import describe_usage
from agentkit_reporting._page._calls import call_block, result_block
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined
from agentkit_reporting._page._notices import Level, Notice
from agentkit_reporting._page._parts import part_block
from agentkit_reporting._page._sessions import (
    CallRecord,
    Entry,
    ItemEntry,
    PartialAnswer,
    SessionRecord,
    TurnRecord,
)
from agentkit_reporting._page._times import duration, time_of_day
from agentkit_reporting._page._values import fact_list, folded, json_block, metadata_block

_NAMES: Final = {
    ItemKind.SYSTEM: "System",
    ItemKind.DEVELOPER: "Developer",
    ItemKind.USER: "User",
    ItemKind.ASSISTANT: "Assistant",
    ItemKind.TOOL: "Tool results",
    ItemKind.CONTEXT: "Context",
    ItemKind.NOTIFICATION: "Notification",
}
_LOWEST_HEADING: Final = 6
_DEEPEST: Final = 8
"""Inner agents of inner agents are shown down to this depth."""
_ORDINARY_ENDS: Final = {FinishReason.COMPLETED, FinishReason.TOOL_CALL}


class TurnLink(NamedTuple):
    """Where a turn is on the page.

    Attributes:
        anchor: The id of its element.
        name: Its name, such as `Turn 3`.
        about: The first words of its input; empty if it has none.
    """

    anchor: str
    name: str
    about: str


class _Place(NamedTuple):
    """Where something is written.

    Attributes:
        session: The session that it belongs to.
        heading: The level of headings of entries there.
        depth: In how many other sessions the session is.
    """

    session: SessionRecord
    heading: int
    depth: int


class ConversationWriter:
    """Writes sessions, and counts what it writes."""

    def __init__(self) -> None:
        self.links: dict[tuple[SessionId, TurnId | None], TurnLink] = {}
        """The turns of outer sessions, in the order in which they were written."""
        self.entries = 0
        """How many entries were written so far, those of inner agents left out."""

    def write(self, session: SessionRecord) -> Markup:
        """Write an outer session, and the sessions of inner agents in it."""
        return self._session(session, heading=3, depth=0)

    def _session(self, session: SessionRecord, *, heading: int, depth: int) -> Markup:
        turns = [turn for turn in session.turns if turn.entries or turn.turn_id is not None]
        several = sum(turn.turn_id is not None for turn in turns) > 1
        # The only turn of an inner agent needs no heading.
        has_titles = (depth == 0 or several) and heading < _LOWEST_HEADING
        place = _Place(session, heading + has_titles, depth)
        number = 0
        written = []
        for turn in turns:
            title, anchor = NOTHING, None
            number += turn.turn_id is not None
            if has_titles and turn.turn_id is not None:
                anchor = self._link(session, turn) if depth == 0 else None
                name = f"Turn {number if depth else len(self.links)}"
                took = element("span", duration(turn.ended_at - turn.started_at), class_="about")
                title = element(f"h{heading}", name, " ", took, class_="turn-name")
            content = [self._entry(entry, place) for entry in turn.entries]
            if turn is turns[-1]:
                content.append(self._unfinished(place))
            end = _turn_end(turn, is_last=turn is turns[-1], is_left=session.left)
            written.append(element("div", title, *content, end, class_="turn", id=anchor))
        return joined(written)

    def _link(self, session: SessionRecord, turn: TurnRecord) -> str:
        """Number a turn of an outer session on the page, and return the id of its element."""
        number = len(self.links) + 1
        link = TurnLink(f"turn-{number}", f"Turn {number}", _first_words(turn))
        self.links[session.session_id, turn.turn_id] = link
        return link.anchor

    def _unfinished(self, place: _Place) -> Markup:
        parts = place.session.unfinished_parts()
        if not parts:
            return NOTHING
        why = "The record ends before this answer does."
        return self._entry(PartialAnswer(place.session.ended_at, parts, why), place)

    def _entry(self, entry: Entry, place: _Place) -> Markup:
        match entry:
            case Notice():
                return self._notice(entry, place)
            case PartialAnswer(at=at, parts=parts, why=why):
                content = [element("p", why, class_="problem"), *self._parts(parts, place)]
                name = "Assistant, incomplete"
                return self._article("assistant partial", name, at, "", content, place)
            case ItemEntry():
                return self._item(entry, place)

    def _item(self, entry: ItemEntry, place: _Place) -> Markup:
        item = entry.item
        content = self._parts(item.parts, place)
        if item.kind is ItemKind.TOOL and not any(content):
            return NOTHING  # its results are with their calls
        content += [_problem(item), _details(item)]
        about = " · ".join(filter(None, _about(entry)))
        return self._article(item.kind.value, _NAMES[item.kind], entry.at, about, content, place)

    def _article(
        self, kind: str, name: str, at: int, about: str, content: Iterable[Markup], place: _Place
    ) -> Markup:
        self.entries += place.depth == 0
        head = element(
            "div",
            element(f"h{min(place.heading, _LOWEST_HEADING)}", name),
            element("span", about, class_="about", dir="auto") if about else None,
            time_of_day(at),
            class_="head",
        )
        return element("article", head, *content, class_=f"entry {kind}")

    def _notice(self, notice: Notice, place: _Place) -> Markup:
        self.entries += place.depth == 0
        word = None
        if notice.level is not Level.INFO:
            word = element("strong", f"{notice.level.value.capitalize()}: ")
        more = NOTHING
        if notice.items:
            below = place._replace(depth=place.depth + 1)
            items = [self._item(ItemEntry(notice.at, item), below) for item in notice.items]
            more = folded(f"{len(items):,} items", joined(items))
        elif notice.details is not None:
            more = folded("Details", json_block(notice.details))
        text = element("p", word, notice.text, " ", time_of_day(notice.at), dir="auto")
        return element("div", text, more, class_=f"entry notice {notice.level.value}")

    def _parts(self, parts: Iterable[Part], place: _Place) -> list[Markup]:
        return [self._part(part, place) for part in parts]

    def _part(self, part: Part, place: _Place) -> Markup:
        if isinstance(part, ToolCall):
            record = place.session.calls.get(part.id, CallRecord())
            return call_block(part, record, joined(self._inner(record, place)))
        if isinstance(part, ToolResult):
            if part.call_id in place.session.shown_calls:
                return NOTHING
            return element("div", _unknown_call(part.call_id), result_block(part), class_="result")
        return part_block(part)

    def _inner(self, record: CallRecord, place: _Place) -> Iterator[Markup]:
        for session in record.sessions:
            if place.depth >= _DEEPEST:
                yield element("p", "Inner agents below this one are not shown.", class_="none")
                continue
            title = element("p", "Inner agent", class_="label")
            content = self._session(session, heading=place.heading + 1, depth=place.depth + 1)
            yield element("div", title, content, class_="inner")


def _unknown_call(call_id: ToolCallId) -> Markup:
    return element("p", "Result of call ", element("code", call_id), class_="label")


def _first_words(turn: TurnRecord) -> str:
    for entry in turn.entries:
        if isinstance(entry, ItemEntry) and entry.item.kind is ItemKind.USER:
            text = next((part.text for part in entry.item.parts if isinstance(part, Text)), "")
            return " ".join(text[:400].split())[:80]
    return ""


def _about(entry: ItemEntry) -> Iterator[str | None]:
    item = entry.item
    if item.provenance is not None:
        yield item.provenance.response_model or item.provenance.model
    if item.usage is not None and item.usage.tokens.output is not None:
        yield f"{item.usage.tokens.output:,} tokens"
    if entry.duration_ms is not None:
        yield duration(entry.duration_ms)


def _problem(item: Item) -> Markup:
    words = []
    if item.failure is not None:
        words.append(item.failure.describe())
    if item.interrupted:
        words.append("Interrupted: the answer ended early.")
    elif item.finish_reason is not None and item.finish_reason not in _ORDINARY_ENDS:
        words.append(f"Finish reason: {item.finish_reason.value.replace('_', ' ')}.")
    return joined(element("p", word, class_="problem") for word in words)


def _details(item: Item) -> Markup:
    origin = item.provenance
    facts: list[tuple[str, str | None]] = [("Item", item.id)]
    if origin is not None:
        facts += [
            ("Provider", origin.provider),
            ("Protocol", origin.api),
            ("Model", origin.model),
            ("Answered by", origin.response_model),
            ("Response", origin.response_id),
        ]
    if item.finish_reason is not None:
        facts.append(("Finish reason", item.finish_reason.value))
    if item.usage is not None:
        facts += [("Usage", describe_usage(item.usage))]
    shown = joined([fact_list(facts), metadata_block(item.metadata)])
    return folded("Details", shown, name="more") if shown else NOTHING


def _turn_end(turn: TurnRecord, *, is_last: bool, is_left: bool) -> Markup:
    if turn.turn_id is None:
        return NOTHING
    result = turn.result
    if result is None:
        words = "The record ends before this turn does." if is_last else "This turn has no end."
        if is_last and is_left:
            words = "The session was left during this turn; it can go on later."
        return element("p", words, class_="turn-end warning")
    usage = describe_usage(result.usage)
    if result.end is TurnEnd.COMPLETED:
        return element("p", f"Completed · {usage}", class_="turn-end")
    level = "warning" if result.end is TurnEnd.CANCELLED else "error"
    end = result.describe_end()
    return element("p", f"Ended early: {end} · {usage}", class_=f"turn-end {level}", dir="auto")
