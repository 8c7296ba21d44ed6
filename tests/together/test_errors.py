"""Every error of the five packages can be copied, and sent to another process, with its facts."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from typing import Any

import pytest

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    FailureKind,
    Item,
    ProviderFailure,
    ToolCall,
    ToolCallId,
    ToolFailure,
    TurnId,
    Usage,
)
from agentkit_core.values import PortableError
from agentkit_loop import TurnEnd, TurnResult
from agentkit_tools_core import ToolError, ToolSuspended
from together.sources import MODULE_OF

REQUEST = ApprovalRequest(
    id=ApprovalId("k:1"),
    call=ToolCall(ToolCallId("c"), "t", {"a": [1]}),
    kind="k",
    summary="May I?",
)
VALUES: dict[str, Any] = {
    "str": "a text",
    "str | None": "a text",
    "int": 3,
    "int | None": 3,
    "bool": True,
    "float": 0.5,
    "object": "a store",
    "type": dict,
    "JsonValue": {"a": [1, None]},
    "dict[str, JsonValue]": {"a": [1, None]},
    "tuple[str, ...]": ("a", "b"),
    "ToolCallId": ToolCallId("c"),
    "tuple[ToolCallId, ...]": (ToolCallId("c"),),
    "PartId | None": "p",
    "SessionId": "s",
    "SessionId | None": "s",
    "ApprovalId": ApprovalId("k:1"),
    "ApprovalRequest": REQUEST,
    "tuple[ApprovalRequest, ...]": (REQUEST,),
    "Sequence[ApprovalRequest]": [REQUEST],
    "tuple[Item, ...]": (Item.user("hi"),),
    "Usage": Usage(requests=1),
    "ToolFailure": ToolFailure.INVALID_INPUT,
    "TurnResult": TurnResult(turn_id=TurnId("t"), end=TurnEnd.COMPLETED),
    "ProviderFailure": ProviderFailure(kind=FailureKind.RATE_LIMIT, message="slow down"),
}
"""A value for each annotation of a parameter of an error; others get a text."""


def errors_of_packages() -> dict[str, type[BaseException]]:
    found: dict[str, type[BaseException]] = {}
    for module in MODULE_OF.values():
        package = importlib.import_module(module)
        for info in pkgutil.walk_packages(package.__path__, f"{module}."):
            try:
                members = vars(importlib.import_module(info.name))
            except ImportError:  # a module that needs an extra
                continue
            for member in list(members.values()):
                if (
                    inspect.isclass(member)
                    and issubclass(member, BaseException)
                    and member.__module__.partition(".")[0] in MODULE_OF.values()
                ):
                    found[member.__qualname__] = member
    return found


ERRORS = errors_of_packages()


def make(cls: type[BaseException]) -> BaseException:
    arguments: list[Any] = []
    keywords: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            arguments += ["a message"] * (parameter.kind is parameter.VAR_POSITIONAL)
            continue
        value = VALUES.get(str(parameter.annotation), "a text")
        if parameter.kind is parameter.KEYWORD_ONLY:
            keywords[name] = value
        else:
            arguments.append(value)
    error = cls(*arguments, **keywords)
    error.add_note("a note")
    error.__cause__ = ValueError("the cause")
    return error


WAYS: dict[str, Callable[[BaseException], BaseException]] = {
    "copied": copy.copy,
    "copied in depth": copy.deepcopy,
    **{
        f"pickled by protocol {protocol}": lambda error, protocol=protocol: pickle.loads(  # type: ignore[misc]
            pickle.dumps(error, protocol)
        )
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


def facts_of(error: BaseException) -> dict[str, str]:
    return {name: repr(fact) for name, fact in vars(error).items()}


@pytest.mark.parametrize("name", ERRORS)
def test_vl27_every_error_travels_with_all_it_carries(name: str) -> None:
    error = make(ERRORS[name])

    for way, travel in WAYS.items():
        for other in (travel(error), travel(travel(error))):
            assert type(other) is type(error), way
            assert str(other) == str(error), way
            assert repr(other.args) == repr(error.args), way
            assert facts_of(other) == facts_of(error), way
            if isinstance(error, PortableError):
                assert repr(other.__cause__) == "ValueError('the cause')", way


def test_vl27_the_errors_of_all_packages_are_looked_at() -> None:
    roots = {error.__module__.partition(".")[0] for error in ERRORS.values()}

    assert len(ERRORS) > 50
    assert roots == set(MODULE_OF.values())


def test_vl27_what_cannot_be_pickled_arrives_as_a_text() -> None:
    def local() -> None:
        pass

    error = HostError("boom", {"f": local})

    assert copy.copy(error).facts == {"f": local}
    assert copy.deepcopy(error).facts == {"f": local}
    other = pickle.loads(pickle.dumps(error))
    assert (str(other), other.facts) == ("boom", repr({"f": local}))


def test_vl27_an_error_of_a_host_travels_too() -> None:
    error = HostError("boom", {"a": 1})

    assert copy.deepcopy(error).facts == {"a": 1}
    assert copy.deepcopy(error).facts is not error.facts
    assert pickle.loads(pickle.dumps(error)).facts == {"a": 1}


class HostError(ToolError):
    """An error with a constructor of its own."""

    def __init__(self, message: str, facts: dict[str, Any]) -> None:
        super().__init__(message)
        self.facts = facts


def test_vl27_a_suspension_carries_what_is_asked() -> None:
    error = ToolSuspended([REQUEST], token={"a": 1})

    for way in WAYS.values():
        other = way(error)
        assert isinstance(other, ToolSuspended)
        assert (other.requests, other.token) == ((REQUEST,), {"a": 1})
