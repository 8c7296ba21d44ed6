"""Chat Completions, from requests to bytes: messages, options, and what vendors want."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    ArtifactId,
    File,
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
    ToolCallId,
    ToolChoiceMode,
    ToolResult,
    ToolSpec,
    UnsupportedContent,
    Uri,
    from_json,
    to_json,
)
from agentkit_core.cache import CacheMode, CacheRequest, CacheRetention, ItemEnd
from agentkit_core.provider import IdRule, fold_response
from agentkit_core.testing import decode_chunks, hard_transcripts
from agentkit_providers.endpoints import default_registry
from agentkit_providers.openai_chat import OpenAIChat, Quirks, ThinkingFormat
from agentkit_providers.openai_chat._media import media_part
from providers.body_types import accepted_by
from support.chat_bodies import delta, fragment, stream
from support.encoding import PNG, WEATHER, call, encoded_body, model_item, result
from support.examples import examples
from support.items import any_histories

TYPES = "openai.types.chat.completion_create_params"


def body(*items: Item, quirks: Quirks | None = None, **request: Any) -> dict[str, Any]:
    """The body of a request, as JSON."""
    return encoded_body(OpenAIChat(quirks=quirks or Quirks()), *items, **request)


def messages(*items: Item, quirks: Quirks | None = None, **options: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = body(*items, quirks=quirks, **options)["messages"]
    return entries


def own(*parts: Part, model: str = "m", provider: str = "openai") -> Item:
    """What this very model said before."""
    return model_item(*parts, api="openai_chat", provider=provider, model=model)


PNG_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}


def test_h8_every_kind_of_item_has_its_message() -> None:
    assert messages(
        Item.system("s"),
        Item.context("c"),
        Item.developer("d"),
        Item.user("u"),
        Item.notification("n"),
        Item.assistant("a", call("1", x=1)),
        Item.tool(result("1", "r")),
    ) == [
        {"role": "system", "content": "s"},
        {"role": "system", "content": "c"},
        {"role": "developer", "content": "d"},
        {"role": "user", "content": "u"},
        {"role": "user", "content": "<system-reminder>\nn\n</system-reminder>"},
        {
            "role": "assistant",
            "content": "a",
            "tool_calls": [
                {"type": "function", "id": "1", "function": {"name": "f", "arguments": '{"x":1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "r"},
    ]


def test_h8_without_a_developer_role_developers_speak_as_system() -> None:
    assert messages(Item.developer("d"), quirks=Quirks(developer_role=False)) == [
        {"role": "system", "content": "d"}
    ]


def test_h8_one_text_is_a_string_and_more_are_a_list() -> None:
    assert messages(Item.user("a", Structured({"b": 1}))) == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": '{"b":1}'}],
        }
    ]


def test_h8_media_and_documents_are_written_as_the_protocol_has_them() -> None:
    item = Item.user(
        Media(Modality.IMAGE, "", Uri("https://e/i"), metadata={"openai_chat.detail": "low"}),
        PNG,
        Media(Modality.AUDIO, "audio/mpeg", InlineBytes(b"MP3")),
        Media(Modality.AUDIO, "audio/wav", Uri("https://e/a")),
        File(InlineBytes(b"%PDF-"), "application/pdf", "a.pdf"),
        File(Uri("file-abc")),
        File(InlineText("words"), "text/plain", "a.txt"),
        File(InlineBytes(b"\x89PNG\r\n\x1a\n"), "image/png"),
    )

    assert messages(item)[0]["content"] == [
        {"type": "image_url", "image_url": {"url": "https://e/i", "detail": "low"}},
        PNG_PART,
        {"type": "input_audio", "input_audio": {"data": "TVAz", "format": "mp3"}},
        {"type": "text", "text": "(audio omitted: this protocol takes audio by value only)"},
        {
            "type": "file",
            "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
        },
        {"type": "file", "file": {"file_id": "file-abc"}},
        {"type": "text", "text": "[File a.txt]\nwords"},
        PNG_PART,
    ]


def test_an_unresolved_handle_is_refused_where_it_would_be_written() -> None:
    with pytest.raises(UnsupportedContent, match="'a1'"):
        media_part(Media(Modality.IMAGE, "image/png", Handle(ArtifactId("a1"))))


def test_h9_reasoning_is_not_content() -> None:
    assert messages(own(Reasoning("x"), Text("a"))) == [{"role": "assistant", "content": "a"}]


DETAILS: list[Any] = [{"type": "reasoning.text", "text": "x", "signature": "S"}]


@pytest.mark.parametrize(
    ("field", "sent"),
    [("reasoning_content", "xy"), ("reasoning", "xy"), ("reasoning_details", DETAILS)],
)
def test_h9_reasoning_goes_back_to_its_own_model_in_the_vendors_own_field(
    field: str, sent: Any
) -> None:
    first = Reasoning("x", metadata={"openai_chat.reasoning_details": DETAILS})
    parts = (first, Text("a"), Reasoning("y"))
    quirks = Quirks(reasoning_field_out=field)

    assert messages(own(*parts), quirks=quirks) == [
        {"role": "assistant", "content": "a", field: sent}
    ]
    for stranger in (
        own(*parts, model="other"),
        own(*parts, provider="other"),
        Item.assistant(*parts),
    ):
        assert messages(stranger, quirks=quirks) == [{"role": "assistant", "content": "a"}]


def test_a_vendor_that_wants_reasoning_on_every_message_gets_it_while_thinking_is_on() -> None:
    quirks = Quirks(
        reasoning_field_out="reasoning_content", requires_reasoning_content_on_assistant=True
    )
    plain = {"role": "assistant", "content": "a"}

    assert messages(Item.assistant("a"), quirks=quirks, thinking=ThinkingLevel.HIGH) == [
        {**plain, "reasoning_content": ""}
    ]
    assert messages(Item.assistant("a"), quirks=quirks, thinking=ThinkingLevel.OFF) == [plain]
    assert messages(Item.assistant("a"), quirks=quirks) == [plain]


def test_h9_neighbours_of_one_role_are_merged_for_vendors_that_require_alternating_roles() -> None:
    quirks = Quirks(alternate_roles=True)

    assert messages(Item.user("a"), Item.user("b"), quirks=quirks) == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
        }
    ]


def test_h9_a_round_of_results_is_one_message_a_result_in_call_order() -> None:
    written = messages(
        Item.assistant(call("c1"), call("c2")), Item.tool(result("c2", "2"), result("c1", "1"))
    )

    assert written[0].get("content") is None
    assert [(entry["tool_call_id"], entry["content"]) for entry in written[1:]] == [
        ("c1", "1"),
        ("c2", "2"),
    ]


def test_r03_blank_texts_are_left_out_and_so_is_an_assistant_with_nothing_left() -> None:
    assert messages(
        Item.user("u"),
        Item.assistant("", call("1")),
        Item.tool(result("1", "  \n")),
        Item.assistant("", " "),
        Item.user("v"),
    )[1:] == [
        {
            "role": "assistant",
            "tool_calls": [
                {"type": "function", "id": "1", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "(no tool output)"},
        {"role": "user", "content": "v"},
    ]


def test_an_assistant_of_whom_nothing_can_be_sent_is_left_out() -> None:
    assert messages(Item.user("u"), Item.assistant(PNG), Item.user("v")) == [
        {"role": "user", "content": "u"},
        {"role": "user", "content": "v"},
    ]


def test_the_bytes_are_compact_json_with_the_messages_last() -> None:
    request = ModelRequest(model="m", items=(Item.user("é"),), streamed=False)

    assert OpenAIChat().encode(request).body == (
        '{"model":"m","store":false,"messages":[{"role":"user","content":"é"}]}'.encode()
    )


def test_r04_images_of_parallel_results_follow_after_all_results() -> None:
    calls = Item.assistant(call("A"), call("B"), call("C"))
    results = Item.tool(result("A", PNG), result("B", "seen", PNG), result("C", "text"))
    written = messages(calls, results)

    assert [entry["role"] for entry in written] == ["assistant", "tool", "tool", "tool", "user"]
    assert [entry["content"] for entry in written[1:4]] == [
        "(see the attached media)",
        "seen",
        "text",
    ]
    label_a, image_a, label_b, image_b = written[4]["content"]
    assert "call A" in label_a["text"]
    assert "call B" in label_b["text"]
    assert image_a == image_b == PNG_PART


def test_r04_a_vendor_that_takes_images_in_results_gets_them_there() -> None:
    written = messages(
        Item.assistant(call("A")), Item.tool(result("A", "x", PNG)), quirks=Quirks(tool_images=True)
    )

    assert written[1]["content"] == [{"type": "text", "text": "x"}, PNG_PART]


@pytest.mark.parametrize(
    ("rule", "pattern"),
    [
        (IdRule(characters="A-Za-z0-9", exact_length=9), r"[A-Za-z0-9]{9}"),
        (Quirks().call_ids, r".{1,40}"),
    ],
)
def test_r05_call_ids_become_ones_that_the_vendor_takes(rule: IdRule, pattern: str) -> None:

    ids = ("functions.Bash:0", "x|" * 45, "call_abc", "y" * 60, "y" * 59 + "z")
    written = messages(
        Item.assistant(*map(call, ids)),
        Item.tool(*(result(entry, "r") for entry in ids)),
        quirks=Quirks(call_ids=rule),
    )
    sent = [entry["id"] for entry in written[0]["tool_calls"]]

    assert all(re.fullmatch(pattern, entry) for entry in sent)
    assert [entry["tool_call_id"] for entry in written[1:]] == sent
    assert len(set(sent)) == len(ids)


def test_r08_a_thought_signature_goes_back_with_its_call_byte_for_byte() -> None:
    signed = {"google": {"thought_signature": "QUJD"}}
    answer = stream(
        delta(
            "tool_calls",
            tool_calls=[
                fragment("{}", "f", index=0, id="1", extra_content=signed),
                fragment("{}", "g", index=1, id="2"),
            ],
        )
    )
    google = OpenAIChat("google-openai", Quirks(imported_call_signature="skip"))
    asked = ModelRequest(model="m")
    item = fold_response(decode_chunks(google.decoder(asked), [answer])).item
    stored = from_json(to_json(item), Item)
    history = (stored, Item.tool(result("1", "r"), result("2", "r")))

    written = json.loads(google.encode(ModelRequest(model="m", items=history)).body)["messages"]
    assert [entry.get("extra_content") for entry in written[0]["tool_calls"]] == [signed, None]

    other = ModelRequest(model="other", items=history)
    written = json.loads(google.encode(other).body)["messages"]
    skipped = {"google": {"thought_signature": "skip"}}
    assert [entry.get("extra_content") for entry in written[0]["tool_calls"]] == [skipped, None]


def test_r08_sound_that_a_model_spoke_goes_back_by_its_id() -> None:
    spoken = Media(
        Modality.AUDIO, "audio/wav", InlineBytes(b"x"), metadata={"openai_chat.audio_id": "au1"}
    )

    assert messages(own(spoken)) == [{"role": "assistant", "audio": {"id": "au1"}}]


def test_r13_lone_surrogates_are_replaced_and_real_pairs_kept() -> None:
    written = (
        OpenAIChat()
        .encode(
            ModelRequest(
                model="m",
                items=(
                    Item.user("a\ud800b 😀"),
                    Item.assistant(call("1", path="\udc80")),
                    Item.tool(result("1", "\ud83d")),
                ),
                tools=(ToolSpec("f", "broken \ud800"),),
            )
        )
        .body
    )

    text = written.decode("utf-8", "strict")
    assert "a\ufffdb 😀" in text
    assert "broken \ufffd" in text
    assert json.loads(written)["messages"][1]["tool_calls"][0]["function"]["arguments"] == (
        '{"path":"\ufffd"}'
    )


def test_r15_a_longer_conversation_begins_with_the_bytes_of_the_shorter_one() -> None:
    items: list[Item] = [Item.system("s")]
    before = b""
    for turn in range(4):
        items.append(Item.user(f"question {turn}"))
        request = ModelRequest(model="m", items=tuple(items), tools=(WEATHER, ToolSpec("b")))
        written = OpenAIChat().encode(request).body
        assert written.startswith(before.removesuffix(b"]}"))
        before = written
        items += [
            Item.assistant(call(f"c{turn}", city="Rome")),
            Item.tool(result(f"c{turn}", "sunny", PNG)),
            Item.assistant("It is sunny."),
        ]


def test_a_request_mentions_what_was_asked_and_nothing_else() -> None:
    assert list(body(Item.user("u"))) == ["model", "store", "messages"]
    assert body(Item.user("u"), streamed=True, quirks=Quirks(supports_store=False)) == {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "u"}],
    }


def test_s04_strict_is_said_of_those_tools_alone_whose_maker_says_it() -> None:
    tools = (
        ToolSpec("any", input_schema={}),
        ToolSpec("strict", strict=True),
        ToolSpec("not_strict", strict=False),
    )

    written = [tool["function"] for tool in body(Item.user("u"), tools=tools)["tools"]]

    assert [entry.get("strict") for entry in written] == [None, True, False]
    assert "strict" not in written[0]


CLOSED: dict[str, JsonValue] = {
    "type": "object",
    "properties": {},
    "required": [],
    "additionalProperties": False,
}


def test_all_options_have_their_fields() -> None:
    written = body(
        Item.user("u"),
        tools=(WEATHER,),
        session_id="s1",
        max_output_tokens=100,
        temperature=0.5,
        top_p=0.9,
        seed=7,
        stop_sequences=("END",),
        tool_choice=NamedTool("weather"),
        parallel_tool_calls=False,
        response_format=JsonSchemaFormat(CLOSED, "shape", strict=True),
        thinking=ThinkingLevel.LOW,
        cache=CacheRequest(retention=CacheRetention.EXTENDED),
        extra={"openai_chat": {"n": 2, "seed": 8}, "other": {"x": 1}},
    )

    del written["messages"]
    assert written == {
        "model": "m",
        "store": False,
        "max_completion_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 8,
        "stop": ["END"],
        "reasoning_effort": "low",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "shape", "schema": CLOSED, "strict": True},
        },
        "prompt_cache_key": "s1",
        "prompt_cache_retention": "24h",
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "Say what the weather is like.",
                    "parameters": WEATHER.input_schema,
                },
            }
        ],
        "tool_choice": {"type": "function", "function": {"name": "weather"}},
        "parallel_tool_calls": False,
        "n": 2,
    }


def test_json_of_any_shape_is_asked_for_as_an_object() -> None:
    assert body(response_format=JsonFormat())["response_format"] == {"type": "json_object"}


def test_what_a_request_must_have_and_cannot_is_refused() -> None:
    for options in (
        {"tool_choice": ToolChoiceMode.REQUIRED},
        {"tool_choice": NamedTool("unknown"), "tools": (WEATHER,)},
        {"response_format": JsonSchemaFormat({}), "quirks": Quirks(json_schema=False)},
        {"cache": CacheRequest(mode=CacheMode.REQUIRED), "quirks": Quirks(cache_key=False)},
        {"cache": CacheRequest(mode=CacheMode.REQUIRED, marks=(ItemEnd(0),))},  # a key alone
    ):
        with pytest.raises(UnsupportedContent):
            body(Item.user("u"), **options)


def test_what_it_need_not_have_is_left_out() -> None:
    quirks = Quirks(cache_key=False, cache_retention_24h=False)
    for options in (
        {"tool_choice": ToolChoiceMode.AUTO},
        {"parallel_tool_calls": True},
        {"cache": CacheRequest(mode=CacheMode.DISABLED, key="k")},
        {"cache": CacheRequest(key="k"), "quirks": quirks},
    ):
        assert set(body(Item.user("u"), **options)) == {"model", "store", "messages"}


@pytest.mark.parametrize(
    ("asked", "level_map", "sent"),
    [
        ("high", {}, "high"),
        ("max", {}, "high"),
        ("max", {"max": "max"}, "max"),
        ("xhigh", {"max": "ultra"}, "ultra"),
        ("minimal", {"minimal": None}, "low"),
        ("low", {"low": "default"}, "default"),
        ("off", {}, None),
        ("off", {"off": "none"}, "none"),
        ("high", dict.fromkeys(ThinkingLevel) | {"off": "none"}, "none"),
    ],
)
def test_a_thinking_level_that_a_model_lacks_becomes_the_next_higher_else_lower_one(
    asked: str, level_map: dict[str, str | None], sent: str | None
) -> None:
    mapped = {ThinkingLevel(level): word for level, word in level_map.items()}
    written = body(quirks=Quirks(thinking_level_map=mapped), thinking=ThinkingLevel(asked))

    assert written.get("reasoning_effort") == sent


def test_a_thinking_level_that_was_changed_is_noted() -> None:
    def noted(level: ThinkingLevel, quirks: Quirks) -> Any:
        request = ModelRequest(model="m", options=ModelOptions(thinking=level))
        return OpenAIChat(quirks=quirks).encode(request).metadata.get("openai_chat.thinking")

    assert noted(ThinkingLevel.HIGH, Quirks()) is None
    assert noted(ThinkingLevel.MAX, Quirks()) == {"asked": "max", "sent": "high"}
    without = Quirks(thinking_format=ThinkingFormat.NONE)
    assert noted(ThinkingLevel.HIGH, without) == {"asked": "high", "sent": None}


@pytest.mark.parametrize(
    ("style", "on", "off"),
    [
        ("none", {}, {}),
        ("openai", {"reasoning_effort": "high"}, {}),
        ("openrouter", {"reasoning": {"effort": "high"}}, {"reasoning": {"effort": "none"}}),
        (
            "deepseek",
            {"thinking": {"type": "enabled"}, "reasoning_effort": "high"},
            {"thinking": {"type": "disabled"}},
        ),
        (
            "zai",
            {"thinking": {"type": "enabled", "clear_thinking": False}, "reasoning_effort": "high"},
            {"thinking": {"type": "disabled", "clear_thinking": False}},
        ),
        (
            "together",
            {"reasoning": {"enabled": True}, "reasoning_effort": "high"},
            {"reasoning": {"enabled": False}},
        ),
        ("qwen", {"enable_thinking": True}, {"enable_thinking": False}),
        (
            "qwen_template",
            {"chat_template_kwargs": {"enable_thinking": True, "preserve_thinking": True}},
            {"chat_template_kwargs": {"enable_thinking": False, "preserve_thinking": True}},
        ),
        (
            "baseten",
            {"chat_template_args": {"enable_thinking": True}},
            {"chat_template_args": {"enable_thinking": False}},
        ),
    ],
)
def test_each_vendor_is_asked_to_think_in_its_own_way(
    style: str, on: dict[str, Any], off: dict[str, Any]
) -> None:
    quirks = Quirks(thinking_format=ThinkingFormat(style), supports_store=False)
    bare = {"model": "m", "messages": []}

    assert body(quirks=quirks, thinking=ThinkingLevel.HIGH) == bare | on
    assert body(quirks=quirks, thinking=ThinkingLevel.OFF) == bare | off
    assert body(quirks=quirks) == bare
    without = Quirks(
        thinking_format=ThinkingFormat(style),
        supports_store=False,
        supports_reasoning_effort=False,
    )
    assert "reasoning_effort" not in body(quirks=without, thinking=ThinkingLevel.HIGH)


def test_vendors_that_want_more_in_messages_get_it() -> None:
    quirks = Quirks(
        requires_tool_result_name=True,
        requires_assistant_after_tool_result=True,
        error_prefix="Error: ",
        required_tool_choice="any",
        tools_with_history=True,
    )
    asked = [Item.assistant(call("1")), Item.tool(result("1", "r", is_error=True))]
    written = messages(*asked, Item.user("u"), quirks=quirks)

    assert written[0]["content"] == ""
    assert written[1] == {
        "role": "tool",
        "tool_call_id": "1",
        "content": "Error: r",
        "name": "f",
    }
    assert written[2:] == [
        {"role": "assistant", "content": "I have processed the tool results."},
        {"role": "user", "content": "u"},
    ]
    assert messages(*asked, Item.assistant("a"), quirks=quirks)[2]["content"] == "a"
    without_tools = body(*asked, quirks=quirks)
    assert [tool["function"]["name"] for tool in without_tools["tools"]] == ["f"]
    assert without_tools["tool_choice"] == "none"
    assert "tools" not in body(Item.user("u"), quirks=quirks)
    required = {"tools": (WEATHER,), "tool_choice": ToolChoiceMode.REQUIRED}
    assert body(quirks=quirks, **required)["tool_choice"] == "any"


def test_a_value_that_a_tool_gave_is_json() -> None:
    given = ToolResult(ToolCallId("1"), StructuredOutput({"a": [1]}))

    assert messages(Item.assistant(call("1")), Item.tool(given))[1]["content"] == '{"a":[1]}'


VENDOR_TABLE = [
    # vendor, role of a developer item, token field, store, effort, strict, image in results
    ("openai", "developer", "max_completion_tokens", True, True, True),
    ("azure", "developer", "max_completion_tokens", True, True, True),
    ("openrouter", "system", "max_completion_tokens", False, False, True),
    ("groq", "system", "max_completion_tokens", False, True, True),
    ("mistral", "system", "max_tokens", False, False, True),
    ("deepseek", "system", "max_tokens", False, True, True),
    ("xai", "system", "max_completion_tokens", False, False, True),
    ("zai", "system", "max_tokens", False, False, True),
    ("moonshot", "system", "max_tokens", False, False, False),
    ("together", "system", "max_tokens", False, False, False),
    ("alibaba", "system", "max_tokens", False, False, True),
    ("ollama", "system", "max_tokens", False, True, True),
    ("vllm", "system", "max_tokens", False, False, True),
    ("compatible", "system", "max_tokens", False, True, True),
]


@pytest.mark.parametrize(("vendor", "role", "tokens", "store", "effort", "strict"), VENDOR_TABLE)
def test_each_vendors_row_gives_the_body_that_the_vendor_takes(
    vendor: str, role: str, tokens: str, store: bool, effort: bool, strict: bool
) -> None:
    projection = default_registry.projection(default_registry.get(vendor))
    request = ModelRequest(
        model="m",
        items=(Item.developer("d"), Item.user("u")),
        tools=(ToolSpec("f", strict=True),),
        options=ModelOptions(max_output_tokens=100, thinking=ThinkingLevel.HIGH),
    )
    written = json.loads(projection.encode(request).body)

    assert written["messages"][0]["role"] == role
    assert written[tokens] == 100
    assert ("store" in written) is store
    assert ("reasoning_effort" in written) is effort
    assert ("strict" in written["tools"][0]["function"]) is strict


LEVELS = st.none() | st.sampled_from(ThinkingLevel)


@pytest.mark.timeout(
    240
)  # the first loads the vendor's library, which a busy machine takes long for
@pytest.mark.slow
@given(
    name=st.sampled_from(sorted(hard_transcripts())),
    level=LEVELS,
    streamed=st.booleans(),
    choice=st.sampled_from([None, *ToolChoiceMode, NamedTool("weather")]),
    shape=st.sampled_from([None, JsonFormat(), JsonSchemaFormat({"type": "object"})]),
)
def test_every_request_is_one_by_openais_own_types(
    name: str, level: ThinkingLevel | None, streamed: bool, choice: Any, shape: Any
) -> None:
    request = ModelRequest(
        model="m",
        items=tuple(hard_transcripts()[name]),
        tools=(WEATHER,),
        streamed=streamed,
        options=ModelOptions(
            thinking=level, tool_choice=choice, response_format=shape, stop_sequences=("END",)
        ),
    )
    written = json.loads(OpenAIChat().encode(request).body)

    accepted = accepted_by(TYPES, "CompletionCreateParams", written, streamed=streamed)
    # Lists are read lazily; reading them to the end checks what is in them.
    for message in accepted["messages"]:
        for value in message.values():
            if not isinstance(value, str | dict):
                list(value)


GROWING = {
    "plain": Quirks(),
    "alternating": Quirks(alternate_roles=True, requires_tool_result_name=True),
    "strict templates": Quirks(requires_assistant_after_tool_result=True, developer_role=False),
    "reasoning back": Quirks(
        reasoning_field_out="reasoning_content", requires_reasoning_content_on_assistant=True
    ),
    "marked": Quirks(cache_control=True, tools_with_history=True),
}


@pytest.mark.parametrize("quirks", GROWING.values(), ids=GROWING)
@given(histories=st.lists(any_histories(), min_size=1, max_size=3), data=st.data())
@examples(10)
def test_an_encoder_gives_the_bytes_of_its_projection_whatever_it_wrote_before(
    quirks: Quirks, histories: list[list[Item]], data: st.DataObject
) -> None:
    projection = OpenAIChat("here", quirks)
    encoder = projection.encoder()
    for items in histories:
        for end in sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4))):
            options = ModelOptions(
                thinking=data.draw(st.sampled_from([None, ThinkingLevel.HIGH])),
                cache=data.draw(st.sampled_from([None, CacheRequest()])),
            )
            request = ModelRequest(model="a-model", items=tuple(items[:end]), options=options)

            assert encoder.encode(request) == projection.encode(request)


def test_items_encoded_for_one_history_are_not_sent_with_another() -> None:
    """Also where marks, which are written afresh each time, come between the two."""
    projection = OpenAIChat("here", Quirks(cache_control=True))
    encoder = projection.encoder()
    one, other = (Item.user("one"),), (Item.user("other"),)
    marks = ModelOptions(cache=CacheRequest())
    for items, options in [(one, ModelOptions()), (other, marks), (other, ModelOptions())]:
        request = ModelRequest(model="a-model", items=items, options=options)

        assert encoder.encode(request) == projection.encode(request)
