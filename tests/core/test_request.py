"""A request is data: everything may be left out, and what is left out is not written."""

import pytest

from agentkit_core import (
    Item,
    JsonFormat,
    JsonSchemaFormat,
    ModelOptions,
    ModelRequest,
    NamedTool,
    RecordError,
    ResponseFormat,
    SessionId,
    ThinkingLevel,
    Timeouts,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
    from_json,
    from_msgpack,
    to_json,
    to_msgpack,
)
from agentkit_core.cache import CacheMark, CacheMode, CacheRequest, ItemEnd, PartEnd, ToolsEnd

FULL = ModelRequest(
    model="a-model",
    items=[Item.user("hi")],
    tools=(ToolSpec("look"),),
    options=ModelOptions(
        thinking=ThinkingLevel.HIGH,
        max_output_tokens=100,
        temperature=0.5,
        stop_sequences=("END",),
        tool_choice=NamedTool("look"),
        response_format=JsonSchemaFormat({"type": "object"}, strict=True),
        cache=CacheRequest(
            mode=CacheMode.REQUIRED, marks=(ToolsEnd(), ItemEnd(0), PartEnd(0, 0)), key="k"
        ),
        timeouts=Timeouts(total_s=30.0),
        extra={"openai_chat": {"n": 2}},
    ),
    streamed=False,
    session_id=SessionId("s1"),
    metadata={"app.trace": "t"},
)


def test_an_empty_request_writes_nothing_but_its_model() -> None:
    assert to_json(ModelRequest(model="m")) == b'{"model":"m"}'
    assert from_json(b'{"model":"m"}', ModelRequest) == ModelRequest(model="m")


def test_a_full_request_reads_back_equal() -> None:
    assert from_json(to_json(FULL), ModelRequest) == FULL
    assert from_msgpack(to_msgpack(FULL), ModelRequest) == FULL


def test_thinking_levels_stand_in_their_order() -> None:
    assert [level.value for level in ThinkingLevel] == [
        "off", "minimal", "low", "medium", "high", "xhigh", "max",
    ]  # fmt: skip


@pytest.mark.parametrize("choice", [*ToolChoiceMode, NamedTool("look")])
def test_a_tool_choice_is_a_mode_or_a_name(choice: ToolChoice) -> None:
    assert from_json(to_json(choice), ToolChoice) == choice


@pytest.mark.parametrize("chosen", [JsonFormat(), JsonSchemaFormat({"type": "object"})])
def test_a_response_format_is_any_json_or_json_by_a_schema(chosen: ResponseFormat) -> None:
    assert from_json(to_json(chosen), ResponseFormat) == chosen


@pytest.mark.parametrize("mark", [ToolsEnd(), ItemEnd(3), PartEnd(3, 1)])
def test_a_cache_mark_stands_after_tools_items_or_parts(mark: CacheMark) -> None:
    assert from_json(to_json(mark), CacheMark) == mark


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        FULL.model = "other"  # type: ignore[misc]


def test_an_extra_field_stands_under_the_name_of_its_protocol() -> None:
    with pytest.raises(TypeError, match=r"'openai_chat': \{'n'"):
        ModelOptions(extra={"n": 2})  # type: ignore[dict-item]
    with pytest.raises(RecordError):
        from_json(b'{"extra": {"n": 2}}', ModelOptions)
