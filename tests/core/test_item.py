"""Items: seven kinds, each with the parts that it may hold."""

import msgspec
import pytest
from hypothesis import given
from msgspec.structs import replace

from agentkit_core import (
    ANSWERABLE_KINDS,
    Custom,
    Item,
    ItemKind,
    MessageId,
    MisplacedPart,
    Part,
    Provenance,
    Reasoning,
    RecordError,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    from_json,
    to_json,
)
from support.items import items

CALL = ToolCall(ToolCallId("c1"), "look")
RESULT = ToolResult(ToolCallId("c1"), TextOutput("seen"))


def test_the_kinds_stand_in_their_order() -> None:
    assert [kind.value for kind in ItemKind] == [
        "system", "developer", "user", "assistant", "tool", "context", "notification",
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in ItemKind if kind is not ItemKind.TOOL])
def test_text_makes_an_item_of_any_kind_but_tool(kind: ItemKind) -> None:
    item = getattr(Item, kind.value)("a", Custom("x.y"), "b")

    assert item == Item(kind, (Text("a"), Custom("x.y"), Text("b")))
    assert item.text == "ab"
    assert getattr(Item, kind.value)() == Item(kind)


@pytest.mark.parametrize("kind", ItemKind)
@pytest.mark.parametrize(
    "part", [CALL, RESULT, Text("a"), Reasoning("r")], ids=["call", "result", "text", "reasoning"]
)
def test_c06_calls_belong_to_assistants_and_results_alone_to_tools(
    kind: ItemKind, part: Part
) -> None:
    fits = {
        ToolCall: kind is ItemKind.ASSISTANT,
        ToolResult: kind is ItemKind.TOOL,
    }.get(type(part), kind is not ItemKind.TOOL)  # fmt: skip

    if fits:
        assert Item(kind, (part,)).parts == (part,)
        return
    with pytest.raises(MisplacedPart) as caught:
        Item(kind, (part,))
    assert caught.value.kind == kind.value


def test_a_stored_item_with_a_misplaced_part_is_no_record() -> None:
    with pytest.raises(RecordError, match="user content"):
        from_json(b'{"kind":"user","parts":[' + to_json(CALL) + b"]}", Item)


def test_calls_and_results_are_given_in_their_order() -> None:
    other = replace(CALL, id=ToolCallId("c2"))

    assert Item.assistant("a", other, "b", CALL).tool_calls == (other, CALL)
    assert Item.tool(RESULT).tool_results == (RESULT,)
    assert Item.user("a").tool_calls == ()
    assert Item.user("a").tool_results == ()


def test_changing_a_field_makes_another_item() -> None:
    item = Item.user("hi")
    named = replace(item, id=MessageId("m1"), created_at=5)

    assert (named.id, named.created_at) == ("m1", 5)
    assert (item.id, item.created_at) == (None, None)
    with pytest.raises(AttributeError):
        item.id = MessageId("m2")  # type: ignore[misc]


def test_what_is_not_set_is_not_written() -> None:
    old = b'{"kind":"user","parts":[{"type":"text","text":"hi","metadata":{}}],"metadata":{}}'
    item = from_json(old, Item)

    assert item.usage is None
    assert item.created_at is None
    assert to_json(item) == b'{"kind":"user","parts":[{"type":"text","text":"hi"}]}'


@given(items())
def test_an_item_without_what_is_not_set_has_no_null_at_its_top(item: Item) -> None:
    assert None not in msgspec.json.decode(to_json(item)).values()


def test_the_same_model_means_provider_and_protocol_and_model() -> None:
    origin = Provenance("openai", "openai_chat", "m", response_id="r", response_model="m-1")

    assert origin.same_model("openai", "openai_chat", "m")
    assert not origin.same_model("groq", "openai_chat", "m")
    assert not origin.same_model("openai", "openai_responses", "m")
    assert not origin.same_model("openai", "openai_chat", "m-1")


def test_users_tools_and_notifications_ask_for_an_answer() -> None:
    assert {ItemKind.USER, ItemKind.TOOL, ItemKind.NOTIFICATION} == ANSWERABLE_KINDS


def test_what_is_neither_text_nor_part_is_refused_by_what_it_is() -> None:
    with pytest.raises(TypeError, match="5 is not a valid part"):
        Item.user(5)  # type: ignore[arg-type]
