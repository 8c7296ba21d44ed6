"""Errors say what, where and what to do, and carry the same facts as attributes."""

import json
import pickle
from collections.abc import Iterator

import pytest

from agentkit_core import (
    AgentkitError,
    CurrencyMismatch,
    DuplicateToolCall,
    DuplicateToolResult,
    FailureKind,
    MisplacedPart,
    OrphanToolResult,
    ProviderError,
    ProviderFailure,
    RecordError,
    ToolCallId,
    TranscriptError,
    UnansweredToolCall,
    UnsupportedContent,
)
from agentkit_core.provider import (
    DeltaOutOfOrder,
    NormalizeError,
    PartId,
    ProjectionError,
    ProtocolError,
)

FAILURE = ProviderFailure(
    kind=FailureKind.RATE_LIMIT, message="slow down", retryable=True, retry_after_s=2.5, status=429
)
CALL = ToolCallId("call_1")
EXAMPLES = [
    (RecordError("Item", "no kind"), ["Item", "no kind", "check"]),
    (UnsupportedContent("video", target="a-model", advice="send frames"),
     ["video", "a-model", "send frames"]),
    (DeltaOutOfOrder("AppendText", PartId("p7"), "no such part"),
     ["AppendText", "p7", "no such part", "fix the decoder", "strict=False"]),
    (MisplacedPart("tool_call", kind="user"), ["tool_call", "user", "put tool calls in"]),
    (DuplicateToolCall(CALL, at=3, first_at=1), ["call_1", "item 3", "item 1", "give"]),
    (OrphanToolResult(CALL, at=3), ["call_1", "item 3", "append", "leave"]),
    (DuplicateToolResult(CALL, at=3), ["call_1", "item 3", "leave"]),
    (UnansweredToolCall((CALL, ToolCallId("call_2")), at=3),
     ["call_1", "call_2", "item 3", "append", "repair"]),
    (CurrencyMismatch(("EUR", "USD")), ["EUR", "USD", "amounts"]),
    (ProviderError(FAILURE), ["rate_limit", "429", "slow down", "2.5 s", "later"]),
]  # fmt: skip
MESSAGE_BY_CALLER = {AgentkitError, NormalizeError, ProtocolError, TranscriptError, ProjectionError}
"""Base classes, and errors whose message the code that raises them writes."""

errors = pytest.mark.parametrize(
    ("error", "facts"), EXAMPLES, ids=[type(error).__name__ for error, _ in EXAMPLES]
)


def tree(root: type[AgentkitError]) -> Iterator[type[AgentkitError]]:
    yield root
    for below in root.__subclasses__():
        yield from tree(below)


def test_every_error_of_the_core_is_looked_at_here() -> None:
    core = {error for error in tree(AgentkitError) if error.__module__.startswith("agentkit_core.")}

    assert core - MESSAGE_BY_CALLER == {type(error) for error, _ in EXAMPLES}


@errors
def test_an_error_says_what_and_where_and_what_to_do(
    error: AgentkitError, facts: list[str]
) -> None:
    for fact in facts:
        assert fact in str(error)


@errors
def test_an_error_carries_what_it_says_as_attributes(
    error: AgentkitError, facts: list[str]
) -> None:
    assert error.details
    for name in error.details:
        assert not callable(getattr(error, name))


@errors
def test_an_error_survives_pickling(error: AgentkitError, facts: list[str]) -> None:
    again = pickle.loads(pickle.dumps(error))

    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@errors
def test_an_error_can_be_written_as_json(error: AgentkitError, facts: list[str]) -> None:
    data = json.loads(json.dumps(error.to_json()))

    assert data["type"] == type(error).__name__
    assert data["message"] == str(error)
    assert set(data["details"]) == {name for name in vars(error) if name[0] != "_"}


def test_facts_that_are_not_json_are_written_by_their_repr() -> None:
    error = AgentkitError("no")
    error.cause = ValueError("x")  # type: ignore[attr-defined]

    assert error.to_json()["details"] == {"cause": "ValueError('x')"}


@pytest.mark.parametrize(
    ("error", "above"),
    [
        (RecordError, NormalizeError),
        (UnsupportedContent, NormalizeError),
        (DeltaOutOfOrder, ProtocolError),
        (MisplacedPart, TranscriptError),
        (DuplicateToolCall, TranscriptError),
        (OrphanToolResult, TranscriptError),
        (DuplicateToolResult, TranscriptError),
        (UnansweredToolCall, TranscriptError),
        (TranscriptError, ProtocolError),
        (ProjectionError, ProtocolError),
        (CurrencyMismatch, AgentkitError),
        (ProviderError, AgentkitError),
    ],
)
def test_an_error_can_be_caught_by_what_it_is_a_case_of(
    error: type[AgentkitError], above: type[AgentkitError]
) -> None:
    assert issubclass(error, above)
