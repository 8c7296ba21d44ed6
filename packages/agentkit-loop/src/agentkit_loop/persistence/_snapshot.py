"""Snapshots: a session's state as bytes and back, whole or without its transcript.

    whole   `encode_state`, `decode_state`: one JSON value, to be put anywhere
    head    `encode_head`, `decode_head`: all but the transcript, whose changes a store keeps in a
            log. It does not grow with the history, and holds what was not told yet

Each says its version. Older ones are upgraded, step by step and without looking at anything else;
newer ones are refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentkit_core import Item, RecordError, ToolCallId, Transcript, TranscriptError, to_json
from agentkit_loop.kernel._effects import Effect, Emit, Yield
from agentkit_loop.kernel._state import STATE_VERSION, State
from agentkit_loop.persistence._records import LogEntry, Saved
from agentkit_loop.persistence._upgrades import upgrade
from agentkit_loop.persistence._validate import contradiction

Told = Emit | Yield
"""What a step wants told; after a crash it is told again."""


class Head(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a store keeps beside the log.

    Attributes:
        state: Without its transcript and the ids that went with it.
        told: What came of the last step, in order, and may not have been told.
        seq: The number of the last envelope before those.
    """

    state: State
    told: tuple[Told, ...] = ()
    seq: int = 0


def encode_state(state: State) -> bytes:
    """Write a state as JSON, for `decode_state`."""
    plain = {"transcript": state.transcript.items, "retired_calls": sorted(state.retired_calls)}
    return to_json(replace(state, **plain))


def decode_state(data: bytes) -> State:
    """Read a state that `encode_state` wrote; the kernel goes on from it as if nothing had been.

    Raises:
        RecordError: The bytes are not a state, or one of a version that is not known here.
    """
    state: State = _read(data, _STATE, ())
    return _consistent(state)


def encode_head(state: State, effects: Iterable[Effect], seq: int) -> bytes:
    """Write what a store keeps of a step beside its log.

    Args:
        state: After the step.
        effects: What the step asks for.
        seq: The number of the last envelope before those that come of them.
    """
    told = tuple(effect for effect in effects if isinstance(effect, (Emit, Yield)))
    bare = replace(state, transcript=(), retired_calls=frozenset())
    return to_json(Head(state=bare, told=told, seq=seq))


def decode_head(saved: Saved) -> Head:
    """Put together what a store has of a session.

    Raises:
        RecordError: The head is none, or of a version that is not known here, or the log does not
            go with it.
    """
    head: Head = _read(saved.head, _HEAD, ("state",))
    transcript, retired = _replayed(saved.log)
    revision = saved.log[-1].revision if saved.log else 0
    if revision != head.state.revision:
        raise RecordError(
            "session", f"its log ends at revision {revision}, its head at {head.state.revision}"
        )
    whole = replace(head.state, transcript=transcript, retired_calls=retired)
    return Head(state=_consistent(whole), told=head.told, seq=head.seq)


def _consistent(state: State) -> State:
    wrong = contradiction(state)
    if wrong is not None:
        raise RecordError("state", f"it contradicts itself: {wrong}")
    return state


def _replayed(log: Iterable[LogEntry]) -> tuple[Transcript, frozenset[ToolCallId]]:
    transcript, seen = Transcript(), set[ToolCallId]()
    try:
        for entry in log:
            if entry.rewrite:
                transcript = Transcript(entry.items)
            else:
                transcript = transcript.append(*entry.items)
            seen.update(call.id for item in entry.items for call in item.tool_calls)
    except TranscriptError as error:
        raise RecordError("session", f"its log makes no transcript: {error}") from error
    retired = (call_id for call_id in seen if transcript.call_at(call_id) is None)
    return transcript, frozenset(retired)


def _transcript_of(kind: type, value: Any) -> Any:
    if kind is Transcript:
        try:
            return Transcript(msgspec.convert(value, tuple[Item, ...]))
        except TranscriptError as error:
            raise ValueError(str(error)) from error
    raise NotImplementedError


_STATE: Final = msgspec.json.Decoder(State, dec_hook=_transcript_of)
_HEAD: Final = msgspec.json.Decoder(Head, dec_hook=_transcript_of)


class _Versioned(Struct):
    version: int = 1


def _read(data: bytes, decoder: msgspec.json.Decoder[Any], path: tuple[str, ...]) -> Any:
    try:
        version = _version(data, path)
        if version > STATE_VERSION or version < 1:
            raise RecordError(
                "state",
                f"version {version} is not known here, {STATE_VERSION} is the newest; "
                f"read it with a newer agentkit-loop",
            )
        if version < STATE_VERSION:
            data = _upgraded(data, version, path)
        return decoder.decode(data)
    except RecursionError as error:
        raise RecordError("state", "it is nested too deeply") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("state", str(error)) from error


def _version(data: bytes, path: tuple[str, ...]) -> int:
    if not path:
        return _VERSION.decode(data).version
    return _HEAD_VERSION.decode(data).state.version


class _VersionedHead(Struct):
    state: _Versioned


_VERSION: Final = msgspec.json.Decoder(_Versioned)
_HEAD_VERSION: Final = msgspec.json.Decoder(_VersionedHead)


def _upgraded(data: bytes, version: int, path: tuple[str, ...]) -> bytes:
    whole = msgspec.json.decode(data)
    state, told = (whole["state"], whole.get("told", ())) if path else (whole, ())
    upgrade(state, told, version)
    return msgspec.json.encode(whole)
