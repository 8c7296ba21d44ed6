"""Finds where two runs part: the first thing that differs, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec

from agentkit_core import Item, JsonValue, SessionId, ToolCallId, to_json
from agentkit_core.values import Record
from agentkit_loop.events import (
    ApprovalRequired,
    ApprovalResolved,
    Envelope,
    ItemsAppended,
    ModelCallFinished,
    ModelCallStarted,
    SettingsChanged,
    ToolCallRequested,
    ToolCatalogChanged,
    TranscriptRewritten,
    TurnFinished,
)
from agentkit_reporting._format import brief
from agentkit_reporting._repeats import RepeatFilter

_IGNORED: Final = frozenset(
    {"id", "call_id", "created_at", "metadata", "provenance", "request_id", "turn_id", "usage"}
)
"""Fields that differ between runs that are the same: ids, times, and what providers add."""
_WIDTH: Final = 160
_BEFORE: Final = 20
"""How much of two texts is shown before the first character that differs."""


class RunDifference(Record, frozen=True):
    """The first thing that differs between two runs.

    Attributes:
        where: Where it is, in words: the turn, the item, the part, the argument.
        left: What the first run has there, as JSON values; None if it has nothing.
        right: The same of the second run.
        left_seq: The number of the envelope in the first run's session; None if it has ended.
        right_seq: The same of the second run.
    """

    where: str
    left: JsonValue
    right: JsonValue
    left_seq: int | None = None
    right_seq: int | None = None

    def describe(self) -> str:
        """Describe the difference in three lines, without control characters."""
        left, right = _around_difference(self.left, self.right)
        return (
            f"the runs part at {brief(self.where, _WIDTH)}\n"
            f"  left{_at(self.left_seq)}: {left}\n"
            f"  right{_at(self.right_seq)}: {right}"
        )


class _Step(NamedTuple):
    """One thing of a run that is compared."""

    where: str
    kind: str
    value: JsonValue
    seq: int


def diff(left: Iterable[Envelope], right: Iterable[Envelope]) -> RunDifference | None:
    """Compare two runs, and return the first thing that differs; None if nothing does.

    Compared are, session by session: what enters the transcript, the model and the options of each
    model call and how it ended, the tools that are offered, approvals, and the ends of turns. Not
    compared are times, ids, token counts, deltas, and in which order the tools of a round ended.

    Args:
        left: The events of the first run; of one or more sessions.
        right: Those of the second run.
    """
    nothing: list[_Step] = []
    pairs = zip_longest(_steps_of(left), _steps_of(right), fillvalue=nothing)
    for at, (left_steps, right_steps) in enumerate(pairs):
        session = f"session {at + 1}, " if at else ""
        for one, other in zip_longest(left_steps, right_steps):
            if (difference := _difference(one, other, session)) is not None:
                return difference
    return None


def _difference(left: _Step | None, right: _Step | None, session: str) -> RunDifference | None:
    if left is None or right is None:
        step = left or right
        assert step is not None  # noqa: S101  (the longer run has a step here)
        return RunDifference(
            where=f"{session}{step.where}, where one of them ends",
            left=None if left is None else left.value,
            right=None if right is None else right.value,
            left_seq=None if left is None else left.seq,
            right_seq=None if right is None else right.seq,
        )
    if left.kind != right.kind:
        return RunDifference(
            where=f"{session}{left.where}",
            left={left.kind: left.value},
            right={right.kind: right.value},
            left_seq=left.seq,
            right_seq=right.seq,
        )
    if left.value == right.value:
        return None
    path, one, other = _first_difference(left.value, right.value)
    words = ", ".join([f"{session}{left.where}", *_words(path, left.value)])
    return RunDifference(words, one, other, left.seq, right.seq)


def _steps_of(envelopes: Iterable[Envelope]) -> list[list[_Step]]:
    """The steps of each session, in the order in which the sessions begin."""
    sessions: dict[SessionId, _Session] = {}
    repeats = RepeatFilter()
    for envelope in envelopes:
        if not repeats.is_repeat(envelope):
            session = sessions.setdefault(envelope.session_id, _Session())
            session.steps += session.take(envelope)
    return [session.steps for session in sessions.values()]


class _Session:
    """Makes steps of the events of one session."""

    def __init__(self) -> None:
        self.steps: list[_Step] = []
        self._items = 0
        self._names: dict[ToolCallId, str] = {}

    def take(self, envelope: Envelope) -> Iterator[_Step]:
        event, seq = envelope.event, envelope.seq
        turn = f"{envelope.turn_id}, " if envelope.turn_id else ""
        match event:
            case ItemsAppended(items=items):
                for item in items:
                    yield self._item(turn, item, seq)
            case TranscriptRewritten(items=items):
                self._items = 0
                for item in items:
                    yield self._item(f"{turn}rewritten ", item, seq)
            case ModelCallStarted(call=call, attempt=attempt):
                asked: JsonValue = {
                    "model": event.model,
                    "provider": event.provider,
                    "options": _plain(event.options),
                }
                yield _Step(f"{turn}model call {call}.{attempt}", "model call", asked, seq)
            case ModelCallFinished(call=call, attempt=attempt, failure=failure):
                ended: JsonValue = {
                    "finish_reason": event.finish_reason,
                    "failure": None if failure is None else failure.kind,
                }
                where = f"{turn}the end of model call {call}.{attempt}"
                yield _Step(where, "end of a model call", ended, seq)
            case ToolCallRequested(call=call):
                self._names[call.id] = call.name
            case ToolCatalogChanged():
                yield _Step(f"{turn}the offered tools", "offered tools", _plain(event), seq)
            case SettingsChanged():
                yield _Step(f"{turn}the settings", "settings", _plain(event), seq)
            case ApprovalRequired(request=request):
                request_facts: JsonValue = {"call": request.call.name, "summary": request.summary}
                yield _Step(f"{turn}an approval", "approval", request_facts, seq)
            case ApprovalResolved():
                decided: JsonValue = {
                    "call": self._names.get(event.call_id),
                    "outcome": event.outcome,
                    "patched": event.patched,
                }
                yield _Step(f"{turn}an approval", "decision", decided, seq)
            case TurnFinished(result=result):
                end: JsonValue = {
                    "end": result.end,
                    "limit": result.limit,
                    "error": result.error,
                }
                yield _Step(f"{turn}its end", "end of a turn", end, seq)
            case _:
                pass

    def _item(self, where: str, item: Item, seq: int) -> _Step:
        self._items += 1
        place = f"{where}item {self._items} ({item.kind.value})"
        return _Step(place, f"{item.kind.value} item", _plain(item), seq)


def _plain(value: Any) -> Any:
    """A value as JSON values, without what is ignored."""
    return _without_ignored(msgspec.to_builtins(value))


def _without_ignored(value: Any) -> Any:
    match value:
        case dict():
            kept = {key: each for key, each in value.items() if key not in _IGNORED}
            # The arguments of a call and other JSON of users may have such names too.
            own = {key: value[key] for key in ("input", "value", "schema") if key in value}
            return {key: own.get(key, _without_ignored(each)) for key, each in kept.items()}
        case list() | tuple():
            return [*map(_without_ignored, value)]
        case _:
            return value


def _first_difference(
    left: JsonValue, right: JsonValue, path: tuple[str | int, ...] = ()
) -> tuple[tuple[str | int, ...], JsonValue, JsonValue]:
    """Find the first place where two different values differ."""
    pairs: Iterable[tuple[str | int, JsonValue, JsonValue]] = ()
    if isinstance(left, dict) and isinstance(right, dict):
        pairs = ((key, left.get(key), right.get(key)) for key in {**left, **right})
    elif isinstance(left, list) and isinstance(right, list):
        pairs = ((at, *both) for at, both in enumerate(zip_longest(left, right)))
    for key, one, other in pairs:
        if one != other:
            return _first_difference(one, other, (*path, key))
    return path, left, right


def _words(path: tuple[str | int, ...], value: JsonValue) -> Iterator[str]:
    """Say a path in words: `parts`, 1, `input`, `city` is "part 2 (call of x), argument city"."""
    rest = path
    match path:
        case ("parts", int(at), *others):
            yield f"part {at + 1}{_kind_of_part(value, at)}"
            rest = tuple(others)
    match rest:
        case ("input", *others):
            yield f"argument {_join(others)}" if others else "the arguments"
        case ():
            pass
        case _:
            yield _join(rest)


def _kind_of_part(value: JsonValue, at: int) -> str:
    parts = value.get("parts") if isinstance(value, dict) else None
    part = parts[at] if isinstance(parts, list) and at < len(parts) else None
    if not isinstance(part, Mapping):
        return ""
    return f" (call of {part['name']})" if part.get("type") == "tool_call" else f" ({part['type']})"


def _join(path: Iterable[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _at(seq: int | None) -> str:
    return "" if seq is None else f" (event {seq})"


def _around_difference(left: JsonValue, right: JsonValue) -> tuple[str, str]:
    """Show two values, from shortly before the first character that differs."""
    one, other = _show(left), _show(right)
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    start = max(same - _BEFORE, 0) if max(len(one), len(other)) > _WIDTH else 0
    dots = "…" if start else ""
    return dots + brief(one[start:], _WIDTH), dots + brief(other[start:], _WIDTH)


def _show(value: JsonValue) -> str:
    return "nothing" if value is None else to_json(value).decode()
