"""States and heads of older versions load as what they were, and sessions go on from them.

The files of version 2 were made by random walks. Beside each state stand its facts, written down
by the code of that time.
"""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from agentkit_core import ApprovalRequest, SessionId, ToolCall, Transcript
from agentkit_loop import (
    Agent,
    AwaitingInput,
    Closed,
    WaitingForApproval,
    decode_state,
    encode_state,
)
from agentkit_loop.events import ApprovalRequired
from agentkit_loop.kernel import (
    CallState,
    Cancel,
    Effect,
    Emit,
    Preflight,
    Resumption,
    StartTimer,
    StartTool,
    State,
    Yield,
    step,
)
from agentkit_loop.persistence._snapshot import Report, decode_head
from agentkit_loop.ports import LogEntry, Saved
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import ManualClock, ScriptedModel
from agentkit_tools_core import tool

STATES = Path(__file__).parents[1] / "states"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (STATES / name).read_text(encoding="utf-8").splitlines()]


def plain(value: object) -> Any:
    return json.loads(msgspec.json.encode(value))


def of_request(request: ApprovalRequest) -> list[Any]:
    return [
        request.id, request.call.id, request.call.name, plain(request.call.input), request.kind,
        request.summary, request.reason, plain(request.metadata), str(request.want),
        plain(request.schema),
    ]  # fmt: skip


def of_part(call: ToolCall) -> list[Any]:
    return [call.id, call.name, plain(call.input), plain(call.metadata)]


def of_resumption(resume: Resumption | None) -> dict[str, Any]:
    resume = resume or Resumption()
    return {
        "answers": plain(resume.answers), "denied": plain(resume.denied),
        "token": plain(resume.token),
    }  # fmt: skip


def of_effect(effect: Effect) -> dict[str, Any]:
    facts: dict[str, Any] = {"type": type(effect).__name__}
    match effect:
        case StartTimer():
            facts |= {"at": effect.at, "why": str(effect.why), "call_id": effect.call_id}
        case Preflight() | StartTool():
            facts |= {"call": of_part(effect.call), "granted": list(effect.granted)}
        case _:
            pass
    if isinstance(effect, StartTool):
        facts |= {
            **of_resumption(effect.resume), "detaches": effect.detaches, "started": effect.started,
        }  # fmt: skip
    return facts


def of_call(call: CallState) -> dict[str, Any]:
    rules = call.rules
    return {
        "call": of_part(call.call),
        "status": str(call.status),
        "effects": [call.effect_id, call.timeout_id, call.detach_id],
        "rules": [rules.exclusive, rules.repeatable, rules.timeout_s, rules.detach_after_s],
        "started": call.started,
        "granted": list(call.granted),
        "vouched": list(call.vouched),
        **of_resumption(call.resume),
        "takes_denials": call.takes_denials,
        "approvals": [of_request(request) for request in call.pending_approvals],
    }


def of_state(state: State) -> dict[str, Any]:
    calls = () if state.turn is None else state.turn.calls
    return {
        "phase": str(state.phase),
        "hooks": [state.hooks.mutators, state.hooks.finish],
        "calls": [of_call(call) for call in calls],
        "background": [of_call(call) for call in state.background.values()],
        "out": {effect_id: of_effect(effect) for effect_id, effect in state.out.items()},
    }


def of_report(report: Report) -> list[Any]:
    match report:
        case Yield(status=WaitingForApproval(requests=requests, background=background)):
            return ["waiting", [of_request(request) for request in requests], sorted(background)]
        case Yield(status=status):
            return [type(status).__name__]
        case Emit(event=ApprovalRequired(request=request, background=in_background), number=number):
            return [
                "required", request.id, request.call.id, request.kind, request.summary,
                str(request.want), in_background, number,
            ]  # fmt: skip
        case Emit(event=event, number=number):
            return [type(event).__name__, number]


@pytest.mark.parametrize("line", lines("v2_states.jsonl"), ids=lambda line: line["seed"])
def test_a_snapshot_of_version_2_is_what_it_was(line: dict[str, Any]) -> None:
    state = decode_state(json.dumps(line["state"]).encode())

    assert of_state(state) == line["facts"]
    assert decode_state(encode_state(state)) == state


@pytest.mark.parametrize("line", lines("v2_heads.jsonl"), ids=lambda line: line["seed"])
def test_what_a_store_has_of_version_2_is_what_it_was(line: dict[str, Any]) -> None:
    log = msgspec.convert(line["log"], tuple[LogEntry, ...])
    head = decode_head(Saved(9, json.dumps(line["head"]).encode(), log))

    assert of_state(head.state) == line["facts"]
    assert [of_report(report) for report in head.reports] == line["told"]
    assert decode_state(encode_state(head.state)) == head.state
    state, _ = step(head.state, Cancel(), head.state.clock)
    assert state.transcript.open_calls == ()


def test_an_event_that_was_not_reported_has_the_call_that_it_is_about() -> None:
    names = set[str]()
    for line in lines("v2_heads.jsonl"):
        log = msgspec.convert(line["log"], tuple[LogEntry, ...])
        for report in decode_head(Saved(9, json.dumps(line["head"]).encode(), log)).reports:
            if isinstance(report, Emit) and isinstance(report.event, ApprovalRequired):
                names.add(report.event.request.call.name)

    assert names == {"read", "write"}


# sessions go on from what was stored


@tool
def read(patched: int = 0, changed: bool = False) -> str:
    """Read."""
    return "read"


@tool(needs_approval=True)
def write(patched: int = 0, changed: bool = False) -> str:
    """Write."""
    return "written"


def stored(line: dict[str, Any]) -> tuple[SessionId, MemoryStore]:
    store, log = MemoryStore(), msgspec.convert(line["log"], tuple[LogEntry, ...])
    session_id = SessionId(line["head"]["state"]["session_id"])
    store.save_blocking(session_id, seq=1, head=json.dumps(line["head"]).encode(), log=log)
    return session_id, store


def agent() -> Agent:
    answers = [lambda request: "done"] * 50
    return Agent(model=ScriptedModel(*answers), tools=[read, write], clock=ManualClock(9_000))


@pytest.mark.parametrize("line", lines("v2_heads.jsonl"), ids=lambda line: line["seed"])
def test_a_stored_session_goes_on_to_its_end_without_an_event_loop(line: dict[str, Any]) -> None:
    session_id, store = stored(line)
    with agent().session_blocking(session_id=session_id, store=store) as session:
        for _ in range(50):
            status = session.next()
            if isinstance(status, WaitingForApproval):
                for request in status.requests:
                    if request in session.pending_approvals:
                        session.approve(request.id, call_id=request.call.id, answer="yes")
            if isinstance(status, AwaitingInput | Closed):
                break
        else:
            pytest.fail(f"it does not come to rest, and is {status}")
        transcript = Transcript(session.transcript)

    assert transcript.open_calls == ()
    saved = store.load_blocking(session_id)
    assert saved is not None
    assert decode_head(saved).state.transcript == transcript


@pytest.mark.parametrize("line", lines("v2_heads.jsonl"), ids=lambda line: line["seed"])
async def test_a_stored_session_goes_on_to_its_end_on_an_event_loop(line: dict[str, Any]) -> None:
    session_id, store = stored(line)
    async with agent().session(session_id=session_id, store=store) as session:
        for _ in range(50):
            status = await session.next()
            if isinstance(status, WaitingForApproval):
                for request in status.requests:
                    if request in session.pending_approvals:
                        session.approve(request.id, call_id=request.call.id, answer="yes")
            if isinstance(status, AwaitingInput | Closed):
                break
        else:
            pytest.fail(f"it does not come to rest, and is {status}")

        assert Transcript(session.transcript).open_calls == ()
