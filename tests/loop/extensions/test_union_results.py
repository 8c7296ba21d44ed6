"""A result may be a union of classes, however the result is asked for."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Literal

import pydantic
import pytest

from agentkit_core import JsonValue
from agentkit_loop import Agent
from agentkit_loop.extensions._structured import ResultMode
from agentkit_loop.testing import ScriptedModel, call, say


class Cat(pydantic.BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(pydantic.BaseModel):
    kind: Literal["dog"]
    good: bool


@dataclasses.dataclass
class Circle:
    radius: float


@dataclasses.dataclass
class Ring:
    radius: float
    hole: float


@pytest.mark.parametrize("mode", list(ResultMode))
@pytest.mark.parametrize(
    ("kind", "sent", "value"),
    [
        (Cat | Dog, {"kind": "dog", "good": True}, Dog(kind="dog", good=True)),
        (list[Cat | Dog], [{"kind": "cat", "lives": 9}], [Cat(kind="cat", lives=9)]),
        (Circle | Ring, {"radius": 1.0, "hole": 0.5}, Ring(1.0, 0.5)),
        (Circle | Cat | None, None, None),
    ],
)
def test_vl32_a_union_of_classes_is_a_result_type(
    mode: ResultMode, kind: Any, sent: JsonValue, value: Any
) -> None:
    misfit: dict[str, JsonValue] = {"result": {"kind": "cow"}}
    good: dict[str, JsonValue] = {"result": sent}
    if mode is ResultMode.TOOL:
        model = ScriptedModel(call("final_result", misfit, "c1"), call("final_result", good, "c2"))
    else:
        model = ScriptedModel(say(json.dumps(misfit)), say(json.dumps(good)))
    result = Agent(model=model).run_blocking("go", result_type=kind, result_mode=mode)

    assert result.value == value
    assert len(model.requests) == 2
