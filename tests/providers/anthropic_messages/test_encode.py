"""Messages, from requests to bytes: blocks, messages, instructions, options."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    ArtifactId,
    Custom,
    File,
    FinishReason,
    Handle,
    InlineBytes,
    InlineText,
    Item,
    JsonFormat,
    JsonSchemaFormat,
    JsonValue,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    NamedTool,
    Part,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolChoiceMode,
    ToolResult,
    ToolSpec,
    UnsupportedContent,
    Uri,
    from_json,
    to_json,
)
from agentkit_core.cache import CacheRequest
from agentkit_core.testing import check_projection, hard_transcripts
from agentkit_providers.anthropic_messages import AnthropicMessages, Quirks
from agentkit_providers.anthropic_messages._media import media_block
from agentkit_providers.endpoints import ANTHROPIC_MESSAGES, default_registry
from providers.body_types import accepted_by
from support.encoding import PNG, WEATHER, call, model_item, result
from support.examples import examples
from support.items import any_histories
from support.messages_bodies import (
    MODEL,
    block,
    called,
    ended,
    read,
    said,
    sent,
    started,
    stream,
)

TYPES = "anthropic.types.message_create_params"

PNG_BLOCK = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


def messages(*items: Item, quirks: Quirks | None = None, **options: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = sent(*items, quirks=quirks, **options)["messages"]
    return entries


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def own(*parts: Part, model: str = MODEL, provider: str = "anthropic", **fields: Any) -> Item:
    """What this very model said before."""
    return model_item(*parts, api="anthropic_messages", provider=provider, model=model, **fields)


def custom(**value: Any) -> Custom:
    return Custom(f"anthropic_messages.{value['type']}", value)


# Items.


def test_h14_every_kind_of_item_has_its_place() -> None:
    written = sent(
        Item.system("s"),
        Item.context("c"),
        Item.developer("d"),
        Item.user("u"),
        Item.notification("n"),
        Item.assistant("a", call("1", x=1)),
        Item.tool(result("1", "r")),
    )

    assert written["system"] == [text("s"), text("c"), text("d")]
    assert written["messages"] == [
        {
            "role": "user",
            "content": [text("u"), text("<system-reminder>\nn\n</system-reminder>")],
        },
        {
            "role": "assistant",
            "content": [
                text("a"),
                {"type": "tool_use", "id": "1", "name": "f", "input": {"x": 1}},
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}],
        },
    ]


def test_h14_results_stand_first_in_the_users_message_however_many_items_it_is_made_of() -> None:
    written = messages(
        Item.assistant(call("1"), call("2")),
        Item.tool(result("2", "b"), result("1", "a", is_error=True)),
        Item.notification("n"),
        Item.system("s"),
        Item.user("u"),
    )

    assert [entry["role"] for entry in written] == ["user", "assistant", "user"]
    assert written[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "1", "content": "a", "is_error": True},
        {"type": "tool_result", "tool_use_id": "2", "content": "b"},
        text("<system-reminder>\nn\n</system-reminder>"),
        text("<system-reminder>\ns\n</system-reminder>"),
        text("u"),
    ]


def test_instructions_are_text_and_say_what_they_could_not_hold() -> None:
    written = sent(Item.system("s", Structured({"a": 1}), PNG, File(InlineBytes(b"x"))))

    assert written["system"] == [
        text("s"),
        text('{"a":1}'),
        text("(image omitted: instructions are text)"),
        text("(file omitted: instructions are text)"),
    ]


def test_the_first_message_is_the_users() -> None:
    assert [entry["role"] for entry in messages(Item.assistant("a"), Item.user("u"))] == [
        "user",
        "assistant",
        "user",
    ]


def test_h14_media_and_documents_are_written_as_the_protocol_has_them() -> None:
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "UERG"}
    said_of_it: dict[str, Any] = {"citations": {"enabled": True}}
    item = Item.user(
        Media(Modality.IMAGE, "", Uri("https://e/i")),
        Media(Modality.IMAGE, "", Uri("data:image/jpg;base64,/9j/")),
        Media(Modality.IMAGE, "image/tiff", InlineBytes(b"II*\x00")),
        Media(Modality.IMAGE, "image/png", InlineText("no image")),
        File(InlineBytes(b"PDF"), "application/pdf", "a.pdf"),
        File(Uri("https://e/a.pdf"), metadata={"anthropic_messages.block": said_of_it}),
        File(Uri("file_abc")),
        File(InlineText("words"), "text/plain", "a.txt"),
        File(InlineBytes("é".encode()), "text/csv; charset=utf-8", "a.csv"),
        File(InlineText(" "), "text/plain", "blank.txt"),
        File(InlineBytes(b"ZIP"), "application/zip", "a.zip"),
        File(InlineBytes(b"\x89PNG\r\n\x1a\n"), "image/png"),
    )

    assert messages(item)[0]["content"] == [
        {"type": "image", "source": {"type": "url", "url": "https://e/i"}},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"},
        },
        text("(image omitted: image/tiff is not read)"),
        text("(image omitted: its data is text)"),
        {"type": "document", "source": pdf, "title": "a.pdf"},
        {"type": "document", "source": {"type": "url", "url": "https://e/a.pdf"}, **said_of_it},
        {"type": "document", "source": {"type": "file", "file_id": "file_abc"}},
        {
            "type": "document",
            "source": {"type": "text", "data": "words", "media_type": "text/plain"},
            "title": "a.txt",
        },
        {
            "type": "document",
            "source": {"type": "text", "data": "é", "media_type": "text/plain"},
            "title": "a.csv",
        },
        text("(file blank.txt is empty)"),
        text("(file a.zip omitted: application/zip is not read)"),
        PNG_BLOCK,
    ]


def test_an_unresolved_handle_is_refused_where_it_would_be_written() -> None:
    with pytest.raises(UnsupportedContent, match="'a1'"):
        media_block(Media(Modality.IMAGE, "image/png", Handle(ArtifactId("a1"))))


def test_media_that_another_model_gave_are_named_in_an_answer() -> None:
    answer = Item.assistant(PNG, File(InlineBytes(b"x"), name="x"))

    assert messages(Item.user("u"), answer, Item.user("v"))[1]["content"] == [
        text("(image omitted: an answer holds none here)"),
        text("(file omitted: an answer holds none here)"),
    ]


def test_r04_images_stay_inside_the_results_they_belong_to() -> None:
    calls = Item.assistant(call("A"), call("B"), call("C"))
    results = Item.tool(result("A", PNG), result("B", "seen", PNG), result("C", "x", "y"))
    written = messages(calls, results)

    assert [entry["role"] for entry in written] == ["user", "assistant", "user"]
    assert [entry["content"] for entry in written[2]["content"]] == [
        [text("(see attached image)"), PNG_BLOCK],
        [text("seen"), PNG_BLOCK],
        "x\ny",
    ]


def test_r04_servers_without_images_get_a_text_instead() -> None:
    written = messages(
        Item.assistant(call("A")),
        Item.tool(result("A", PNG)),
        quirks=Quirks(media=frozenset()),
    )

    assert written[2]["content"][0]["content"] == (
        "(tool image omitted: model does not support images)"
    )


def test_a_value_that_a_tool_gave_is_json() -> None:
    given_value = ToolResult(ToolCallId("1"), StructuredOutput({"a": [1]}))

    written = messages(Item.assistant(call("1")), Item.tool(given_value))
    assert written[2]["content"][0]["content"] == '{"a":[1]}'


# Reasoning and what else goes back.

SIGNED = Reasoning("hm", metadata={"anthropic_messages.signature": "S"})
WITHHELD = Reasoning(redacted=True, metadata={"anthropic_messages.signature": "T"})
REDACTED = Reasoning(redacted=True, metadata={"anthropic_messages.redacted_data": "ENC"})


def test_h17_reasoning_goes_back_in_its_place_with_its_signature() -> None:
    item = own(SIGNED, Text("a"), WITHHELD, REDACTED, Text("b"))

    assert messages(Item.user("u"), item)[1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "S"},
        text("a"),
        {"type": "thinking", "thinking": "", "signature": "T"},
        {"type": "redacted_thinking", "data": "ENC"},
        text("b"),
    ]


@pytest.mark.parametrize("stranger", [{"model": "claude-other"}, {"provider": "vertex-anthropic"}])
def test_h17_reasoning_goes_back_only_to_its_own_model(stranger: dict[str, Any]) -> None:
    item = own(SIGNED, Text("a", metadata={"anthropic_messages.citations": [{}]}), **stranger)

    assert messages(Item.user("u"), item)[1]["content"] == [text("a")]


@pytest.mark.parametrize(
    "half",
    [
        Reasoning("hm"),
        Reasoning("hm", metadata={"anthropic_messages.signature": ""}),
        Reasoning("hm", metadata={**SIGNED.metadata, "agentkit.incomplete": True}),
    ],
)
def test_r06_reasoning_that_was_left_half_done_does_not_go_back(half: Reasoning) -> None:
    assert messages(Item.user("u"), own(half, Text("a")))[1]["content"] == [text("a")]


def test_servers_that_sign_nothing_get_their_reasoning_back_unsigned() -> None:
    item = own(Reasoning("hm"), Reasoning(" "), Text("a"))

    written = messages(Item.user("u"), item, quirks=Quirks(unsigned_thinking=True))
    assert written[1]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        text("a"),
    ]


USE = custom(type="server_tool_use", id="s1", name="web_search", input={"query": "x"})
FOUND = custom(type="web_search_tool_result", tool_use_id="s1", content=[{"title": "T"}])


def test_the_vendors_own_blocks_go_back_only_to_the_vendor_and_as_they_came() -> None:
    parts = (USE, FOUND, custom(type="of_tomorrow", x=1), Text("a"))

    assert messages(Item.user("u"), own(*parts))[1]["content"] == [
        USE.value,
        FOUND.value,
        {"type": "of_tomorrow", "x": 1},
        text("a"),
    ]
    stranger = own(*parts, provider="elsewhere")
    assert messages(Item.user("u"), stranger)[1]["content"] == [text("a")]


def test_a_paused_turn_goes_on_with_its_call_and_its_container() -> None:
    paused = own(
        Text("a"),
        USE,
        reason=FinishReason.PAUSED,
        metadata={"anthropic_messages.container": {"id": "c1", "expires_at": "soon"}},
    )
    written = sent(Item.user("u"), paused)

    assert written["messages"][1]["content"] == [text("a"), USE.value]
    assert written["container"] == "c1"
    assert "container" not in sent(Item.user("u"), paused, Item.user("v"))
    given = {"anthropic_messages": {"container": "c2"}}
    assert sent(Item.user("u"), paused, extra=given)["container"] == "c2"
    going_on = own(FOUND, Text("b"))
    assert messages(Item.user("u"), paused, going_on)[1]["content"] == [
        text("a"),
        USE.value,
        FOUND.value,
        text("b"),
    ]


@pytest.mark.parametrize(
    ("item", "following"),
    [
        (own(Text("a"), USE, reason=FinishReason.PAUSED), [Item.user("v")]),
        (own(Text("a"), USE, reason=FinishReason.MAX_TOKENS), []),
        (own(Text("a"), USE, reason=FinishReason.CANCELLED, interrupted=True), []),
        (own(FOUND, Text("a")), []),
    ],
)
def test_r01_r02_the_vendors_calls_and_results_go_back_in_pairs_only(
    item: Item, following: list[Item]
) -> None:
    assert messages(Item.user("u"), item, *following)[1]["content"] == [text("a")]


def test_code_that_waits_for_a_tool_of_ours_goes_on_in_its_container() -> None:
    caller: dict[str, Any] = {"caller": {"type": "code_execution_20250825", "tool_id": "s2"}}
    code = custom(type="server_tool_use", id="s2", name="code_execution", input={"code": "f()"})
    asked = own(
        code,
        ToolCall(ToolCallId("t1"), "f", metadata={"anthropic_messages.block": caller}),
        reason=FinishReason.TOOL_CALL,
        metadata={"anthropic_messages.container": {"id": "c1"}},
    )
    written = sent(Item.user("u"), asked, Item.tool(result("t1", "r")))

    assert written["container"] == "c1"
    assert written["messages"][1]["content"] == [
        code.value,
        {"type": "tool_use", "id": "t1", "name": "f", "input": {}, **caller},
    ]


def test_an_answer_goes_back_block_by_block_as_it_came() -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "", "signature": "S1"},
        {"type": "redacted_thinking", "data": "ENC"},
        {"type": "text", "text": "a", "citations": [{"type": "page_location", "n": 1}]},
        dict(USE.value),  # type: ignore[arg-type]
        dict(FOUND.value),  # type: ignore[arg-type]
        {"type": "thinking", "thinking": "b\n é", "signature": "S2"},
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": [1]}, "caller": {"a": 1}},
    ]
    answer = json.dumps({"id": "m", "content": blocks, "stop_reason": "tool_use"}).encode()
    stored = from_json(to_json(read(answer).item), Item)

    assert messages(Item.user("u"), stored, Item.tool(result("t1", "r")))[1]["content"] == blocks


# Faults of histories.


def test_r03_blank_texts_are_left_out_and_so_is_an_item_with_nothing_left() -> None:
    assert messages(
        Item.user("u"),
        Item.assistant("", call("1")),
        Item.tool(result("1", "  \n")),
        Item.assistant("", " "),
        Item.user("v", " "),
    )[1:] == [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "1", "content": "(no tool output)"},
                text("v"),
            ],
        },
    ]


def test_r05_call_ids_become_ones_that_the_vendor_takes() -> None:
    ids = ("functions.Bash:0", "x|" * 45, "call_abc", "y" * 70, "y" * 69 + "z", "a|b==")
    written = messages(
        Item.assistant(*map(call, ids)), Item.tool(*(result(entry, "r") for entry in ids))
    )
    used = [entry["id"] for entry in written[1]["content"]]

    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", entry) for entry in used)
    assert [entry["tool_use_id"] for entry in written[2]["content"]] == used
    assert len(set(used)) == len(ids)
    assert used[2] == "call_abc"


def test_r12_results_of_parallel_calls_are_one_message_in_call_order() -> None:
    written = messages(
        Item.assistant(call("1"), call("2")),
        Item.tool(result("2", "b")),
        Item.tool(result("1", "a")),
    )

    assert [entry["content"] for entry in written[2]["content"]] == ["a", "b"]


def test_r13_lone_surrogates_are_replaced_and_real_pairs_kept() -> None:
    asked = ModelRequest(
        model="m",
        items=(
            Item.system("s\ud800"),
            Item.user("a\ud800b 😀", File(InlineText("x\udfff"), "text/plain", "n\ud800")),
            Item.assistant(call("1", path="\udc80")),
            Item.tool(result("1", "\ud83d")),
        ),
        tools=(ToolSpec("f", "broken \ud800"),),
    )
    written = AnthropicMessages().encode(asked).body.decode("utf-8", "strict")

    assert "a\ufffdb 😀" in written
    assert "broken \ufffd" in written
    assert '{"path":"\ufffd"}' in written


def test_r15_a_longer_conversation_begins_with_the_bytes_of_the_shorter_one() -> None:
    items: list[Item] = [Item.system("s"), Item.developer("d")]
    encoder = AnthropicMessages().encoder()
    before = b""
    for turn in range(4):
        items.append(Item.user(f"question {turn}"))
        request = ModelRequest(model=MODEL, items=tuple(items), tools=(WEATHER, ToolSpec("b")))
        written = encoder.encode(request).body
        assert written.startswith(before.removesuffix(b"]}]}"))
        assert written == AnthropicMessages().encode(request).body
        before = written
        items += [
            own(SIGNED, call(f"c{turn}", city="Rome"), reason=FinishReason.TOOL_CALL),
            Item.tool(result(f"c{turn}", "sunny", PNG)),
            own(Text("It is sunny.")),
        ]


# Options.


def test_a_request_mentions_what_was_asked_and_nothing_else() -> None:
    request = ModelRequest(model=MODEL, items=(Item.user("é"),))
    wire = AnthropicMessages().encode(request)

    assert wire.path == "/messages"
    assert wire.headers == {"content-type": "application/json", "anthropic-version": "2023-06-01"}
    assert wire.metadata == {}
    assert (
        wire.body
        == (
            '{"model":"claude-opus-4-6","max_tokens":32000,"stream":true,'
            '"messages":[{"role":"user","content":[{"type":"text","text":"é"}]}]}'
        ).encode()
    )


CLOSED: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}


def test_all_options_have_their_fields() -> None:
    written = sent(
        Item.user("u"),
        tools=(WEATHER,),
        max_output_tokens=100,
        temperature=0.5,
        stop_sequences=("END", " "),
        tool_choice=NamedTool("weather"),
        parallel_tool_calls=False,
        response_format=JsonSchemaFormat(CLOSED, "shape", strict=True),
        extra={"anthropic_messages": {"top_k": 5, "temperature": 0.7}, "other": {"x": 1}},
    )

    del written["messages"]
    assert written == {
        "model": MODEL,
        "max_tokens": 100,
        "output_config": {"format": {"type": "json_schema", "schema": CLOSED}},
        "temperature": 0.7,
        "stop_sequences": ["END"],
        "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
        "top_k": 5,
        "tools": [
            {
                "name": "weather",
                "description": "Say what the weather is like.",
                "input_schema": WEATHER.input_schema,
            }
        ],
    }


@pytest.mark.parametrize(
    ("options", "sent_choice"),
    [
        ({}, None),
        ({"parallel_tool_calls": True}, None),
        ({"parallel_tool_calls": False}, {"type": "auto", "disable_parallel_tool_use": True}),
        ({"tool_choice": ToolChoiceMode.AUTO}, {"type": "auto"}),
        ({"tool_choice": ToolChoiceMode.REQUIRED}, {"type": "any"}),
        ({"tool_choice": ToolChoiceMode.NONE, "parallel_tool_calls": False}, {"type": "none"}),
    ],
)
def test_the_choice_of_tools_is_said_in_the_vendors_words(
    options: dict[str, Any], sent_choice: Any
) -> None:
    assert sent(Item.user("u"), tools=(WEATHER,), **options).get("tool_choice") == sent_choice
    assert "tool_choice" not in sent(Item.user("u"), parallel_tool_calls=False)


def test_s04_strict_is_said_of_those_tools_alone_whose_maker_says_it() -> None:
    tools = (
        ToolSpec("any", input_schema={}),
        ToolSpec("strict", strict=True),
        ToolSpec("late", metadata={"anthropic_messages.tool": {"defer_loading": True}}),
    )
    written = sent(Item.user("u"), tools=tools)["tools"]

    assert [entry.get("strict") for entry in written] == [None, True, None]
    assert written[0]["input_schema"] == {"type": "object"}
    assert written[2]["defer_loading"] is True
    plain = sent(Item.user("u"), tools=tools, quirks=Quirks(supports_strict_mode=False))["tools"]
    assert "strict" not in plain[1]


def test_tools_that_the_vendor_runs_are_added_to_those_of_ours() -> None:
    search: dict[str, Any] = {"type": "web_search_20250305", "name": "web_search"}
    written = sent(
        Item.user("u"),
        tools=(WEATHER,),
        tool_choice=NamedTool("web_search"),
        extra={"anthropic_messages": {"tools": [search]}},
    )

    assert [tool["name"] for tool in written["tools"]] == ["weather", "web_search"]
    assert written["tools"][1] == search


def test_what_a_request_must_have_and_cannot_is_refused() -> None:
    refused: list[dict[str, Any]] = [
        {"tool_choice": ToolChoiceMode.REQUIRED},
        {"tool_choice": NamedTool("unknown"), "tools": (WEATHER,)},
        {
            "tool_choice": ToolChoiceMode.REQUIRED,
            "tools": (WEATHER,),
            "model": "claude-opus-5-5",
        },
        {"response_format": JsonFormat()},
        {"response_format": JsonSchemaFormat({}), "quirks": Quirks(json_schema=False)},
    ]
    for options in refused:
        with pytest.raises(UnsupportedContent):
            sent(Item.user("u"), **options)


def dropped(**options: Any) -> Any:
    model = options.pop("model", MODEL)
    request = ModelRequest(model=model, options=ModelOptions(**options))
    wire = AnthropicMessages().encode(request)
    body = json.loads(wire.body)
    assert not {"temperature", "top_p", "seed"} & set(body) - {"temperature"}
    return wire.metadata.get("anthropic_messages.dropped")


def test_options_that_a_model_refuses_are_left_out_and_it_is_noted() -> None:
    both: dict[str, Any] = {"temperature": 0.5, "top_p": 0.9}

    assert dropped(seed=7) == ["seed"]
    assert dropped(**both) == ["top_p"]
    assert dropped(**both, thinking=ThinkingLevel.LOW) == ["temperature", "top_p"]
    assert dropped(**both, model="claude-opus-4-7") == ["temperature", "top_p"]
    assert dropped(stop_sequences=("\n",)) == ["stop_sequences"]
    assert dropped(temperature=0.5) is None
    old = sent(**both, model="claude-sonnet-4-0")
    assert (old["temperature"], old["top_p"]) == (0.5, 0.9)
    assert sent(top_p=0.99, thinking=ThinkingLevel.LOW)["top_p"] == 0.99
    kept = sent(temperature=1.0, model="claude-opus-4-7", quirks=Quirks(sampling=True))
    assert kept["temperature"] == 1.0


def headers(*items: Item, quirks: Quirks | None = None, **request: Any) -> Any:
    options = ModelOptions(**request.pop("options", {}))
    asked = ModelRequest(items=items, options=options, **{"model": MODEL, **request})
    return AnthropicMessages(quirks=quirks or Quirks()).encode(asked).headers.get("anthropic-beta")


def test_each_beta_is_in_the_one_header_once() -> None:
    thinking = {"thinking": ThinkingLevel.LOW}
    extra: dict[str, Any] = {
        "betas": ["mine-2026-01-01", "files-api-2025-04-14"],
        "mcp_servers": [{"type": "url", "url": "https://e", "name": "n"}],
        "context_management": {"edits": [{"type": "compact_20260112"}]},
    }
    uploaded = Item.user(File(Uri("file_abc")))
    old: dict[str, Any] = {"model": "claude-sonnet-4-5", "tools": (WEATHER,), "options": thinking}

    assert headers(Item.user("u")) is None
    assert headers(Item.user("u"), **old) == "interleaved-thinking-2025-05-14"
    assert headers(Item.user("u"), **{**old, "tools": ()}) is None
    assert headers(Item.user("u"), **{**old, "model": MODEL}) is None
    assert headers(uploaded, quirks=Quirks(betas=("ours",))) == "ours,files-api-2025-04-14"
    assert (
        headers(Item.assistant(call("1")), Item.tool(result("1", File(Uri("file_abc")))))
        == "files-api-2025-04-14"
    )
    assert headers(uploaded, options={"extra": {"anthropic_messages": extra}}) == (
        "files-api-2025-04-14,mcp-client-2025-11-20,context-management-2025-06-27,"
        "compact-2026-01-12,mine-2026-01-01"
    )
    advisor = {"tools": [{"type": "advisor_20260301", "name": "advisor"}]}
    advised = headers(Item.user("u"), options={"extra": {"anthropic_messages": advisor}})
    assert advised == "advisor-tool-2026-03-01"
    assert headers(uploaded, quirks=Quirks(known_betas=False)) is None
    assert "betas" not in sent(Item.user("u"), extra={"anthropic_messages": extra})


def test_vertex_names_the_model_in_the_path_and_the_version_in_the_body() -> None:
    row = default_registry.get("vertex-anthropic")
    projection = default_registry.projection(row)
    asked = ModelRequest(model="claude-3-7-sonnet@20250219", items=(Item.user("u"),))
    wire = projection.encode(asked)
    body = json.loads(wire.body)

    assert wire.path == "/claude-3-7-sonnet@20250219:streamRawPredict"
    assert body["anthropic_version"] == "vertex-2023-10-16"
    assert "model" not in body
    assert "anthropic-version" not in wire.headers


# Everything can be sent.

ROWS = [row for row in default_registry if row.api == ANTHROPIC_MESSAGES]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_vendor_can_be_sent_any_history(row: Any) -> None:
    check_projection(default_registry.projection(row), tools=(WEATHER,))


PROFILES = {
    "anthropic": Quirks(thinking_display="summarized"),
    "compatible": Quirks(unsigned_thinking=True, files=False, supports_strict_mode=False),
    "text only": Quirks(media=frozenset(), files=False),
}
MODELS = ["claude-3-5-haiku", "claude-sonnet-4-5", "claude-opus-4-6", "claude-opus-5-5", "m"]


@pytest.mark.timeout(
    240
)  # the first loads the vendor's library, which a busy machine takes long for
@pytest.mark.slow
@given(
    name=st.sampled_from(sorted(hard_transcripts())),
    profile=st.sampled_from(sorted(PROFILES)),
    model=st.sampled_from(MODELS),
    level=st.none() | st.sampled_from(ThinkingLevel),
    streamed=st.booleans(),
    choice=st.sampled_from([None, ToolChoiceMode.AUTO, ToolChoiceMode.NONE]),
    shape=st.sampled_from([None, JsonSchemaFormat({"type": "object"})]),
    cache=st.sampled_from([None, CacheRequest()]),
)
def test_every_request_is_one_by_anthropics_own_types(
    name: str,
    profile: str,
    model: str,
    level: ThinkingLevel | None,
    streamed: bool,
    choice: Any,
    shape: Any,
    cache: Any,
) -> None:
    written = sent(
        *hard_transcripts()[name],
        quirks=PROFILES[profile],
        model=model,
        tools=(WEATHER,),
        streamed=streamed,
        thinking=level,
        tool_choice=choice,
        response_format=shape,
        cache=cache,
        stop_sequences=("END",),
    )

    accepted = accepted_by(TYPES, "MessageCreateParams", written, streamed=streamed)
    exhaust(accepted)
    check_rules(written)


def exhaust(value: Any) -> None:
    """Read lists, which are read lazily, to their end: that checks what is in them."""
    if isinstance(value, dict):
        for entry in value.values():
            exhaust(entry)
    elif not isinstance(value, str) and hasattr(value, "__iter__"):
        for entry in value:
            exhaust(entry)


def check_rules(body: dict[str, Any]) -> None:
    """What the vendor demands beyond its types."""
    conversation = body["messages"]
    roles = [entry["role"] for entry in conversation]
    assert roles[::2] == ["user"] * len(roles[::2])
    assert roles[1::2] == ["assistant"] * len(roles[1::2])
    for before, message in zip([None, *conversation], conversation, strict=False):
        assert message["content"]
        kinds = [entry["type"] for entry in message["content"]]
        assert "tool_result" not in kinds[kinds.count("tool_result") :]
        called_before = [] if before is None else before["content"]
        calls = [entry["id"] for entry in called_before if entry["type"] == "tool_use"]
        results = [entry["tool_use_id"] for entry in message["content"] if "tool_use_id" in entry]
        assert results == calls
        for entry in message["content"]:
            assert entry["type"] != "text" or entry["text"].strip()
    thinking = body.get("thinking", {})
    if thinking.get("type") == "enabled":
        assert 1024 <= thinking["budget_tokens"] < body["max_tokens"]
    assert json.dumps(body).count("cache_control") <= 4


@pytest.mark.parametrize("profile", PROFILES.values(), ids=PROFILES)
@given(histories=st.lists(any_histories(), min_size=1, max_size=3), data=st.data())
@examples(10)
def test_an_encoder_gives_the_bytes_of_its_projection_whatever_it_wrote_before(
    profile: Quirks, histories: list[list[Item]], data: st.DataObject
) -> None:
    projection = AnthropicMessages("here", profile)
    encoder = projection.encoder()
    for items in histories:
        for end in sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4))):
            options = ModelOptions(
                thinking=data.draw(st.sampled_from([None, ThinkingLevel.HIGH])),
                cache=data.draw(st.sampled_from([None, CacheRequest()])),
            )
            model = data.draw(st.sampled_from(["a-model", "a-model", MODEL]))
            request = ModelRequest(model=model, items=tuple(items[:end]), options=options)

            assert encoder.encode(request) == projection.encode(request)


def test_an_encoder_looks_again_at_a_call_of_the_vendors_that_waited() -> None:
    encoder = AnthropicMessages().encoder()
    items = [Item.user("u"), own(Text("a"), USE, reason=FinishReason.PAUSED)]
    for more in ((), (Item.user("v"),), (own(FOUND, Text("b")),)):
        request = ModelRequest(model=MODEL, items=(*items, *more))
        assert encoder.encode(request) == AnthropicMessages().encode(request)


def test_a_streamed_answer_goes_back_as_a_whole_one_would() -> None:
    search: dict[str, Any] = {
        "type": "server_tool_use",
        "id": "s1",
        "name": "web_search",
        "input": {},
    }
    body = stream(
        started(),
        said("a", " b"),
        block(search, {"type": "input_json_delta", "partial_json": '{"q":"x"}'}, index=1),
        block(dict(FOUND.value), index=2),  # type: ignore[arg-type]
        called('{"x":', "1}", index=3),
        ended("tool_use"),
    )

    assert messages(Item.user("u"), read(body).item)[1]["content"] == [
        text("a b"),
        {**search, "input": {"q": "x"}},
        FOUND.value,
        {"type": "tool_use", "id": "t1", "name": "f", "input": {"x": 1}},
    ]
