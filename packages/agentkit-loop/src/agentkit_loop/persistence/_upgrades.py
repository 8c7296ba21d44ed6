"""Upgrades: they turn stored states of older versions into states of the newest.

Each upgrade turns the plain JSON of one version into that of the next. It depends on nothing but
what is stored, so a state can be upgraded anywhere and at any time. What older versions had:

    1    `seen_calls` in place of a count; a turn had all of its items beside the transcript
    2    id, name and arguments of a call in place of the call; its rules and answers not grouped
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from agentkit_core import RecordError
from agentkit_loop.kernel._state import STATE_VERSION

Json = dict[str, Any]
"""A JSON object as it is stored."""


def upgrade(state: Json, reports: Sequence[Json], version: int) -> None:
    """Upgrade what is stored of a session to the newest version, in place.

    Args:
        state: The state.
        reports: The events and statuses that were stored beside it, in order; empty for a
            snapshot.
        version: The version that wrote both.

    Raises:
        RecordError: The state is not what that version wrote.
    """
    for number in range(version, STATE_VERSION):
        try:
            _UPGRADES[number](state, reports)
        except (AttributeError, LookupError, TypeError) as error:
            reason = f"it is not a valid state of version {number}: {error}"
            raise RecordError("state", reason) from error
    state["version"] = STATE_VERSION


def _from_1(state: Json, reports: Sequence[Json]) -> None:
    seen = state.pop("seen_calls", [])
    items = state.get("transcript", [])
    in_transcript = {
        part.get("id")
        for item in items
        for part in item.get("parts", [])
        if part.get("type") == "tool_call"
    }
    state |= {
        "calls": len(seen),
        "retired_calls": [call_id for call_id in seen if call_id not in in_transcript],
    }
    turn = state.get("turn")
    if turn is not None:
        turn |= {
            "first": len(items),
            "tool_calls": sum(
                part.get("type") == "tool_call"
                for item in turn.get("produced", [])
                for part in item.get("parts", [])
            ),
            "called": state.get("phase") == "calling",
            "started_at": state.get("clock", 0),
        }
        for call in turn.get("calls", []):
            call["started"] = call.get("status") == "running"
    for effect in state.get("out", {}).values():
        if effect.get("type") == "start_tool":
            # Drivers did not record it then; the tool may have started.
            effect["started"] = True


def _from_2(state: Json, reports: Sequence[Json]) -> None:
    config = state.get("config", {})
    state["hooks"] = {
        "mutators": config.pop("mutate", False),
        "finish": config.pop("check_finish", False),
    }
    calls = list(_calls(state))
    parts = {call["id"]: _part(call, call["id"]) for call in calls}
    for call in calls:
        _restructure_call(call)
    for effect in state.get("out", {}).values():
        if effect["type"] in ("preflight", "start_tool"):
            effect["call"] = _part(effect, effect.pop("call_id"))
            for name in ("name", "input", "metadata"):
                effect.pop(name, None)
            _move(effect, "resume", _OF_RESUMPTION)
    for report in reports:
        if "step" in report:
            report["status"] = report.pop("step")
        event, status = report.get("event", {}), report.get("status", {})
        if event.get("type") == "approval_required":
            nameless = {"type": "tool_call", "id": event["call_id"], "name": ""}
            event["call"] = parts.get(event.pop("call_id"), nameless)
            event["id"] = event.pop("approval_id")
            _move(event, "request", ("id", "call", "kind", "summary", "want"))
        if status.get("type") == "approval_requested":
            asks = status.pop("asks")
            in_background = dict.fromkeys(ask["call_id"] for ask in asks if ask.get("background"))
            status |= {
                "type": "waiting_for_approval",
                "background": list(in_background),
                "requests": [_request(ask) for ask in asks],
            }


_OF_RULES: Final = ("exclusive", "repeatable", "timeout_s", "detach_after_s")
_OF_RESUMPTION: Final = ("answers", "denied", "token")


def _restructure_call(call: Json) -> None:
    call["call"] = _part(call, call.pop("id"))
    for name in ("name", "input", "metadata"):
        call.pop(name, None)
    _move(call, "rules", _OF_RULES)
    _move(call, "resume", _OF_RESUMPTION)
    if "asks" in call:
        call["pending_approvals"] = [_request(ask) for ask in call.pop("asks")]


def _move(fields: Json, to: str, names: tuple[str, ...]) -> None:
    """Move the fields that are there into a new object; if there are none, make no object."""
    moved = {name: fields.pop(name) for name in names if name in fields}
    if moved:
        fields[to] = moved


def _request(ask: Json) -> Json:
    call = _part({**ask, "metadata": {}}, ask["call_id"])
    without = ("call_id", "name", "input", "background")
    return {"call": call} | {name: ask[name] for name in ask if name not in without}


def _part(fields: Json, call_id: str) -> Json:
    part = {"type": "tool_call", "id": call_id, "name": fields["name"], "input": fields["input"]}
    return part | {"metadata": fields.get("metadata", {})}


def _calls(state: Json) -> Iterator[Json]:
    yield from state.get("background", {}).values()
    yield from (state.get("turn") or {}).get("calls", [])


_UPGRADES: Final[Mapping[int, Callable[[Json, Sequence[Json]], None]]] = {1: _from_1, 2: _from_2}
"""The upgrade from each version to the next one."""
