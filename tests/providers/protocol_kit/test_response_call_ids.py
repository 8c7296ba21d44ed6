"""The calls of one response get ids that are unique there, and new where the provider has none."""

from agentkit_core import Item, ToolCall, ToolCallId
from agentkit_providers._protocol_kit._response_call_ids import ResponseCallIds


def history(*ids: str) -> list[Item]:
    return [Item.assistant(*(ToolCall(ToolCallId(call_id), "look") for call_id in ids))]


def test_a_call_keeps_the_providers_id_even_if_an_earlier_response_had_it() -> None:
    ids = ResponseCallIds(history("call_0", "a"))

    assert [ids.assign("a", 0), ids.assign("call_0", 1)] == ["a", "call_0"]


def test_a_call_without_id_gets_one_that_neither_the_response_nor_the_history_has() -> None:
    ids = ResponseCallIds(history("call_1", "call_2"))

    assert [ids.assign("", position) for position in range(3)] == ["call_0", "call_3", "call_4"]


def test_a_call_with_the_id_of_an_earlier_one_of_the_response_gets_a_new_one() -> None:
    ids = ResponseCallIds([])

    assert [ids.assign("a", 0), ids.assign("a", 1), ids.assign("call_1", 2)] == [
        "a",
        "call_1",
        "call_2",
    ]
