"""generateContent, from requests to bytes: contents, options, and what goes back as it came."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

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
    TextOutput,
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
from agentkit_core.cache import CacheMode, CacheRequest, ItemEnd
from agentkit_core.provider import fold_response, sendable
from agentkit_core.testing import check_projection, check_sendable, decode_chunks, hard_transcripts
from agentkit_providers.endpoints import default_registry
from agentkit_providers.google_generate import GoogleGenerate, Quirks
from agentkit_providers.google_generate._media import media_part
from providers import corpus
from support import generate_bodies as bodies
from support.encoding import PNG, WEATHER, call, encoded_body, model_item, result
from support.examples import examples
from support.items import any_histories

NEW, OLD = "gemini-3-pro-preview", "gemini-2.5-flash"
SKIP = "skip_thought_signature_validator"
PNG_PART = {"inlineData": {"data": "iVBORw0KGgo=", "mimeType": "image/png"}}


def body(
    *items: Item, quirks: Quirks | None = None, model: str = NEW, **request: Any
) -> dict[str, Any]:
    """The body of a request, as JSON."""
    projection = GoogleGenerate(quirks=quirks or Quirks())
    return encoded_body(projection, *items, model=model, **request)


def contents(*items: Item, **request: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = body(*items, **request)["contents"]
    return entries


def config(**request: Any) -> dict[str, Any]:
    fields: dict[str, Any] = body(Item.user("hi"), **request).get("generationConfig", {})
    return fields


def own(*parts: Part, model: str = NEW) -> Item:
    """What this very model said before."""
    return model_item(*parts, api="google_generate", provider="google", model=model)


def test_every_kind_of_item_has_its_place() -> None:
    assert body(
        Item.system("s"),
        Item.user("u"),
        Item.context("c"),
        Item.notification("n"),
        Item.assistant("a", call("1", x=1)),
        Item.tool(result("1", "r")),
        Item.developer("d"),
    ) == {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [
            {
                "role": "user",
                "parts": [
                    {"text": "u"},
                    {"text": "<system-reminder>\nc\n</system-reminder>"},
                    {"text": "<system-reminder>\nn\n</system-reminder>"},
                ],
            },
            {
                "role": "model",
                "parts": [
                    {"text": "a"},
                    {
                        "functionCall": {"name": "f", "args": {"x": 1}},
                        "thoughtSignature": SKIP,
                    },
                ],
            },
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "f", "response": {"output": "r"}}}],
            },
            {"role": "user", "parts": [{"text": "<system-reminder>\nd\n</system-reminder>"}]},
        ],
    }


def test_the_path_names_the_model_and_how_it_is_to_answer() -> None:
    def path(model: str, *, streamed: bool) -> str:
        request = ModelRequest(model=model, items=(Item.user("hi"),), streamed=streamed)
        return GoogleGenerate().encode(request).path

    assert path(OLD, streamed=True) == f"/models/{OLD}:streamGenerateContent?alt=sse"
    assert path(OLD, streamed=False) == f"/models/{OLD}:generateContent"
    assert path("tunedModels/mine", streamed=False) == "/tunedModels/mine:generateContent"
    assert path("a?b#c", streamed=False) == "/models/a%3Fb%23c:generateContent"


def test_neighbours_of_one_role_share_a_content_but_results_have_their_own() -> None:
    roles = [
        (entry["role"], len(entry["parts"]))
        for entry in contents(
            Item.user("a"),
            Item.system("s"),
            Item.user("b"),
            Item.assistant("c"),
            Item.assistant("d", call("1")),
            Item.tool(result("1", "r")),
            Item.user("e"),
            Item.user("f"),
        )
    ]

    assert roles == [("user", 3), ("model", 3), ("user", 1), ("user", 2)]


def test_the_first_to_speak_is_a_user() -> None:
    written = contents(Item.system("be brief"), Item.assistant("hello"), Item.user("hi"))

    assert [entry["role"] for entry in written] == ["user", "model", "user"]


def test_media_and_documents_are_written_as_the_protocol_has_them() -> None:
    item = Item.user(
        PNG,
        Media(Modality.IMAGE, "", InlineBytes(b"\x89PNG\r\n\x1a\n")),
        Media(Modality.VIDEO, "", Uri("https://e/v")),
        Media(Modality.AUDIO, "", Uri("data:audio/wav;base64,UklGRg==")),
        File(InlineBytes(b"PDF"), name="a.pdf"),
        File(Uri("https://generativelanguage.googleapis.com/v1beta/files/x"), "text/csv"),
        File(InlineText("words"), "text/plain", "a.txt"),
        Structured({"b": 1}),
    )

    assert contents(item)[0]["parts"] == [
        PNG_PART,
        PNG_PART,
        {"fileData": {"fileUri": "https://e/v"}},
        {"inlineData": {"data": "UklGRg==", "mimeType": "audio/wav"}},
        {"inlineData": {"data": "UERG", "mimeType": "application/pdf"}},
        {
            "fileData": {
                "fileUri": "https://generativelanguage.googleapis.com/v1beta/files/x",
                "mimeType": "text/csv",
            }
        },
        {"text": "[File a.txt]\nwords"},
        {"text": '{"b":1}'},
    ]


def test_an_unresolved_handle_is_refused_where_it_would_be_written() -> None:
    with pytest.raises(UnsupportedContent, match="'a1'"):
        media_part(Media(Modality.IMAGE, "image/png", Handle(ArtifactId("a1"))))


def test_r03_blank_texts_are_left_out_and_so_is_a_content_with_nothing_left() -> None:
    written = contents(
        Item.user("hi"), Item.assistant("", call("1")), Item.tool(result("1", " \n")),
        Item.assistant(" "), Item.user("go on"),
    )  # fmt: skip

    assert [len(entry["parts"]) for entry in written] == [1, 1, 1, 1]
    response = written[2]["parts"][0]["functionResponse"]["response"]
    assert response == {"output": "(no tool output)"}


def test_r04_images_stay_inside_the_results_where_the_model_takes_them_there() -> None:
    history = (
        Item.user("look"),
        Item.assistant(call("a"), call("b"), call("c")),
        Item.tool(result("a", PNG), result("b", "here", PNG), result("c", "text")),
    )

    inside, after = contents(*history, model=NEW), contents(*history, model=OLD)

    assert [entry["functionResponse"] for entry in inside[2]["parts"]] == [
        {
            "name": "f",
            "response": {"output": "(see the attached media)"},
            "parts": [PNG_PART],
        },
        {"name": "f", "response": {"output": "here"}, "parts": [PNG_PART]},
        {"name": "f", "response": {"output": "text"}},
    ]
    assert len(inside) == 3
    assert [set(entry) for entry in after[2]["parts"]] == [{"functionResponse"}] * 3
    assert [entry for entry in after[3]["parts"] if "text" not in entry] == [PNG_PART, PNG_PART]


def test_r05_ids_of_others_are_not_sent_unless_the_model_wants_ids() -> None:
    history = (
        Item.user("hi"),
        Item.assistant(call("functions.Bash:0"), call("x" * 90)),
        Item.tool(result("functions.Bash:0", "r"), result("x" * 90, "s")),
    )

    def ids(quirks: Quirks) -> list[tuple[str | None, str | None]]:
        _, calls, results = contents(*history, quirks=quirks)
        return [
            (one["functionCall"].get("id"), other["functionResponse"].get("id"))
            for one, other in zip(calls["parts"], results["parts"], strict=True)
        ]

    assert ids(Quirks()) == [(None, None), (None, None)]
    for called, answered in ids(Quirks(call_ids=True)):
        assert called == answered
        assert called is not None
        assert len(called) <= 64


def test_names_of_tools_may_have_what_google_allows_in_them() -> None:
    history = (Item.user("hi"), Item.assistant(call("1", "a.b:c-d"), call("2", "read file!")))

    names = [entry["functionCall"]["name"] for entry in contents(*history)[1]["parts"]]

    assert names == ["a.b:c-d", "read_file_"]


def test_r06_half_finished_thoughts_are_not_sent_back() -> None:
    half = Reasoning("hm", metadata={"agentkit.incomplete": True})
    blank = Reasoning(" ", metadata={"google_generate.signature": ""})

    assert contents(Item.user("hi"), own(half, blank), Item.user("go on"))[0]["parts"] == [
        {"text": "hi"},
        {"text": "go on"},
    ]


PARALLEL = bodies.whole(
    bodies.call("f", signature="QUJD", args={}), bodies.call("g", args={}), finish="STOP"
)


def test_r08_a_signature_goes_back_on_its_call_alone_byte_for_byte() -> None:
    for model in (NEW, OLD):
        decoder = GoogleGenerate().decoder(bodies.request(model=model))
        item = fold_response(decode_chunks(decoder, [PARALLEL])).item
        stored = from_json(to_json(item), Item)
        results = Item.tool(*(result(entry.id, "r") for entry in stored.tool_calls))

        written = contents(Item.user("hi"), stored, results, model=model)

        assert written[1]["parts"] == [
            {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "QUJD"},
            {"functionCall": {"name": "g", "args": {}}},
        ]


def test_r08_calls_of_other_models_carry_the_documented_stand_in() -> None:
    def signatures(item: Item, **given: Any) -> list[str | None]:
        written = contents(
            Item.user("hi"), item, Item.tool(result("1", "r"), result("2", "r")), **given
        )
        return [entry.get("thoughtSignature") for entry in written[1]["parts"]]

    foreign = Item.assistant(call("1"), call("2"))
    elsewhere = own(
        ToolCall(ToolCallId("1"), "f", metadata={"google_generate.signature": "QUJD"}),
        call("2"),
        model=OLD,
    )

    assert signatures(foreign) == [SKIP, None]
    assert signatures(elsewhere) == [SKIP, None]
    assert signatures(foreign, model=OLD) == [None, None]
    assert signatures(foreign, quirks=Quirks(imported_call_signature=None)) == [None, None]
    assert signatures(own(call("1"), call("2"))) == [None, None]


def test_a_text_goes_back_in_the_pieces_in_which_it_was_signed() -> None:
    pieces: Any = [[3, None], [2, "QQ=="]]
    signed = Text("abcde", metadata={"google_generate.pieces": pieces})
    changed = Text("abcd", metadata={"google_generate.pieces": pieces})

    assert contents(Item.user("hi"), own(signed))[1]["parts"] == [
        {"text": "abc"},
        {"text": "de", "thoughtSignature": "QQ=="},
    ]
    assert contents(Item.user("hi"), own(changed))[1]["parts"] == [{"text": "abcd"}]
    assert contents(Item.user("hi"), own(signed, model=OLD))[1]["parts"] == [{"text": "abcde"}]


def test_blocks_go_back_verbatim_to_their_vendor_and_signed_ones_to_their_model_alone() -> None:
    code: dict[str, Any] = {"executableCode": {"language": "PYTHON", "code": "1"}}
    search: dict[str, Any] = {"toolCall": {"id": "1"}, "thoughtSignature": "QQ=="}
    parts = (
        Custom("google_generate.executableCode", code),
        Custom("google_generate.toolCall", search),
        Custom("another_api.search", {"q": 1}),
        Text("a"),
    )

    assert contents(Item.user("hi"), own(*parts))[1]["parts"] == [code, search, {"text": "a"}]
    assert contents(Item.user("hi"), own(*parts, model=OLD))[1]["parts"] == [code, {"text": "a"}]
    assert contents(Item.user("hi"), own(*parts), model=OLD)[1]["parts"] == [code, {"text": "a"}]


def test_thoughts_and_images_of_thoughts_go_back_as_thoughts() -> None:
    image = Reasoning(
        data=InlineBytes(b"\x89PNG\r\n\x1a\n"),
        metadata={"google_generate.mime_type": "image/png", "google_generate.signature": "QQ=="},
    )

    assert contents(Item.user("hi"), own(Reasoning("hm"), image, PNG))[1]["parts"] == [
        {"thought": True, "text": "hm"},
        {"thought": True, **PNG_PART, "thoughtSignature": "QQ=="},
        PNG_PART,
    ]
    assert contents(Item.user("hi"), Item.assistant(Reasoning("hm"), "a"))[1]["parts"] == [
        {"text": "a"}
    ]


def test_r12_a_round_of_results_is_one_content_in_call_order_and_nothing_else() -> None:
    written = contents(
        Item.user("hi"),
        Item.assistant(call("1", at=1), call("2", at=2)),
        Item.tool(result("2", "second"), result("1", "first")),
        Item.user("go on"),
    )

    assert [entry["role"] for entry in written] == ["user", "model", "user", "user"]
    assert [entry["functionCall"]["args"] for entry in written[1]["parts"]] == [
        {"at": 1},
        {"at": 2},
    ]
    assert written[2]["parts"] == [
        {"functionResponse": {"name": "f", "response": {"output": "first"}}},
        {"functionResponse": {"name": "f", "response": {"output": "second"}}},
    ]


def test_r12_ids_that_the_vendor_gave_go_back_on_call_and_result() -> None:
    given = ToolCall(ToolCallId("here-1"), "f", metadata={"google_generate.call_id": "x1"})

    written = contents(Item.user("hi"), own(given), Item.tool(result("here-1", "r")))

    assert written[1]["parts"][0]["functionCall"] == {"id": "x1", "name": "f", "args": {}}
    assert written[2]["parts"][0]["functionResponse"] == {
        "id": "x1",
        "name": "f",
        "response": {"output": "r"},
    }


def test_what_a_tool_gave_is_an_object() -> None:
    def response(output: Any, *, is_error: bool = False) -> Any:
        answer = ToolResult(ToolCallId("1"), output, is_error)
        written = contents(Item.user("hi"), Item.assistant(call("1")), Item.tool(answer))
        return written[2]["parts"][0]["functionResponse"]["response"]

    assert response(TextOutput("a")) == {"output": "a"}
    assert response(TextOutput("a"), is_error=True) == {"error": "a"}
    assert response(StructuredOutput([1])) == {"output": [1]}
    assert response(StructuredOutput({"a": 1})) == {"a": 1}
    assert response(StructuredOutput({"error": None})) == {"output": {"error": None}}
    assert response(StructuredOutput({"a": 1}), is_error=True) == {"error": {"a": 1}}


def test_r13_lone_surrogates_are_replaced_and_real_pairs_kept() -> None:
    written = contents(
        Item.user("a\ud800b \ud83d\ude48 🙈"),
        Item.assistant(call("1", x="\udfff")),
        Item.tool(ToolResult(ToolCallId("1"), StructuredOutput({"k": "\ud800"}))),
    )

    assert written[0]["parts"][0]["text"] == "a\ufffdb 🙈 🙈"
    assert written[1]["parts"][0]["functionCall"]["args"] == {"x": "\ufffd"}
    assert written[2]["parts"][0]["functionResponse"]["response"] == {"k": "\ufffd"}


HISTORY = (
    Item.system("be brief"),
    Item.user("hi"),
    own(Text("a"), call("1", x=1)),
    Item.tool(result("1", "r")),
    own(Text("b")),
    Item.user("go on"),
)


def test_r15_a_longer_conversation_begins_with_the_bytes_of_the_shorter_one() -> None:
    encoder, projection = GoogleGenerate().encoder(), GoogleGenerate()
    before = b""
    for end in (2, 4, 6):
        request = ModelRequest(model=NEW, items=HISTORY[:end], tools=(WEATHER,))
        written = encoder.encode(request).body
        assert written == projection.encode(request).body
        assert written.startswith(before)
        before = written.removesuffix(b"]}")


def test_a_request_mentions_what_was_asked_and_nothing_else() -> None:
    assert body(Item.user("hi")) == {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


def test_all_options_have_their_fields() -> None:
    written = body(
        Item.user("hi"),
        tools=(WEATHER, ToolSpec("bare")),
        max_output_tokens=9000,
        temperature=0.5,
        top_p=0.9,
        seed=7,
        stop_sequences=("END",),
        thinking=ThinkingLevel.HIGH,
        response_format=JsonSchemaFormat({"type": "object"}),
        tool_choice=ToolChoiceMode.REQUIRED,
        parallel_tool_calls=True,
    )

    assert list(written) == ["tools", "toolConfig", "generationConfig", "contents"]
    assert written["tools"] == [
        {
            "functionDeclarations": [
                {
                    "name": "weather",
                    "description": "Say what the weather is like.",
                    "parametersJsonSchema": WEATHER.input_schema,
                },
                {"name": "bare", "parametersJsonSchema": {"type": "object", "properties": {}}},
            ]
        }
    ]
    assert written["toolConfig"] == {"functionCallingConfig": {"mode": "ANY"}}
    assert written["generationConfig"] == {
        "maxOutputTokens": 9000,
        "temperature": 0.5,
        "topP": 0.9,
        "seed": 7,
        "stopSequences": ["END"],
        "responseMimeType": "application/json",
        "responseJsonSchema": {"type": "object"},
        "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "high"},
    }


@pytest.mark.parametrize(
    ("choice", "written"),
    [
        (ToolChoiceMode.AUTO, {"mode": "AUTO"}),
        (ToolChoiceMode.NONE, {"mode": "NONE"}),
        (NamedTool("weather"), {"mode": "ANY", "allowedFunctionNames": ["weather"]}),
    ],
)
def test_tool_choices_have_their_words(choice: Any, written: dict[str, Any]) -> None:
    sent = body(Item.user("hi"), tools=(WEATHER,), tool_choice=choice)

    assert sent["toolConfig"] == {"functionCallingConfig": written}


def test_s03_an_endpoint_without_json_schema_gets_the_older_dialect() -> None:
    place: dict[str, Any] = {
        "type": "object",
        "properties": {"name": {"type": ["string", "null"]}, "at": {"$ref": "#/$defs/At"}},
        "$defs": {"At": {"type": "array", "items": {"type": "number"}}},
        "additionalProperties": False,
    }
    written = body(
        Item.user("hi"),
        tools=(ToolSpec("go", input_schema=place), ToolSpec("stop")),
        response_format=JsonSchemaFormat(place),
        quirks=Quirks(json_schema=False),
    )
    older = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "nullable": True},
            "at": {"type": "array", "items": {"type": "number"}},
        },
    }

    go, stop = written["tools"][0]["functionDeclarations"]
    assert go == {"name": "go", "parameters": older}
    assert stop == {"name": "stop"}
    assert written["generationConfig"]["responseSchema"] == older


def test_json_of_any_shape_is_asked_for_by_its_type() -> None:
    assert config(response_format=JsonFormat()) == {"responseMimeType": "application/json"}


def test_what_a_request_must_have_and_cannot_is_refused() -> None:
    required = CacheRequest(mode=CacheMode.REQUIRED)
    marked = CacheRequest(mode=CacheMode.REQUIRED, marks=(ItemEnd(0),))
    cached = {"google_generate": {"cachedContent": "cachedContents/x"}}
    refused: list[dict[str, Any]] = [
        {"cache": required},
        {"cache": marked, "extra": cached},
        {"tool_choice": ToolChoiceMode.REQUIRED},
        {"tool_choice": NamedTool("other"), "tools": (WEATHER,)},
        {"parallel_tool_calls": False, "tools": (WEATHER,)},
    ]
    for options in refused:
        with pytest.raises(UnsupportedContent):
            body(Item.user("hi"), **options)

    assert body(Item.user("hi"), cache=required, extra=cached)["cachedContent"]


def test_what_it_need_not_have_is_left_out() -> None:
    plain = body(Item.user("hi"))

    assert body(Item.user("hi"), cache=CacheRequest(marks=(ItemEnd(0),), key="k")) == plain
    assert body(Item.user("hi"), cache=CacheRequest(mode=CacheMode.DISABLED)) == plain
    assert body(Item.user("hi"), parallel_tool_calls=False) == plain


def test_extras_are_laid_over_objects_key_by_key_and_tools_are_added() -> None:
    extra = {
        "generationConfig": {"topK": 5, "temperature": 1},
        "tools": [{"googleSearch": {}}],
        "toolConfig": {"includeServerSideToolInvocations": True},
        "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}],
    }

    written = body(
        Item.user("hi"),
        tools=(WEATHER,),
        temperature=0,
        seed=1,
        tool_choice=ToolChoiceMode.AUTO,
        extra={"google_generate": extra, "openai_chat": {"n": 2}},
    )

    assert written["generationConfig"] == {"temperature": 1, "seed": 1, "topK": 5}
    assert [list(tool) for tool in written["tools"]] == [["functionDeclarations"], ["googleSearch"]]
    assert written["toolConfig"] == {
        "functionCallingConfig": {"mode": "AUTO"},
        "includeServerSideToolInvocations": True,
    }
    assert written["safetySettings"] == extra["safetySettings"]
    assert "n" not in written


def test_what_is_cached_by_name_is_not_sent_again() -> None:
    written = body(
        Item.system("s"),
        Item.user("hi"),
        tools=(WEATHER,),
        tool_choice=ToolChoiceMode.AUTO,
        extra={"google_generate": {"cachedContent": "cachedContents/x"}},
    )

    assert list(written) == ["cachedContent", "contents"]


LEVELS = list(ThinkingLevel)
# As pi-ai maps them, but that 2.5 Pro, which refuses a budget of 0, gets its least for `off`.
BUDGETS = {
    "gemini-2.5-pro": [128, 128, 2048, 8192, 32768, 32768, 32768],
    "models/gemini-2.5-flash-001": [0, 128, 2048, 8192, 24576, 24576, 24576],
    "gemini-2.5-flash-lite": [0, 512, 2048, 8192, 24576, 24576, 24576],
    "gemini-2.0-flash": [0, -1, -1, -1, -1, -1, -1],
    "gemini-flash-latest": [0, -1, -1, -1, -1, -1, -1],
}
WORDS = {
    "gemini-3-pro-preview": ["low", "low", "low", "high", "high", "high", "high"],
    "gemini-3.1-flash-lite": ["minimal", "minimal", "low", "medium", "high", "high", "high"],
}


@pytest.mark.parametrize("model", [*BUDGETS, *WORDS])
def test_each_family_has_its_own_fields_for_thinking(model: str) -> None:
    field = "thinkingBudget" if model in BUDGETS else "thinkingLevel"
    for level, value in zip(LEVELS, (BUDGETS | WORDS)[model], strict=True):
        sent = config(model=model, thinking=level)["thinkingConfig"]
        shown = {} if level is ThinkingLevel.OFF else {"includeThoughts": True}
        assert sent == {**shown, field: value}


def decided(**given: Any) -> Any:
    """What is noted of the thinking level."""
    model = given.pop("model", OLD)
    quirks = given.pop("quirks", Quirks())
    request = ModelRequest(model=model, items=(Item.user("hi"),), options=ModelOptions(**given))
    return GoogleGenerate(quirks=quirks).encode(request).metadata.get("google_generate.thinking")


def test_a_thinking_level_that_was_changed_is_noted() -> None:
    off, high, most = ThinkingLevel.OFF, ThinkingLevel.HIGH, ThinkingLevel.MAX

    assert decided(thinking=high) is None
    assert decided(thinking=off) is None
    assert decided(thinking=high, model=NEW) is None
    assert decided(thinking=most) == {"asked": "max", "sent": "high"}
    assert decided(thinking=off, model=NEW) == {"asked": "off", "sent": "low"}
    assert decided(thinking=ThinkingLevel.MEDIUM, model=NEW) == {"asked": "medium", "sent": "high"}
    assert decided(thinking=high, model="gemini-1.5-pro") == {"asked": "high", "sent": None}
    assert decided(thinking=high, model="gemini-2.0-x") == {"asked": "high", "sent": "dynamic"}
    assert decided(thinking=off, model="gemini-2.5-pro") == {
        "asked": "off",
        "sent": "minimal",
    }
    assert decided(thinking=off, model="gemini-1.5-pro") is None


def test_a_budget_is_cut_where_it_would_leave_no_tokens_for_the_answer() -> None:
    def budget(limit: int, model: str = OLD) -> int:
        given = {"thinking": ThinkingLevel.MEDIUM, "max_output_tokens": limit, "model": model}
        sent = config(**given)
        assert sent["maxOutputTokens"] == limit
        found: int = sent["thinkingConfig"]["thinkingBudget"]
        return found

    assert budget(20_000) == 8192
    assert budget(8192) == 7168
    assert budget(500) == 0
    assert budget(500, "gemini-2.5-pro") == 128
    noted = decided(thinking=ThinkingLevel.MEDIUM, max_output_tokens=8192)
    assert noted == {"asked": "medium", "sent": "medium", "budget_tokens": 7168}


def test_quirks_know_better_how_a_model_thinks() -> None:
    low, high = ThinkingLevel.LOW, ThinkingLevel.HIGH
    budgets = Quirks(thinking_budgets={low: 512})
    words = Quirks(thinking_level_map={high: "medium", ThinkingLevel.MINIMAL: None})
    none = Quirks(thinking_level_map=dict.fromkeys(LEVELS[1:]))

    assert (
        config(thinking=low, quirks=budgets, model=OLD)["thinkingConfig"]["thinkingBudget"] == 512
    )
    assert config(thinking=high, quirks=words)["thinkingConfig"]["thinkingLevel"] == "medium"
    assert decided(thinking=high, quirks=words) is None
    assert decided(thinking=low, quirks=budgets) is None
    assert config(thinking=ThinkingLevel.MINIMAL, quirks=words)["thinkingConfig"] == {
        "includeThoughts": True,
        "thinkingLevel": "low",
    }
    assert config(thinking=high, quirks=none) == {}
    assert decided(thinking=high, quirks=none) == {"asked": "high", "sent": None}


# Whatever the history, Google's own types accept the body.

PROFILES = {
    "newest": Quirks(),
    "text only": Quirks(media=frozenset(), files=False, tool_media=False),
    "older": Quirks(json_schema=False, tool_media=False, imported_call_signature=None),
    "models of others": Quirks(call_ids=True, thinking_budgets={ThinkingLevel.LOW: 512}),
}


@cache
def field_types() -> dict[str, TypeAdapter[Any]]:
    """The vendor's own types, loaded when they are first needed: that takes a second."""
    from google.genai import types

    return {
        "contents": TypeAdapter(list[types.Content]),
        "systemInstruction": TypeAdapter(types.Content),
        "tools": TypeAdapter(list[types.Tool]),
        "toolConfig": TypeAdapter(types.ToolConfig),
        "generationConfig": TypeAdapter(types.GenerationConfig),
        "safetySettings": TypeAdapter(list[types.SafetySetting]),
        "cachedContent": TypeAdapter(str),
    }


def check_body(written: dict[str, Any]) -> None:
    """Check a body with the vendor's own types, and the rules that these do not know."""
    for name, value in written.items():
        field_types()[name].validate_python(value)
    before: dict[str, Any] = {}
    for content in written["contents"]:
        results = ["functionResponse" in entry for entry in content["parts"]]
        assert content["parts"], "a content without parts"
        assert all(results) or not any(results), "results have siblings"
        calls = [entry for entry in before.get("parts", ()) if "functionCall" in entry]
        assert len(calls) == sum(results), "calls and results differ in number"
        if before.get("role") == content["role"]:
            assert "functionResponse" in before["parts"][0], "two contents of one role"
        for part in content["parts"]:
            assert part.get("text") != "" or "thoughtSignature" in part
        before = content
    assert not any("functionCall" in entry for entry in before.get("parts", ()))
    if written["contents"]:
        assert written["contents"][0]["role"] == "user"


@pytest.mark.timeout(
    240
)  # the first loads the vendor's library, which a busy machine takes long for
@pytest.mark.slow
@pytest.mark.parametrize("model", [NEW, OLD, "gemma-3-27b-it"])
@pytest.mark.parametrize("profile", PROFILES)
def test_every_request_is_one_by_googles_own_types(profile: str, model: str) -> None:
    quirks = PROFILES[profile]
    recursive: dict[str, Any] = {
        "type": "object",
        "properties": {"t": {"$ref": "#/$defs/T"}},
        "$defs": {
            "T": {
                "type": "object",
                "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/T"}}},
            }
        },
    }
    for items in hard_transcripts().values():
        for options in (
            {},
            {
                "thinking": ThinkingLevel.LOW,
                "max_output_tokens": 9000,
                "temperature": 0.5,
                "top_p": 0.5,
                "seed": 1,
                "stop_sequences": ("x",),
                "tool_choice": NamedTool("weather"),
                "response_format": JsonSchemaFormat(recursive),
            },
        ):
            tools = (WEATHER, ToolSpec("tree", input_schema=recursive), ToolSpec("bare"))
            check_body(body(*items, quirks=quirks, tools=tools, model=model, **options))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("model", [NEW, OLD])
def test_any_history_can_be_sent(profile: str, model: str) -> None:
    projection = GoogleGenerate(quirks=PROFILES[profile])

    check_projection(projection, model=model, tools=(WEATHER,))
    target = projection.target(model)
    for items in hard_transcripts().values():
        check_sendable(sendable(items, target), target)


EMPTY_FILE = Item.user(File(InlineText("")))


@pytest.mark.timeout(
    240
)  # the first loads the vendor's library, which a busy machine takes long for
@pytest.mark.slow
@example([EMPTY_FILE], "newest", NEW)
@examples(40)
@given(any_histories(), st.sampled_from(sorted(PROFILES)), st.sampled_from([NEW, OLD]))
def test_whatever_the_history_google_takes_the_body(items: Any, profile: str, model: str) -> None:
    check_body(body(*items, quirks=PROFILES[profile], model=model))


@examples(10)
@given(any_histories(), any_histories(), st.integers(0, 5))
def test_an_encoder_gives_the_bytes_of_its_projection_whatever_it_wrote_before(
    first: Any, second: Any, end: int
) -> None:
    projection = GoogleGenerate()
    encoder = projection.encoder()
    for items in (first[:end], first, second, first):
        for model in (NEW, OLD):
            request = ModelRequest(model=model, items=tuple(items))
            assert encoder.encode(request) == projection.encode(request)


# What a model said goes back to it as it came.


def exact(parts: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parts without what says nothing; text that a stream cut, and nobody signed, is joined."""
    said = [
        {key: value for key, value in entry.items() if (key, value) != ("thought", False)}
        for entry in parts
        if entry != {"text": ""}
    ]
    for entry in said:
        if "functionCall" in entry:
            entry["functionCall"] = {"args": {}, **entry["functionCall"]}

    def kind(one: dict[str, Any]) -> Any:
        return one.get("thought") if set(one) <= {"text", "thought"} else id(one)

    return [
        {**group[0], "text": "".join(entry["text"] for entry in group)}
        if len(group) > 1
        else group[0]
        for group in (list(group) for _, group in groupby(said, kind))
    ]


def said_in(answer: bytes) -> list[dict[str, Any]]:
    """The parts of the first candidate, as they stand in a body."""
    text = answer.decode()
    if text.lstrip().startswith("{"):
        responses = [json.loads(text)]
    elif text.lstrip().startswith("["):
        responses = json.loads(text)
    else:
        lines = text.replace("\r\n", "\n").split("\n")
        responses = [json.loads(line[5:]) for line in lines if line.startswith("data:")]
    return [
        part
        for entry in responses
        for candidate in entry.get("candidates", ())[:1]
        for part in (candidate.get("content") or {}).get("parts", ())
    ]


def test_every_recorded_answer_goes_back_as_the_vendor_sent_it(shared: Path) -> None:
    folder = shared / "wire-corpus" / "dev" / "google-generate"
    compared = 0
    for exchange in corpus.exchanges(folder):
        answer = corpus.body_of(exchange)
        if exchange["status"] >= 400 or b"partialArgs" in answer:
            continue
        projection = GoogleGenerate()
        decoder = projection.decoder(corpus.request_of(exchange))
        item = from_json(to_json(fold_response(decode_chunks(decoder, [answer])).item), Item)
        if item.finish_reason is FinishReason.ERROR:
            continue
        results = Item.tool(*(result(entry.id, "r") for entry in item.tool_calls))
        history = (Item.user("hi"), item, *([results] if item.tool_calls else []))
        written = contents(*history, model=exchange["model"])
        back = [part for entry in written if entry["role"] == "model" for part in entry["parts"]]
        assert exact(back) == exact(said_in(answer)), exchange["id"]
        compared += 1
    assert compared > 50


@pytest.mark.parametrize("name", ["google", "vertex"])
def test_vendors_have_their_rows(name: str) -> None:
    row = default_registry.get(name)
    projection = default_registry.projection(row)

    assert isinstance(projection, GoogleGenerate)
    assert projection.provider == name
    if name == "google":
        assert (row.auth_header, row.auth_prefix) == ("x-goog-api-key", "")
        assert row.key_env == ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    else:
        assert (row.auth_header, row.auth_prefix, row.base_url) == ("authorization", "Bearer ", "")
