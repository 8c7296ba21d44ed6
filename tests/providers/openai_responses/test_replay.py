"""Responses, there and back: what the vendor made goes back to it, as it came and when it may."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    FinishReason,
    Item,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    Part,
    Reasoning,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
    ToolSpec,
    from_json,
    to_json,
)
from agentkit_core.provider import ResponseFold, fold_response
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers.endpoints import OPENAI_RESPONSES, default_registry
from agentkit_providers.openai_responses import OpenAIResponses, Quirks, ReasoningReplay
from agentkit_providers.replay import ReplayServer, Script
from agentkit_providers.replay import openai_responses as answers
from providers import corpus
from providers.openai_responses.test_encode import check_types
from providers.transports import Transport
from support.responses_bodies import call, message, reasoning, whole

SEARCH: dict[str, Any] = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "x"},
}
SHELL: dict[str, Any] = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "call_s",
    "action": {"commands": ["ls"]},
}
SHELL_OUTPUT: dict[str, Any] = {"type": "shell_call_output", "call_id": "call_s", "output": []}


def answer(*output: Mapping[str, Any], model: str = "m", quirks: Quirks | None = None) -> Item:
    """What the model answered, read, stored and read again."""
    projection = OpenAIResponses(quirks=quirks or Quirks())
    decoder = projection.decoder(ModelRequest(model=model))
    events = [*decoder.feed(whole(*map(dict, output))), *decoder.finish()]
    return from_json(to_json(fold_response(events, strict=True).item), Item)


def results(item: Item) -> list[Item]:
    """A round of results for its calls, if it has any."""
    found = [ToolResult(entry.id, TextOutput("done")) for entry in item.tool_calls]
    return [Item.tool(*found)] if found else []


def sent(
    *items: Item,
    model: str = "m",
    quirks: Quirks | None = None,
    typed: bool = True,
    **extra: Any,
) -> list[dict[str, Any]]:
    """The input of a request, checked against the vendor's types where that is to be."""
    options = ModelOptions(extra={"openai_responses": extra} if extra else {})
    request = ModelRequest(model=model, items=items, streamed=False, options=options)
    written = json.loads(OpenAIResponses(quirks=quirks or Quirks()).encode(request).body)
    if typed:
        check_types(written, streamed=False)
    found: list[dict[str, Any]] = written["input"]
    return found


def back(item: Item, **given: Any) -> list[dict[str, Any]]:
    """What goes back of an answer."""
    written = sent(Item.user("q"), item, *results(item), **given)
    outputs = ("function_call_output", "custom_tool_call_output")
    return [entry for entry in written[1:] if entry.get("type") not in outputs]


def without(item: Item, *kinds: type[Part]) -> Item:
    return replace(item, parts=tuple(part for part in item.parts if type(part) not in kinds))


def test_r09_reasoning_and_its_call_go_back_as_they_came_in_their_order() -> None:
    output = [
        reasoning("Hm", content=[]),
        call(arguments='{"city": "Rome", "days": [1]}'),
        call("call_2", id="fc_2", namespace="n", caller={"type": "direct"}),
    ]

    assert back(answer(*output)) == output


def test_r09_a_call_whose_reasoning_is_gone_goes_back_without_its_id() -> None:
    item = without(answer(reasoning(), call(arguments='{"x":1}'), call("b", id="fc_2")), Reasoning)

    assert back(item) == [
        {
            "type": "function_call",
            "call_id": one,
            "name": "f",
            "arguments": arguments,
            "status": "completed",
        }
        for one, arguments in (("call_1", '{"x":1}'), ("b", "{}"))
    ]


def test_r09_a_message_whose_reasoning_is_gone_goes_back_without_its_id() -> None:
    item = without(answer(reasoning(), message("a", phase="commentary")), Reasoning)

    assert back(item) == [{"role": "assistant", "content": "a", "phase": "commentary"}]


def test_r09_reasoning_whose_call_is_gone_goes_too() -> None:
    item = answer(reasoning(), call())

    assert back(without(item, ToolCall)) == []
    later = answer(reasoning(), call(), reasoning(id="rs_2"), message("a"))
    assert back(without(later, ToolCall)) == [reasoning(id="rs_2"), message("a")]
    swapped = replace(later, parts=(later.parts[0], later.parts[3]))
    assert back(swapped) == [{"role": "assistant", "content": "a"}]


def test_r09_reasoning_without_an_end_is_left_out() -> None:
    assert back(answer(reasoning("so far"))) == []


def test_r09_what_the_vendor_ran_goes_back_with_its_reasoning_or_not_at_all() -> None:
    output = [reasoning(), SEARCH, reasoning(id="rs_2"), message("found")]
    item = answer(*output)

    assert back(item) == output
    assert back(without(item, Reasoning)) == [{"role": "assistant", "content": "found"}]
    alone = answer(SEARCH, message("found"))
    assert back(alone) == [SEARCH, message("found")]


def test_r09_only_reasoning_that_means_something_to_the_vendor_goes_back() -> None:
    """OpenAI looks up what has an id alone, and finds nothing that was not stored."""
    plain = {"role": "assistant", "content": "a"}
    text = [{"type": "reasoning_text", "text": "t"}]
    kinds = {
        "id": reasoning(secret=None),
        "summary": reasoning("s", secret=None),
        "text": reasoning(secret=None, content=text),
        "encrypted": reasoning(),
    }
    takes = {
        ReasoningReplay.NONE: set[str](),
        ReasoningReplay.ENCRYPTED: {"encrypted"},
        ReasoningReplay.TEXT: {"text"},
        ReasoningReplay.ANY: {"summary", "text", "encrypted"},
    }
    for replay, taken in takes.items():
        quirks = Quirks(reasoning_replay=replay)
        for name, item in kinds.items():
            item = {key: one for key, one in item.items() if one is not None}
            want = [item, message("a")] if name in taken else [plain]
            assert back(answer(item, message("a")), quirks=quirks) == want, (replay, name)
    stored = back(answer(kinds["id"], message("a")), store=True)
    assert [entry.get("id") for entry in stored] == ["rs_1", "msg_1"]


def test_reasoning_that_comes_last_goes_back_to_servers_that_sign_in_this_way() -> None:
    output = [message("a"), reasoning(format="google-gemini-v1")]
    loose = Quirks(reasoning_replay=ReasoningReplay.ANY)

    assert back(answer(*output), quirks=loose) == output
    assert back(answer(*output)) == output[:1]
    assert back(answer(reasoning()), quirks=loose) == []


def test_what_another_model_made_goes_as_what_anyone_may_say() -> None:
    output = [reasoning("Hm"), message("a", phase="commentary"), call(), SEARCH]
    plain = [
        {"role": "assistant", "content": "a"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ]

    assert back(answer(*output), model="other") == plain
    assert back(replace(answer(*output), provenance=None)) == plain


def test_gateways_that_look_ids_up_are_sent_none() -> None:
    output = [reasoning("Hm"), message("a"), call()]
    written = back(answer(*output), quirks=Quirks(item_ids=False), typed=False)

    assert not any("id" in entry for entry in written)
    assert written[0]["encrypted_content"] == "c2VjcmV0"
    assert written[1] == {"role": "assistant", "content": "a"}


def test_texts_refusals_citations_and_content_of_unknown_types_go_back_in_their_message() -> None:
    content = [
        {"type": "output_text", "text": "a", "annotations": [CITATION]},
        {"type": "refusal", "refusal": "no"},
        {"type": "output_text", "text": "b", "annotations": []},
    ]
    one = message() | {"content": content}
    other = message("c", id="msg_2")

    assert back(answer(one, other)) == [one, other]
    odd = message() | {"content": [{"type": "output_hologram"}]}
    request = ModelRequest(model="m", items=(answer(odd),))
    assert json.loads(OpenAIResponses().encode(request).body)["input"] == [odd]


CITATION = {
    "type": "url_citation",
    "start_index": 0,
    "end_index": 1,
    "title": "t",
    "url": "https://e",
}


def test_arguments_that_somebody_changed_go_back_changed() -> None:
    item = answer(call(arguments='{"x": 1}'))
    (made,) = item.tool_calls
    changed = replace(item, parts=(replace(made, input={"x": 2}),))

    assert back(item)[0]["arguments"] == '{"x": 1}'
    assert back(changed)[0]["arguments"] == '{"x":2}'


def test_t10_a_call_that_was_cut_off_goes_back_with_what_can_be_read() -> None:
    assert back(answer(call(arguments='{"x":4', status="incomplete")))[0]["arguments"] == "{}"


def test_a_call_of_a_custom_tool_goes_back_with_its_text_and_so_does_its_result() -> None:
    item = answer({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sh",
                   "input": "ls"})  # fmt: skip
    written = sent(Item.user("q"), item, *results(item))

    assert written[1:] == [
        {"type": "custom_tool_call", "call_id": "c", "name": "sh", "input": "ls", "id": "ctc_1"},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "done"},
    ]


def test_a_result_says_on_whose_behalf_its_call_was_made() -> None:
    caller = {"type": "program", "caller_id": "call_p"}
    program = {"type": "program", "id": "p", "call_id": "call_p", "code": "1", "fingerprint": "f"}
    item = answer(program, call(caller=caller))
    written = sent(Item.user("q"), item, *results(item))

    assert written[1] == program
    assert written[3]["caller"] == caller


def test_an_image_that_was_made_goes_back_as_the_call_that_made_it() -> None:
    made = {
        "type": "image_generation_call",
        "id": "ig",
        "status": "completed",
        "result": "V0VCUA==",
    }

    assert back(answer(made, message("see"))) == [made, message("see")]
    assert back(answer(made, message("see")), model="other") == [
        {"role": "assistant", "content": "see"}
    ]
    assert isinstance(answer(made).parts[0], Media)
    assert answer(made).parts[0].modality is Modality.IMAGE  # type: ignore[union-attr]


def test_compaction_goes_back_to_its_place() -> None:
    compaction = {"type": "compaction", "id": "cmp_1", "encrypted_content": "c2VjcmV0"}

    assert back(answer(compaction, message("a"))) == [compaction, message("a")]


def test_r01_a_call_of_the_vendors_that_the_client_has_not_answered_is_left_out() -> None:
    asked = answer(reasoning(), SHELL)
    output = Item.user("there:", Custom("openai_responses.shell_call_output", SHELL_OUTPUT))

    assert back(asked) == []
    assert sent(Item.user("q"), asked, output) == [
        {"role": "user", "content": "q"},
        reasoning(),
        SHELL,
        {"role": "user", "content": "there:"},
        SHELL_OUTPUT,
    ]
    hosted = answer(SHELL, {**SHELL_OUTPUT, "id": "sho_1"}, message("a"))
    assert [entry["type"] for entry in back(hosted)] == [
        "shell_call",
        "shell_call_output",
        "message",
    ]
    late = sent(Item.user("q"), asked, answer(message("x")), output)
    assert SHELL not in late


def test_r02_an_answer_to_a_call_that_is_gone_is_left_out() -> None:
    output = Item.user("there:", Custom("openai_responses.shell_call_output", SHELL_OUTPUT))
    written = sent(answer(message("a")), output)

    assert written == [message("a"), {"role": "user", "content": "there:"}]


def test_an_approval_that_was_asked_for_goes_with_its_answer() -> None:
    asked = {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "arguments": "{}",
        "name": "n",
        "server_label": "s",
    }
    given: dict[str, Any] = {
        "type": "mcp_approval_response",
        "approval_request_id": "mcpr_1",
        "approve": True,
    }
    reply = Item.user(Custom("openai_responses.mcp_approval_response", given))

    assert sent(answer(asked), reply) == [asked, given]
    assert sent(answer(asked), Item.user("u")) == [{"role": "user", "content": "u"}]


def test_an_encoder_writes_a_call_anew_once_it_is_answered() -> None:
    projection = OpenAIResponses()
    encoder = projection.encoder()
    output = Item.user(Custom("openai_responses.shell_call_output", SHELL_OUTPUT))
    items = [Item.user("q"), answer(SHELL), output, answer(message("a")), Item.user("u")]
    for end in (1, 2, 3, 4, 5, 2, 5):
        request = ModelRequest(model="m", items=tuple(items[:end]))
        assert encoder.encode(request) == projection.encode(request)


def test_an_encoder_writes_anew_what_goes_back_only_where_answers_are_stored() -> None:
    projection = OpenAIResponses()
    encoder = projection.encoder()
    items = (Item.user("q"), answer(reasoning(secret=None), message("a")), Item.user("u"))
    for stored in (True, False, True):
        options = ModelOptions(extra={"openai_responses": {"store": stored}})
        request = ModelRequest(model="m", items=items, options=options)
        assert encoder.encode(request) == projection.encode(request)


def test_custom_items_are_kept_from_servers_that_do_not_know_them() -> None:
    assert back(answer(SEARCH, message("a")), quirks=Quirks(custom_items=False)) == [message("a")]


def test_x09_of_a_cancelled_answer_only_what_is_whole_goes_back() -> None:
    """The reasoning goes too: what it led to was not finished."""
    projection = OpenAIResponses()
    body = answers.text("Hello big world", reasoning="Hm").body
    fold = ResponseFold()
    decoder = projection.decoder(ModelRequest(model="m"))
    fold.feed(decoder.feed(body[: body.index(b" world")]))
    item = fold.cancel().item

    assert item.finish_reason is FinishReason.CANCELLED
    assert sent(Item.user("q"), item, Item.user("go on"))[1:] == [
        {"role": "assistant", "content": "Hello big"},
        {"role": "user", "content": "go on"},
    ]


def test_parts_that_somebody_put_there_are_believed() -> None:
    """Such as those of a request that was recorded."""
    thought = Reasoning(None, metadata={"openai_responses.item": reasoning()})
    made = ToolCall(ToolCallId("c"), "f", metadata={"openai_responses.item": {"id": "fc_1"}})
    search = Custom("openai_responses.web_search_call", SEARCH)
    origin = answer(message("a")).provenance
    item = replace(Item.assistant(thought, made, search, Text("a")), provenance=origin)

    assert back(item) == [
        reasoning(),
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", "id": "fc_1"},
        SEARCH,
        {"role": "assistant", "content": "a"},
    ]


# What real vendors sent goes back to them.


def test_every_recorded_answer_goes_back_as_it_came(shared: Path) -> None:
    seen = 0
    for exchange in corpus.exchanges(shared / "wire-corpus" / "dev" / "openai-responses"):
        if exchange["status"] >= 400 or "error" in exchange["expected"]:
            continue
        seen += 1
        projection = corpus.projection_of(exchange)
        events = corpus.events_of(exchange, projection, [corpus.body_of(exchange)])
        item = from_json(to_json(fold_response(events, strict=True).item), Item)
        history = (Item.user("q"), item, *results(item), Item.user("go on"))
        request = ModelRequest(
            model=exchange["model"],
            items=history,
            options=ModelOptions(extra={"openai_responses": {"store": True}}),
        )
        body = json.loads(projection.encode(request).body)
        known = [entry for entry in body["input"] if entry.get("type") != "x_search_call"]  # of xAI
        check_types({**body, "input": known}, streamed=True)
        made = [entry for entry in body["input"][1:-1] if entry["type"] != "function_call_output"]
        assert made == list(expected(recorded(exchange))), exchange["id"]
    assert seen


def recorded(exchange: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The output items of an exchange, as they are when they are done."""
    if "sse" not in exchange:
        return list(exchange["response"]["output"])
    items: dict[int, dict[str, Any]] = {}
    lines = exchange["sse"].replace("\r\n", "\n").split("\n")
    for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue
        event = json.loads(data)
        if event["type"] == "response.output_item.done":
            items[event["output_index"]] = event["item"]
        if event["type"] in ("response.completed", "response.incomplete"):
            for index, item in enumerate(event["response"]["output"]):
                items.setdefault(index, item)
    return [items[index] for index in sorted(items)]


def expected(output: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """What of it can go back: nothing blank or unanswered, no reasoning that leads nowhere."""
    answered = {entry.get("call_id") for entry in output if str(entry["type"]).endswith("_output")}
    kept = [
        {name: one for name, one in item.items() if one is not None or item["type"] not in OURS}
        for item in output
        if not (
            (item["type"] == "message" and not any(map(_says, item["content"])))
            or (item["type"] in CLIENT_CALLS and item.get("call_id") not in answered)
            or (item["type"] == "tool_search_call" and item.get("execution") == "client")
        )
    ]
    for index, item in enumerate(kept):
        last = all(entry["type"] == "reasoning" for entry in kept[index:])
        loose = index > 0 and item.get("format") is not None  # OpenRouter's
        if item["type"] == "reasoning" and last and not loose:
            continue
        if item["type"] == "message":
            item["content"] = [
                {"annotations": [], **_without(entry, "logprobs")} if "text" in entry else entry
                for entry in item["content"]
            ]
        if item["type"] == "function_call" and item.get("status") == "incomplete":
            item["arguments"] = "{}"
        yield item


OURS = {"message", "reasoning", "function_call"}
"""Items of which nulls are not sent; others go back as they came."""
CLIENT_CALLS = {"apply_patch_call", "local_shell_call", "shell_call", "mcp_approval_request"}


def _says(entry: Mapping[str, Any]) -> bool:
    return bool(entry.get("text") or entry.get("refusal"))


def _without(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != name}


# Over real HTTP.


@pytest.mark.parametrize("streamed", [True, False])
def test_a_turn_with_tools_over_http_takes_the_reasoning_along(
    streamed: bool, serve: Callable[[Script], ReplayServer], default_transport: Transport
) -> None:
    server = serve(
        [
            answers.tool_calls([("look", {"at": "the sea"})], said="Let me see.", reasoning="Hm"),
            answers.text("Blue.", reasoning="So."),
        ]
    )
    row = Endpoint(name="here", base_url=server.url, api=OPENAI_RESPONSES, key_required=False)
    model = HttpModel("m", endpoint=row, projection=default_registry.projection(row))
    history = [Item.user("What colour is the sea?")]
    while history[-1].text != "Blue.":
        request = ModelRequest(
            model="m", items=tuple(history), tools=(ToolSpec("look"),), streamed=streamed
        )
        events = [event for batch in default_transport(model, request) for event in batch]
        item = fold_response(events, strict=True).item
        history += [item, *results(item)]

    first, second = server.requests
    assert (first.path, first.json["tools"][0]["name"]) == ("/responses", "look")
    assert second.json["input"][: len(first.json["input"])] == first.json["input"]
    thought, said, called, given = second.json["input"][1:]
    assert thought["encrypted_content"]
    assert (said["id"], called["id"]) == ("msg_1", "fc_1")
    assert given == {"type": "function_call_output", "call_id": "call_1", "output": "done"}
    assert history[-1].usage is not None
    assert history[-1].usage.tokens.total == 15


def test_an_error_in_a_stream_over_http_is_one_failure(
    serve: Callable[[Script], ReplayServer], default_transport: Transport
) -> None:
    error = {"code": "server_error", "message": "It broke."}
    server = serve([answers.error_in_stream(error, after="So far")])
    row = Endpoint(name="here", base_url=server.url, api=OPENAI_RESPONSES, key_required=False)
    model = HttpModel("m", endpoint=row, projection=default_registry.projection(row))
    request = ModelRequest(model="m", items=(Item.user("u"),))
    response = fold_response(
        event for batch in default_transport(model, request) for event in batch
    )

    assert response.failure is not None
    assert response.failure.describe() == "server, server_error: It broke."
    assert response.item.text == "So far"
