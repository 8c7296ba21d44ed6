"""Consistency: states that nobody made are refused, and every state of a walk is accepted."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from agentkit_core import AgentkitError, RecordError
from agentkit_loop import Agent, ApprovalRequiredError, AwaitingInput, Busy, Closed, decode_state
from agentkit_loop.kernel._state import STATE_VERSION
from agentkit_loop.persistence._validate import find_contradiction
from agentkit_loop.testing import Reply, ScriptedModel, call, walk
from agentkit_tools_core import tool

GONE = object()
ODD: tuple[object, ...] = (None, True, -1, 10**30, "x", "idle", "calling", "round", [], {}, GONE)


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


@tool
def look() -> str:
    """Look."""
    return "seen"


def agent() -> Agent:
    both = Reply.of(call("pay"), call("look", {}, "c2"))
    return Agent(model=ScriptedModel(both, "a", "b", "c"), tools=[pay, look])


def asking() -> bytes:
    """A session whose turn waits for approval, one of its calls done."""
    with agent().session_blocking() as session:
        with pytest.raises(ApprovalRequiredError):
            session.prompt("go")
        return session.snapshot()


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places in a JSON value, the whole of it aside."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in pairs:
        yield (*way, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*way, key))


def changed(saved: bytes, way: tuple[Any, ...], odd: object) -> bytes:
    whole = value = json.loads(saved)
    for key in way[:-1]:
        value = value[key]
    if odd is GONE:
        del value[way[-1]]
    else:
        value[way[-1]] = odd
    return json.dumps(whole).encode()


def go_through(saved: bytes) -> None:
    with agent().resume_blocking(saved) as session:
        for _ in range(6):
            for ask in session.pending_approvals:
                session.approve(ask.id)
            if isinstance(session.next(), AwaitingInput | Busy | Closed):
                break


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: "gone" if odd is GONE else repr(odd)[:9])
@pytest.mark.parametrize("version", [1, STATE_VERSION])
def test_a_state_that_was_tampered_with_is_refused_or_runs_but_never_crashes(
    odd: object, version: int
) -> None:
    saved = changed(asking(), ("version",), version)
    for way in places(json.loads(saved)):
        try:
            go_through(changed(saved, way, odd))
        except AgentkitError:
            pass
        except Exception as error:
            error.add_note(f"with {odd!r} at {way}")
            raise


@pytest.mark.parametrize("seed", range(100))
def test_no_state_that_a_walk_reaches_contradicts_itself(seed: int) -> None:
    for one in walk(seed):
        assert find_contradiction(one.after) is None


@pytest.mark.parametrize(
    ("way", "odd", "wrong"),
    [
        (("phase",), "idle", "idle with a turn"),
        (("turn",), None, "without a turn"),
        (("turn", "calls"), [], "round"),
        (("turn", "first"), 99, "outside"),
        (("clock",), 2**63, "clock"),
        (("turn", "calls", 1, "result", "call_id"), "c1", "the result of call"),
        (("turn", "calls", 0, "status"), "done", "result"),
        (("out",), {"e9": {"type": "prepare", "id": "e9"}}, "never asked"),
        (("out",), {"e1": {"type": "prepare", "id": "e1"}}, "nothing waits"),
    ],
)
def test_what_contradicts_itself_is_said(way: tuple[Any, ...], odd: object, wrong: str) -> None:
    with pytest.raises(RecordError, match=wrong):
        decode_state(changed(asking(), way, odd))


@pytest.mark.parametrize(
    "saved",
    [
        b"[" * 100_000,
        b'{"version": 2, "session_id": "s", "model": "m", "x": ' + b'{"a":' * 100_000,
        b'{"version": 1, "transcript": 1}',
        b"\xff",
        b"",
    ],
    ids=["brackets", "braces", "no transcript", "no text", "nothing"],
)
def test_what_is_no_state_at_all_is_refused(saved: bytes) -> None:
    with pytest.raises(RecordError):
        decode_state(saved)


@pytest.mark.parametrize(
    ("field", "odd"), [("accepted_items", 9), ("accepted_items", -1), ("refused_media", [9])]
)
def test_vl09_positions_outside_of_the_transcript_are_refused(field: str, odd: object) -> None:
    saved = asking()
    decode_state(changed(saved, (field,), 1 if field == "accepted_items" else [0]))

    with pytest.raises(RecordError, match="contradicts itself"):
        decode_state(changed(saved, (field,), odd))
