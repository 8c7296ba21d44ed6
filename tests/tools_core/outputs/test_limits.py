"""An output that is too long is cut, refused or stored, and nothing of it is lost unsaid."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    File,
    FilesOutput,
    InlineBytes,
    InlineText,
    Media,
    Modality,
    PartsOutput,
    SessionId,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCallId,
    ToolFailure,
    ToolOutput,
    ToolResult,
    ToolSpec,
    to_json,
)
from agentkit_tools_core import OutputLimits, OverflowAction, ToolInvocation, ToolOutcome
from agentkit_tools_core._outputs._truncate import truncate_output
from agentkit_tools_core.artifacts import ArtifactStore, MemoryArtifacts, read_artifact_tool
from agentkit_tools_core.testing import call_tool

CALL = ToolInvocation(ToolCallId("c"), "t", session_id=SessionId("s"))
SPEC = ToolSpec("t")
IMAGE = Media(modality=Modality.IMAGE, mime_type="image/png", data=InlineBytes(b"x" * 9000))


def outcome(output: ToolOutput, *, is_error: bool = False) -> ToolOutcome:
    return ToolOutcome(ToolResult(call_id=CALL.call_id, output=output, is_error=is_error), True)


def applied(limits: OutputLimits, output: ToolOutput, spec: ToolSpec = SPEC) -> ToolResult:
    result = limits.apply(outcome(output), spec, CALL)
    assert result.stop, "what else came of the call is kept"
    return result.result


def stub_of(result: ToolResult) -> dict[str, Any]:
    assert isinstance(result.output, StructuredOutput)
    assert isinstance(result.output.value, dict)
    return result.output.value


# Which limit


def with_metadata(value: Any) -> ToolSpec:
    return ToolSpec("t", metadata={"agentkit.tool_output_limit": value})


@pytest.mark.parametrize(
    ("limits", "spec", "limit"),
    [
        (OutputLimits(), SPEC, 150_000),
        (OutputLimits(default_bytes=None), SPEC, None),
        (OutputLimits(default_bytes=9), with_metadata(7), 7),
        (OutputLimits(default_bytes=9, from_metadata=False), with_metadata(7), 9),
        (OutputLimits(per_tool={"t": 5}), with_metadata(7), 5),
        (OutputLimits(per_tool={"t": None}), with_metadata(7), None),
        (OutputLimits(per_tool={"u": 5}), SPEC, 150_000),
        *((OutputLimits(default_bytes=9), with_metadata(bad), 9) for bad in (0, -1, True, "7")),
    ],
)
def test_t27_the_nearest_limit_counts(
    limits: OutputLimits, spec: ToolSpec, limit: int | None
) -> None:
    assert limits.limit_of(spec) == limit


@pytest.mark.parametrize("action", OverflowAction)
def test_t27_what_fits_is_left_as_it_is(action: OverflowAction) -> None:
    limits = OutputLimits(default_bytes=10, action=action, store=MemoryArtifacts())
    value = outcome(TextOutput("é" * 5))

    assert limits.apply(value, SPEC, CALL) is value
    assert OutputLimits(default_bytes=None).apply(value, SPEC, CALL) is value


# What becomes of the rest


def test_t27_it_is_cut() -> None:
    result = applied(OutputLimits(default_bytes=60), TextOutput("x" * 100))

    assert result.output == truncate_output(TextOutput("x" * 100), 60)
    assert not result.is_error


def test_t27_or_the_call_has_failed_and_says_by_how_much() -> None:
    limits = OutputLimits(default_bytes=60, action=OverflowAction.FAIL)
    result = applied(limits, TextOutput("é" * 100))

    assert result.is_error
    assert result.failure is ToolFailure.EXECUTION_FAILED
    assert result.started
    assert isinstance(result.output, TextOutput)
    assert "200 bytes" in result.output.text
    assert "60" in result.output.text


def test_t27_an_error_is_not_replaced_by_another_one() -> None:
    limits = OutputLimits(default_bytes=60, action=OverflowAction.FAIL)
    result = limits.apply(outcome(TextOutput("x" * 100), is_error=True), SPEC, CALL).result

    assert result.output == truncate_output(TextOutput("x" * 100), 60)


def storing(store: ArtifactStore, limit: int = 1000) -> OutputLimits:
    return OutputLimits(
        default_bytes=limit, action=OverflowAction.STORE, store=store, read_bytes=400
    )


def test_t27_or_it_is_stored_and_the_stub_leads_to_all_of_it() -> None:
    store = MemoryArtifacts()
    text = "né " * 100_000
    stub = stub_of(applied(storing(store), TextOutput(text)))

    assert stub["truncated"] is True
    assert stub["original_bytes"] == len(text.encode())
    assert stub["read_tool"] == "tool_result_read"
    assert text.startswith(stub["preview"])
    assert stub["preview"]
    assert stub["read_args"] == {"id": stub["tool_result_id"], "offset": 0, "limit": 400}

    reader = read_artifact_tool(store, max_bytes=140_000)
    arguments, decoded = {**stub["read_args"], "limit": 140_000}, ""
    for _ in range(3):
        piece: Any = call_tool(reader, arguments).result.output
        decoded += piece.value["content"]
        arguments["offset"] = piece.value["next_offset"]
    assert piece.value["eof"]
    assert decoded == text


values = st.text(st.characters() | st.sampled_from('"\\\x00é'), min_size=900, max_size=3000)


@given(values, st.integers(500, 3000))
def test_t27_a_stub_fits_the_limit_too(text: str, limit: int) -> None:
    result = applied(storing(MemoryArtifacts(), limit), TextOutput(text))

    if result.output != TextOutput(text):
        assert len(to_json(stub_of(result))) <= limit


def test_t27_an_error_is_stored_and_stays_one() -> None:
    limits = storing(MemoryArtifacts(), 500)
    result = limits.apply(outcome(TextOutput("x" * 1000), is_error=True), SPEC, CALL).result

    assert result.is_error
    assert stub_of(result)["truncated"]


@pytest.mark.parametrize(
    ("output", "stored", "media"),
    [
        (StructuredOutput(["x" * 2000]), to_json(["x" * 2000]).decode(), None),
        (PartsOutput((Text(text="x" * 2000), IMAGE, Text(text="y"))), "x" * 2000 + "\ny", IMAGE),
        (
            FilesOutput((File(data=InlineText("x" * 2000)), File(data=InlineBytes(b"z")))),
            "x" * 2000,
            File(data=InlineBytes(b"z")),
        ),
    ],
)
def test_t27_all_text_is_stored_and_media_stay(output: ToolOutput, stored: str, media: Any) -> None:
    store = MemoryArtifacts()
    result = applied(storing(store), output).output
    if media is None:
        assert isinstance(result, StructuredOutput)
        stub: Any = result.value
    else:
        assert isinstance(result, PartsOutput)
        first, *others = result.parts
        assert isinstance(first, Structured)
        stub = first.value
        assert others == [media]

    assert store.read(stub["tool_result_id"], 0, 10_000).content == stored


def test_t27_where_the_store_fails_the_output_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    class Full(MemoryArtifacts):
        def put(self, *value: Any) -> Any:
            raise OSError("disk full")

    with caplog.at_level(logging.WARNING):
        result = applied(storing(Full()), TextOutput("x" * 2000))

    assert result.output == truncate_output(TextOutput("x" * 2000), 1000)
    assert "could not be stored" in caplog.text


def test_t28_what_is_read_back_is_not_stored_again() -> None:
    reader = read_artifact_tool(MemoryArtifacts())
    value = outcome(StructuredOutput({"content": "x" * 40_000}))

    assert storing(MemoryArtifacts()).apply(value, reader.spec, CALL) is value


@pytest.mark.parametrize(
    "settings",
    [
        {"default_bytes": 0},
        {"per_tool": {"t": 0}},
        {"read_bytes": 0},
        {"action": OverflowAction.STORE},
    ],
)
def test_a_bad_setting_is_refused_when_the_limits_are_made(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"limit|store"):
        OutputLimits(**settings)
