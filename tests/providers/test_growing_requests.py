"""What a request costs does not grow with the history; shown by counting work, not by time."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from agentkit_core import (
    InlineBytes,
    Item,
    JsonSchemaFormat,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
)
from agentkit_core.cache import CacheRequest
from agentkit_providers._protocol_kit import _media_types, _tool_rules, _tool_schemas
from agentkit_providers._protocol_kit._incremental_history import IncrementalHistory
from agentkit_providers._protocol_kit._projection_base import VendorProjection
from agentkit_providers.anthropic_messages import AnthropicMessages
from agentkit_providers.google_generate import GoogleGenerate
from agentkit_providers.openai_chat import OpenAIChat, _encode
from agentkit_providers.openai_chat import Quirks as OpenAIChatQuirks
from agentkit_providers.openai_responses import OpenAIResponses
from support.counted_lines import counting

pytestmark = pytest.mark.slow

FEW, MANY = 40, 800
PROJECTIONS: dict[str, Callable[[], VendorProjection[Any]]] = {
    "a-model": OpenAIChat,
    "gpt-5": OpenAIResponses,
    "claude-sonnet-4-5": AnthropicMessages,
    "gemini-3-pro": GoogleGenerate,
}
PNG = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x89PNG\r\n\x1a\n123"))
TOOLS = (ToolSpec("add", input_schema={"type": "object", "properties": {"a": {"type": "int"}}}),)

every_protocol = pytest.mark.parametrize("model", PROJECTIONS)


def plain(count: int) -> list[Item]:
    return [Item.assistant(f"No. {n}") if n % 2 else Item.user(f"No. {n}") for n in range(count)]


def words_of_the_user(count: int) -> list[Item]:
    return [Item.user(f"No. {n}") for n in range(count)]


def rounds(count: int, name: str = "add") -> list[Item]:
    """Rounds of two calls, with ids as Google gives them, and an image every eight items."""
    items: list[Item] = []
    for number in range(count // 4):
        metadata: dict[str, Any] = {"google_generate.call_id": f"g{number}"}
        calls = [
            ToolCall(ToolCallId(f"c{number}_{at}"), name, {"a": number}, metadata=metadata)
            for at in range(2)
        ]
        items += [
            Item.user("Once more.", *(PNG,) * (number % 2)),
            Item.assistant("I call.", *calls),
            Item.tool(*(ToolResult(call.id, TextOutput("1")) for call in calls)),
            Item.assistant("Here it is."),
        ]
    return items


def renamed(count: int) -> list[Item]:
    """Rounds of calls of a tool whose name vendors refuse."""
    return rounds(count, "add numbers")


HISTORIES = {
    "plain": plain,
    "rounds": rounds,
    "renamed": renamed,
    "users": words_of_the_user,
}
every_history = pytest.mark.parametrize("history", HISTORIES)


def request(
    model: str,
    items: Sequence[Item],
    *,
    options: ModelOptions | None = None,
    tools: tuple[ToolSpec, ...] = TOOLS,
) -> ModelRequest:
    options = options or ModelOptions(cache=CacheRequest())
    return ModelRequest(model=model, items=tuple(items), tools=tools, options=options)


def work_of_a_turn(model: str, items: list[Item], options: ModelOptions | None) -> Counter[str]:
    """Count the work of a round of calls on top of a history that the encoder knows."""
    encoder, work = PROJECTIONS[model]().encoder(), Counter[str]()
    tools = (*TOOLS, ToolSpec("add numbers"))
    encoder.encode(request(model, items, options=options, tools=tools))
    call = ToolCall(ToolCallId("new"), "add", {"a": 1})
    new = [Item.assistant("I call.", call), Item.tool(ToolResult(call.id, TextOutput("2")))]
    items = [*items, *new, Item.assistant("So."), Item.user("On.")]
    longer = request(model, items, options=options, tools=tools)
    with counting(work):
        encoder.encode(longer)
    return work


@every_protocol
@every_history
@pytest.mark.parametrize("thinking", [None, ThinkingLevel.OFF, ThinkingLevel.HIGH])
def test_a_turn_on_a_long_history_executes_what_one_on_a_short_history_does(
    model: str, history: str, thinking: ThinkingLevel | None
) -> None:
    options = ModelOptions(cache=CacheRequest(), thinking=thinking)
    work_of_a_turn(model, HISTORIES[history](FEW), options)  # fills caches of patterns
    few = work_of_a_turn(model, HISTORIES[history](FEW), options)
    many = work_of_a_turn(model, HISTORIES[history](MANY), options)

    assert few.total() > 100
    assert many == few


def test_marks_in_messages_leave_what_was_written_as_it_is() -> None:
    projection = OpenAIChat(quirks=OpenAIChatQuirks(cache_control=True))
    encoder, written = projection.encoder(), list[int]()
    chat_encode: Any = _encode
    encode_item = chat_encode.encode_item

    def counted(items: Any, at: int, *rest: Any, **options: Any) -> Any:
        written.append(at)
        return encode_item(items, at, *rest, **options)

    items = [Item.system("Be brief."), Item.user("hi")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chat_encode, "encode_item", counted)
        for turn in range(20):
            encoder.encode(request("a-model", items))
            items += [Item.assistant(f"answer {turn}"), Item.user("go on")]
        body = encoder.encode(request("a-model", items)).body

    assert written == list(range(2 + 20 * 2))
    assert body == projection.encode(request("a-model", items)).body
    assert body.count(b'"cache_control"') == 4


FORMAT = JsonSchemaFormat({"type": "object"})
NO_JSON_WITH_TOOLS = OpenAIChat(quirks=OpenAIChatQuirks(json_with_tools=False))


@pytest.mark.parametrize(
    ("projection", "model"),
    [
        (AnthropicMessages(), "claude-sonnet-4-5"),
        (GoogleGenerate(), "gemini-2.0-flash"),
        (NO_JSON_WITH_TOOLS, "a-model"),
    ],
)
def test_a_format_that_is_asked_for_in_words_writes_nothing_anew(
    projection: VendorProjection[Any], model: str
) -> None:
    def work(count: int) -> Counter[str]:
        encoder, counted = projection.encoder(), Counter[str]()
        options, items = ModelOptions(response_format=FORMAT), plain(count)
        encoder.encode(request(model, items, options=options))
        longer = request(model, [*items, Item.user("On.")], options=options)
        with counting(counted):
            wire = encoder.encode(longer)
        assert b"valid for this JSON Schema" in wire.body
        assert wire == projection.encode(longer)
        without = request(model, [*items, Item.user("On.")])
        assert encoder.encode(without) == projection.encode(without)
        return counted

    work(FEW)

    assert work(MANY) == work(FEW)


@every_protocol
@every_history
def test_the_first_request_of_a_history_costs_the_same_for_each_item(
    model: str, history: str
) -> None:
    def work(count: int) -> int:
        encoder, counted = PROJECTIONS[model]().encoder(), Counter[str]()
        with counting(counted):
            encoder.encode(request(model, HISTORIES[history](count)))
        return counted.total()

    first, second, third = (work(count) for count in (FEW, 2 * FEW, 4 * FEW))

    assert third - second == pytest.approx(2 * (second - first), rel=0.02)


@every_protocol
def test_a_plain_message_is_checked_and_written_in_one_pass(model: str) -> None:
    few, many = (request(model, plain(count)) for count in (FEW, MANY))

    def work(request: ModelRequest) -> int:
        encoder, counted = PROJECTIONS[model]().encoder(), Counter[str]()
        with counting(counted):
            encoder.encode(request)
        return counted.total()

    work(few)  # fills caches of patterns

    assert (work(many) - work(few)) / (MANY - FEW) < 45


@every_protocol
def test_each_item_of_a_conversation_is_written_once(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_encode: Any = IncrementalHistory.encode
    written: list[int] = []

    def encode(self: Any, items: Any, encode_item: Any) -> Any:
        def counted(items: Any, at: int) -> Any:
            written.append(at)
            return encode_item(items, at)

        return plain_encode(self, items, counted)

    monkeypatch.setattr(IncrementalHistory, "encode", encode)
    encoder, items = PROJECTIONS[model]().encoder(), [Item.user("hi")]
    for turn in range(50):
        encoder.encode(request(model, items))
        items += [Item.assistant(f"answer {turn}"), Item.user("go on")]

    assert written == list(range(1 + 49 * 2))


@every_protocol
@pytest.mark.parametrize("thinking", [None, ThinkingLevel.OFF, ThinkingLevel.HIGH])
def test_words_that_a_model_goes_on_from_are_sent_as_they_are_afterwards(
    model: str, thinking: ThinkingLevel | None
) -> None:
    projection = PROJECTIONS[model]()
    encoder, options = projection.encoder(), ModelOptions(thinking=thinking)
    words = [Item.user("a"), Item.assistant("b  ")]
    later = [*words, Item.user("c"), Item.assistant("d ")]
    for items in (words, later[:3], later, words):
        made = request(model, items, options=options, tools=())
        assert encoder.encode(made) == projection.encode(made)


@every_protocol
def test_the_type_of_an_image_is_read_once(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentkit_providers._protocol_kit import _readable_media

    read: list[bytes] = []

    def type_of(content: bytes) -> str | None:
        read.append(content)
        return _media_types.type_of(content)

    monkeypatch.setattr(_readable_media, "type_of", type_of)
    encoder, items = PROJECTIONS[model]().encoder(), [Item.user("look", PNG)]
    for _ in range(5):
        encoder.encode(request(model, items))
        items += [Item.assistant("ok"), Item.user(Text("go on"))]

    assert len(read) == 1


# tools


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The schemas that were fitted."""
    schemas: list[Any] = []
    plain_schema = _tool_schemas.object_schema

    def object_schema(schema: Any, **options: Any) -> Any:
        schemas.append(schema)
        return plain_schema(schema, **options)

    monkeypatch.setattr(_tool_rules, "object_schema", object_schema)
    return schemas


@every_protocol
def test_a_tool_is_fitted_once_for_all_sessions_of_a_model(model: str, fitted: list[Any]) -> None:
    projection = PROJECTIONS[model]()
    bodies = set[bytes]()
    for _ in range(2):
        encoder = projection.encoder()
        bodies |= {encoder.encode(request(model, plain(1))).body for _ in range(3)}
        # What brings further tools makes new tuples of the same specs.
        bodies.add(encoder.encode(request(model, plain(1), tools=(*TOOLS,))).body)

    assert fitted == [TOOLS[0].input_schema]
    assert bodies == {PROJECTIONS[model]().encode(request(model, plain(1))).body}


@every_protocol
def test_a_tool_that_was_replaced_is_fitted_anew(model: str, fitted: list[Any]) -> None:
    encoder = PROJECTIONS[model]().encoder()
    other = ToolSpec("add", input_schema={"type": "object", "properties": {"b": {}}})
    encoder.encode(request(model, plain(1)))
    body = encoder.encode(request(model, plain(1), tools=(other,))).body

    assert fitted == [TOOLS[0].input_schema, other.input_schema]
    assert body == PROJECTIONS[model]().encode(request(model, plain(1), tools=(other,))).body


@every_protocol
def test_what_is_kept_of_tools_is_bounded_and_not_pickled(model: str) -> None:
    projection = PROJECTIONS[model]()
    encoder = projection.encoder()
    for number in range(600):
        encoder.encode(request(model, plain(1), tools=(ToolSpec(f"tool_{number}"),)))
    copied = pickle.loads(pickle.dumps(projection))

    assert len(projection._kept._of_values) <= 512
    assert not copied._kept._of_values
    assert copied.encode(request(model, plain(1))) == projection.encode(request(model, plain(1)))
