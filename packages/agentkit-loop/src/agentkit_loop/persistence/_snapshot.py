"""Snapshots: a session's state as bytes and back, with or without its transcript.

    whole   `encode_state`, `decode_state`: one JSON value, to be kept anywhere
    head    `encode_head`, `decode_head`: without the transcript, whose changes a store keeps in a
            log. It does not grow with the history, and contains what was not reported yet

Each contains its version. Older versions are upgraded when they are read; newer ones are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import (
    Item,
    RecordError,
    SessionId,
    ToolCallId,
    Transcript,
    TranscriptError,
    to_json,
)
from agentkit_core.values import Record
from agentkit_loop._result import with_conversation
from agentkit_loop.events import TurnFinished
from agentkit_loop.kernel._effects import Effect, Emit, Yield
from agentkit_loop.kernel._state import STATE_VERSION, State
from agentkit_loop.kernel._status import Finished
from agentkit_loop.persistence._records import LogEntry, Saved
from agentkit_loop.persistence._seals import (
    find_changed_call,
    find_changed_report,
    with_seals,
    without_seals,
)
from agentkit_loop.persistence._stored_calls import StoredCalls
from agentkit_loop.persistence._upgrades import upgrade
from agentkit_loop.persistence._validate import find_contradiction

Report = Emit | Yield
"""What a step reports to reporters or to the host; after a crash it is reported again."""


class Head(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What a store keeps beside the log.

    Attributes:
        state: The state without its transcript and the ids that belong to it.
        reports: What the last steps report, in order; it may not have been reported yet.
        seq: The number of the last envelope before those reports.
    """

    state: State
    reports: tuple[Report, ...] = ()
    seq: int = 0


def encode_state(state: State) -> bytes:
    """Write a state as JSON, for `decode_state`."""
    plain = {"transcript": state.transcript.items, "retired_calls": sorted(state.retired_calls)}
    return to_json(replace(with_seals(state), **plain))


def decode_state(data: bytes) -> State:
    """Read a state that `encode_state` wrote, in this version or an older one.

    Raises:
        RecordError: The bytes are not a valid state, or one of a newer version.
    """
    state: State = _read(data, State, is_head=False)
    return _require_consistent(state)


def encode_head(
    state: State, effects: Iterable[Effect], seq: int, calls: StoredCalls | None = None
) -> bytes:
    """Write what a store keeps of steps beside its log.

    Args:
        state: The state after the steps.
        effects: What the steps ask for.
        seq: The number of the last envelope before those that they report.
        calls: What earlier saves of the session have written of its calls; None for a single one.
    """
    reports = _reports(effects)
    bare = replace(state, transcript=(), retired_calls=frozenset())
    with_json, told = (calls or StoredCalls()).put_in(bare, reports)
    try:
        return to_json(Head(state=with_json, reports=told, seq=seq))
    except TypeError:  # a lone surrogate cannot be mended beside what is JSON already
        return to_json(Head(state=with_seals(bare), reports=reports, seq=seq))


def _reports(effects: Iterable[Effect]) -> tuple[Report, ...]:
    """Return what is reported, without statuses that a later one replaces before the host asks."""
    reports: list[Report] = []
    status_follows = False
    for effect in reversed([each for each in effects if isinstance(each, (Emit, Yield))]):
        if isinstance(effect, Yield):
            if status_follows and not isinstance(effect.status, Finished):
                continue
            status_follows = True
        reports.append(effect)
    return tuple(reversed(reports))


def decode_head(saved: Saved, session_id: SessionId | None = None) -> Head:
    """Read what a store has of a session; the state gets its transcript from the log.

    Args:
        saved: What the store has.
        session_id: The session that was asked for; None takes any.

    Raises:
        RecordError: The head is not valid, or of a newer version, or does not belong to the log, or
            it is the head of another session.
    """
    head: Head = _read(saved.head, Head, is_head=True)
    if session_id is not None and head.state.session_id != session_id:
        raise RecordError(
            "session",
            f"session {head.state.session_id!r} is stored under the id {session_id!r}; open it "
            f"under its own id",
        )
    transcript, retired = _replay(saved.log)
    revision = saved.log[-1].revision if saved.log else 0
    if revision != head.state.revision:
        raise RecordError(
            "session", f"its log ends at revision {revision}, its head at {head.state.revision}"
        )
    whole = replace(head.state, transcript=transcript, retired_calls=retired)
    _restore_conversations(head.reports, transcript.items)
    state = _require_consistent(whole)
    contradiction = find_changed_report(state, head.reports)
    if contradiction is not None:
        raise RecordError("session", f"it contradicts itself: {contradiction}")
    return Head(state=state, reports=head.reports, seq=head.seq)


def _restore_conversations(reports: Iterable[Report], items: tuple[Item, ...]) -> None:
    """Give results of turns, which are stored without it, the conversation at their end."""
    for report in reports:
        match report:
            case Emit(event=TurnFinished(result=result)) | Yield(status=Finished(result=result)):
                last = result.items[-1] if result.items else None
                ends = [at for at, item in enumerate(items, 1) if item == last]
                with_conversation(result, items[: ends[-1]] if ends else items)
            case _:
                pass


def _require_consistent(state: State) -> State:
    contradiction = find_contradiction(state) or find_changed_call(state)
    if contradiction is not None:
        raise RecordError("state", f"it contradicts itself: {contradiction}")
    return without_seals(state)


def _replay(log: Iterable[LogEntry]) -> tuple[Transcript, frozenset[ToolCallId]]:
    """Build the transcript from its changes, and find the ids of calls that are no longer in it."""
    transcript, seen = Transcript(), set[ToolCallId]()
    try:
        for entry in log:
            if entry.rewrite:
                transcript = Transcript(entry.items)
            else:
                transcript = transcript.append(*entry.items)
            seen.update(call.id for item in entry.items for call in item.tool_calls)
    except TranscriptError as error:
        raise RecordError("session", f"its log is not a valid transcript: {error}") from error
    retired = (call_id for call_id in seen if transcript.call_at(call_id) is None)
    return transcript, frozenset(retired)


def _read_transcript(kind: type, value: Any) -> Any:
    if kind is Transcript:
        try:
            return Transcript(msgspec.convert(value, tuple[Item, ...]))
        except TranscriptError as error:
            raise ValueError(str(error)) from error
    raise NotImplementedError


class _Versioned(Struct):
    version: int = 1


class _VersionedHead(Struct):
    state: _Versioned


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    # Built when it is needed: for a state that takes longer than importing the package.
    return msgspec.json.Decoder(kind, dec_hook=_read_transcript)


def _read(data: bytes, kind: Any, *, is_head: bool) -> Any:
    try:
        version = _version_of(data, is_head=is_head)
        if version > STATE_VERSION or version < 1:
            raise RecordError(
                "state",
                f"version {version} is not known here, {STATE_VERSION} is the newest; "
                f"read it with a newer agentkit-loop",
            )
        if version < STATE_VERSION:
            data = _upgrade_json(data, version, is_head=is_head)
        return _decoder(kind).decode(data)
    except RecursionError as error:
        raise RecordError("state", "it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("state", str(error)) from error


def _version_of(data: bytes, *, is_head: bool) -> int:
    if is_head:
        head: _VersionedHead = _decoder(_VersionedHead).decode(data)
        return head.state.version
    state: _Versioned = _decoder(_Versioned).decode(data)
    return state.version


def _upgrade_json(data: bytes, version: int, *, is_head: bool) -> bytes:
    whole = msgspec.json.decode(data)
    if is_head:
        whole["reports"] = whole.pop("told", [])
        upgrade(whole["state"], whole["reports"], version)
    else:
        upgrade(whole, [], version)
    return msgspec.json.encode(whole)
