"""Responses, from requests to bytes: input items, options, and what vendors want."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import (
    ArtifactId,
    Custom,
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
    Structured,
    StructuredOutput,
    ThinkingLevel,
    ToolCallId,
    ToolChoiceMode,
    ToolResult,
    ToolSpec,
    UnsupportedContent,
    Uri,
)
from agentkit_core.cache import (
    CacheMark,
    CacheMode,
    CacheRequest,
    CacheRetention,
    ItemEnd,
    PartEnd,
    ToolsEnd,
)
from agentkit_core.testing import check_projection, hard_transcripts
from agentkit_providers.endpoints import OPENAI_RESPONSES, default_registry
from agentkit_providers.openai_responses import OpenAIResponses, Quirks, ReasoningReplay
from agentkit_providers.openai_responses._media import media_part
from providers.body_types import accepted_by
from support.encoding import PNG, WEATHER, call, encoded_body, result
from support.examples import examples
from support.items import any_histories

TYPES = "openai.types.responses.response_create_params"

ENCRYPTED = ["reasoning.encrypted_content"]
NO_THINKING: dict[ThinkingLevel, str | None] = {
    level: None for level in ThinkingLevel if level is not ThinkingLevel.OFF
}


def body(*items: Item, quirks: Quirks | None = None, **request: Any) -> dict[str, Any]:
    """The body of a request, as JSON."""
    return encoded_body(OpenAIResponses(quirks=quirks or Quirks()), *items, **request)


def input_items(*items: Item, quirks: Quirks | None = None, **options: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = body(*items, quirks=quirks, **options)["input"]
    return entries


def decisions(quirks: Quirks | None = None, **options: Any) -> dict[str, Any]:
    """What the encoder decided, for the response's item."""
    request = ModelRequest(model="m", options=ModelOptions(**options))
    return OpenAIResponses(quirks=quirks or Quirks()).encode(request).metadata


PNG_PART = {
    "type": "input_image",
    "detail": "auto",
    "image_url": "data:image/png;base64,iVBORw0KGgo=",
}


def test_every_kind_of_item_has_its_input_item() -> None:
    assert input_items(
        Item.system("s", "t"),
        Item.context("c"),
        Item.developer("d"),
        Item.user("u"),
        Item.notification("n"),
        Item.assistant("a", "b", call("1", x=1)),
        Item.tool(result("1", "r")),
    ) == [
        {"role": "system", "content": "s\nt"},
        {"role": "system", "content": "c"},
        {"role": "developer", "content": "d"},
        {"role": "user", "content": "u"},
        {"role": "user", "content": "<system-reminder>\nn\n</system-reminder>"},
        {"role": "assistant", "content": "ab"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": '{"x":1}'},
        {"type": "function_call_output", "call_id": "1", "output": "r"},
    ]


def test_vendors_that_want_messages_in_another_way_get_them() -> None:
    quirks = Quirks(developer_role=False, assistant_text_in_list=True, error_prefix="Error: ")
    assert input_items(
        Item.developer("d"),
        Item.assistant("a", call("1"), call("2")),
        Item.tool(result("1", "r", is_error=True), result("2", PNG, is_error=True)),
        quirks=quirks,
    ) == [
        {"role": "system", "content": "d"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "a", "annotations": []}],
        },
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "2", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "Error: r"},
        {
            "type": "function_call_output",
            "call_id": "2",
            "output": [{"type": "input_text", "text": "Error: "}, PNG_PART],
        },
    ]


def test_media_and_documents_are_written_as_the_protocol_has_them() -> None:
    item = Item.user(
        "see",
        Media(Modality.IMAGE, "", Uri("https://e/i"), metadata={"openai_responses.detail": "low"}),
        Media(Modality.IMAGE, "", Uri("file-1")),
        PNG,
        Media(Modality.AUDIO, "audio/wav", InlineBytes(b"WAV")),
        File(InlineBytes(b"PDF"), "application/pdf", "a.pdf"),
        File(Uri("https://e/a.pdf"), "application/pdf"),
        File(Uri("file-2")),
        File(InlineText("words"), "text/plain", "a.txt"),
        File(InlineBytes(b"\x89PNG\r\n\x1a\n"), "image/png"),
        Structured({"b": 1}),
    )

    assert input_items(item)[0]["content"] == [
        {"type": "input_text", "text": "see"},
        {"type": "input_image", "image_url": "https://e/i", "detail": "low"},
        {"type": "input_image", "detail": "auto", "file_id": "file-1"},
        PNG_PART,
        {"type": "input_text", "text": "(audio omitted: model does not support audio)"},
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,UERG",
        },
        {"type": "input_file", "file_url": "https://e/a.pdf"},
        {"type": "input_file", "file_id": "file-2"},
        {"type": "input_text", "text": "[File a.txt]\nwords"},
        PNG_PART,
        {"type": "input_text", "text": '{"b":1}'},
    ]


def test_an_unresolved_handle_is_refused_where_it_would_be_written() -> None:
    with pytest.raises(UnsupportedContent, match="'a1'"):
        media_part(Media(Modality.IMAGE, "image/png", Handle(ArtifactId("a1"))))


def test_what_a_tool_gave_is_text_or_json_or_a_list_with_images_and_files() -> None:
    value = ToolResult(ToolCallId("2"), StructuredOutput({"a": [1]}))
    file = File(InlineText("w"), "text/plain")
    written = input_items(
        Item.assistant(call("1"), call("2"), call("3"), call("4")),
        Item.tool(result("1", "a", "b"), value, result("3", "see", PNG), result("4", file)),
    )

    assert [entry["output"] for entry in written[4:]] == [
        "a\nb",
        '{"a":[1]}',
        [{"type": "input_text", "text": "see"}, PNG_PART],
        "w",
    ]


CALLS_A_B_C = Item.assistant(call("A"), call("B"), call("C"))
RESULTS_WITH_IMAGES = Item.tool(result("A", PNG), result("B", "seen", PNG), result("C", "text"))


def test_r04_images_of_parallel_results_stay_inside_them() -> None:
    written = input_items(CALLS_A_B_C, RESULTS_WITH_IMAGES)

    assert [entry["type"] for entry in written[3:]] == ["function_call_output"] * 3
    assert written[3]["output"] == [PNG_PART]


def test_r04_where_results_hold_no_images_these_follow_after_all_results() -> None:
    written = input_items(CALLS_A_B_C, RESULTS_WITH_IMAGES, quirks=Quirks(tool_images=False))

    assert [entry.get("output") for entry in written[3:6]] == [
        "(see the attached media)",
        "seen",
        "text",
    ]
    label_a, image_a, label_b, image_b = written[6]["content"]
    assert "call A" in label_a["text"]
    assert "call B" in label_b["text"]
    assert image_a == image_b == PNG_PART
    assert len(written) == 7


def test_r05_call_ids_become_ones_that_the_vendor_takes() -> None:
    ids = ("functions.Bash:0", "x|" * 45, "call_abc", "y" * 80, "y" * 79 + "z")
    written = input_items(
        Item.assistant(*map(call, ids)), Item.tool(*(result(entry, "r") for entry in ids))
    )
    sent = [entry["call_id"] for entry in written[:5]]

    assert all(0 < len(entry) <= 64 for entry in sent)
    assert (sent[0], sent[2]) == (ids[0], ids[2])
    assert [entry["call_id"] for entry in written[5:]] == sent
    assert len(set(sent)) == len(ids)


def test_r03_blank_texts_are_left_out_and_so_is_an_assistant_with_nothing_left() -> None:
    assert input_items(
        Item.system(" "),
        Item.user("u"),
        Item.assistant("", call("1")),
        Item.tool(result("1", "  \n")),
        Item.assistant("", " "),
        Item.assistant(PNG),
    ) == [
        {"role": "user", "content": "u"},
        {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "1", "output": "(no tool output)"},
    ]


def test_r13_lone_surrogates_are_replaced_and_real_pairs_kept() -> None:
    request = ModelRequest(
        model="m",
        items=(
            Item.user("a\ud800b 😀", Custom("openai_responses.x_output", {"k": "\ud800"})),
            Item.assistant(call("1", path="\udc80")),
            Item.tool(result("1", "\ud83d")),
        ),
        tools=(ToolSpec("f", "broken \ud800"),),
    )
    written = OpenAIResponses().encode(request).body.decode("utf-8", "strict")

    assert "a\ufffdb 😀" in written
    assert "broken \ufffd" in written
    assert json.loads(written)["input"][2]["arguments"] == '{"path":"\ufffd"}'


def test_r15_a_longer_conversation_begins_with_the_bytes_of_the_shorter_one() -> None:
    items: list[Item] = [Item.system("s")]
    before = b""
    for turn in range(4):
        items.append(Item.user(f"question {turn}"))
        request = ModelRequest(model="m", items=tuple(items), tools=(WEATHER, ToolSpec("b")))
        written = OpenAIResponses().encode(request).body
        assert written.startswith(before.removesuffix(b"]}"))
        before = written
        items += [
            Item.assistant(call(f"c{turn}", city="Rome")),
            Item.tool(result(f"c{turn}", "sunny", PNG)),
            Item.assistant("It is sunny."),
        ]


def test_the_bytes_are_compact_json_with_the_input_last() -> None:
    request = ModelRequest(model="m", items=(Item.user("é"),), streamed=True)

    assert OpenAIResponses().encode(request).body == (
        '{"model":"m","stream":true,"store":false,"include":["reasoning.encrypted_content"],'
        '"input":[{"role":"user","content":"é"}]}'.encode()
    )


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
        tool_choice=NamedTool("weather"),
        parallel_tool_calls=False,
        response_format=JsonSchemaFormat(CLOSED, "shape", strict=True),
        thinking=ThinkingLevel.LOW,
        cache=CacheRequest(retention=CacheRetention.EXTENDED),
        extra={"openai_responses": {"truncation": "auto", "top_p": 1}, "other": {"x": 1}},
    )

    del written["input"]
    assert written == {
        "model": "m",
        "store": False,
        "max_output_tokens": 100,
        "temperature": 0.5,
        "top_p": 1,
        "include": ENCRYPTED,
        "reasoning": {"effort": "low", "summary": "auto"},
        "text": {
            "format": {
                "type": "json_schema",
                "name": "shape",
                "schema": CLOSED,
                "strict": True,
            }
        },
        "prompt_cache_key": "s1",
        "prompt_cache_retention": "24h",
        "tools": [
            {
                "type": "function",
                "name": "weather",
                "description": "Say what the weather is like.",
                "parameters": WEATHER.input_schema,
                "strict": False,
            }
        ],
        "tool_choice": {"type": "function", "name": "weather"},
        "parallel_tool_calls": False,
        "truncation": "auto",
    }


def test_a_row_may_leave_out_what_the_vendor_does_not_know_and_add_what_it_wants() -> None:
    quirks = Quirks(
        supports_store=False,
        supports_strict_mode=False,
        parallel_tools=False,
        encrypted_reasoning=False,
        sampling=False,
        cache_key=False,
        cache_retention_24h=False,
        extra={"wanted": 1},
    )
    options: dict[str, Any] = {
        "temperature": 0.5,
        "parallel_tool_calls": True,
        "response_format": JsonFormat(),
        "cache": CacheRequest(key="k", retention=CacheRetention.SHORT),
    }
    written = body(tools=(ToolSpec("f", strict=True),), quirks=quirks, **options)

    assert list(written) == ["model", "text", "tools", "wanted", "input"]
    assert written["text"] == {"format": {"type": "json_object"}}
    assert "strict" not in written["tools"][0]
    assert decisions(quirks, seed=1, **options) == {
        "openai_responses.dropped": ["temperature", "seed", "parallel_tool_calls", "cache"]
    }


def test_s04_strict_is_always_said_and_true_for_those_tools_alone_whose_maker_says_it() -> None:
    tools = (
        ToolSpec("any", input_schema={}),
        ToolSpec("strict", strict=True),
        ToolSpec("not_strict", strict=False),
    )

    assert [tool["strict"] for tool in body(tools=tools)["tools"]] == [False, True, False]


def test_the_vendors_own_tools_stand_beside_ours_and_its_includes_too() -> None:
    search = {"type": "web_search"}
    sources = "web_search_call.action.sources"
    extra = {"openai_responses": {"tools": [search], "include": [sources, *ENCRYPTED]}}
    written = body(tools=(WEATHER,), extra=extra)

    assert [tool["type"] for tool in written["tools"]] == ["function", "web_search"]
    assert written["include"] == [*ENCRYPTED, sources]
    required = body(extra=extra, tool_choice=ToolChoiceMode.REQUIRED)
    assert (required["tools"], required["tool_choice"]) == ([search], "required")


def test_an_input_of_the_callers_own_takes_the_place_of_the_history() -> None:
    written = body(Item.user("u"), extra={"openai_responses": {"input": "hi"}})

    assert written["input"] == "hi"


def test_what_a_request_must_have_and_cannot_is_refused() -> None:
    required = CacheRequest(mode=CacheMode.REQUIRED)
    for options in (
        {"tool_choice": ToolChoiceMode.REQUIRED},
        {"tool_choice": NamedTool("unknown"), "tools": (WEATHER,)},
        {"response_format": JsonSchemaFormat({}), "quirks": Quirks(json_schema=False)},
        {"stop_sequences": ("END",)},
        {"cache": required, "quirks": Quirks(cache_key=False)},
        {"cache": CacheRequest(mode=CacheMode.REQUIRED, marks=(ItemEnd(0),))},
    ):
        with pytest.raises(UnsupportedContent):
            body(Item.user("u"), **options)


def test_what_it_need_not_have_is_left_out() -> None:
    for options in (
        {"tool_choice": ToolChoiceMode.AUTO},
        {"parallel_tool_calls": True},
        {"cache": CacheRequest(mode=CacheMode.DISABLED, key="k")},
        {"cache": CacheRequest(marks=(ItemEnd(0),))},
        {"seed": 7},
    ):
        written = body(Item.user("u"), **options)
        assert set(written) == {"model", "store", "include", "input"}


def test_a_limit_below_the_least_is_raised_to_it_and_that_is_noted() -> None:
    assert body(max_output_tokens=5)["max_output_tokens"] == 16
    assert decisions(max_output_tokens=5) == {
        "openai_responses.max_output_tokens": {"asked": 5, "sent": 16}
    }
    assert decisions(max_output_tokens=16) == {}
    assert body(max_output_tokens=5, quirks=Quirks(min_output_tokens=1))["max_output_tokens"] == 5


@pytest.mark.parametrize(
    ("asked", "words", "sent"),
    [
        ("off", {}, "none"),
        ("off", {"off": "minimal"}, "minimal"),
        ("off", {"off": None}, None),
        ("minimal", {}, "minimal"),
        ("minimal", {"minimal": None}, "low"),
        ("high", {}, "high"),
        ("xhigh", {}, "high"),
        ("xhigh", {"xhigh": "xhigh"}, "xhigh"),
        ("max", {"xhigh": "xhigh"}, "xhigh"),
        ("max", {"max": "ultra"}, "ultra"),
        ("low", {"low": "default"}, "default"),
    ],
)
def test_a_thinking_level_is_an_effort_that_the_model_has(
    asked: str, words: dict[str, str | None], sent: str | None
) -> None:
    mapped = {ThinkingLevel(level): word for level, word in words.items()}
    level = ThinkingLevel(asked)
    written = body(quirks=Quirks(thinking_level_map=mapped), thinking=level)

    assert written.get("reasoning", {}).get("effort") == sent
    assert written["include"] == ENCRYPTED
    summed = {} if sent is None or level is ThinkingLevel.OFF else {"summary": "auto"}
    assert {**written.get("reasoning", {}), "effort": sent} == {"effort": sent, **summed}


def test_a_thinking_level_that_was_changed_is_noted() -> None:
    key = "openai_responses.thinking"
    high = ThinkingLevel.HIGH

    assert decisions(thinking=high) == {}
    assert decisions(thinking=ThinkingLevel.OFF) == {}
    assert decisions(thinking=ThinkingLevel.MAX) == {key: {"asked": "max", "sent": "high"}}
    silent = Quirks(supports_reasoning_effort=False)
    assert decisions(silent, thinking=high) == {key: {"asked": "high", "sent": None}}
    no_off = Quirks(thinking_level_map={ThinkingLevel.OFF: None})
    assert decisions(no_off, thinking=ThinkingLevel.OFF) == {key: {"asked": "off", "sent": None}}


def test_of_a_model_that_cannot_reason_nothing_is_asked_about_it() -> None:
    quirks = Quirks(thinking_level_map=NO_THINKING)
    for level in (None, ThinkingLevel.OFF, ThinkingLevel.HIGH):
        assert set(body(quirks=quirks, thinking=level)) == {"model", "store", "input"}
    changed = {"openai_responses.thinking": {"asked": "high", "sent": "off"}}
    assert decisions(quirks, thinking=ThinkingLevel.HIGH) == changed
    assert decisions(quirks, thinking=ThinkingLevel.OFF) == {}


def test_a_summary_is_asked_for_as_the_row_says() -> None:
    for summary, sent in ((None, {}), ("detailed", {"summary": "detailed"})):
        quirks = Quirks(reasoning_summary=summary)
        written = body(quirks=quirks, thinking=ThinkingLevel.LOW)
        assert written["reasoning"] == {"effort": "low", **sent}


# Caching.

POINT = {"prompt_cache_breakpoint": {"mode": "explicit"}}
MARKABLE = Quirks(cache_breakpoints=True)


def test_models_that_take_marks_take_a_lifetime_too() -> None:
    for retention, marks, sent in (
        (CacheRetention.DEFAULT, None, None),
        (CacheRetention.SHORT, None, {"ttl": "30m"}),
        (CacheRetention.EXTENDED, (ItemEnd(0),), {"mode": "explicit", "ttl": "12h"}),
    ):
        cache = CacheRequest(retention=retention, marks=marks)
        written = body(Item.user("u"), quirks=MARKABLE, cache=cache)
        assert written.get("prompt_cache_options") == sent
        assert "prompt_cache_retention" not in written


def marked(*items: Item, marks: tuple[CacheMark, ...], **quirks: Any) -> list[Any]:
    """The texts that are marked, of an input with marks."""
    cache = CacheRequest(marks=marks)
    found: list[Any] = []
    written = input_items(*items, quirks=Quirks(cache_breakpoints=True, **quirks), cache=cache)
    for element in written:
        content = element.get("content", element.get("output"))
        for entry in content if isinstance(content, list) else ():
            if entry.pop("prompt_cache_breakpoint", None) is not None:
                found.append(entry.get("text", entry["type"]))
    return found


HISTORY = (
    Item.system("s"),
    Item.assistant(" "),
    Item.user("u1", PNG, "u2"),
    Item.assistant("a", call("1"), call("2")),
    Item.tool(result("1", "r1"), result("2", "r2", PNG)),
    Item.user("u3"),
)


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (ToolsEnd(), None),
        (ItemEnd(0), "s"),
        (ItemEnd(1), "s"),  # nothing is written of it
        (ItemEnd(2), "u2"),
        (PartEnd(2, 0), "u1"),
        (PartEnd(2, 1), "input_image"),
        (PartEnd(2, 2), "u2"),
        (PartEnd(2, 3), None),
        (ItemEnd(3), "u2"),  # what a model says cannot be marked
        (PartEnd(4, 0), "r1"),
        (ItemEnd(4), "input_image"),
        (ItemEnd(5), "u3"),
        (ItemEnd(6), None),
        (ItemEnd(-1), None),
    ],
)
def test_a_mark_ends_the_prefix_that_it_means(mark: CacheMark, text: str | None) -> None:
    assert marked(*HISTORY, marks=(mark,)) == ([] if text is None else [text])


def test_marks_are_counted_by_the_requests_own_items() -> None:
    moved = ["input_image", "u3"]
    marks = (ItemEnd(4), ItemEnd(5))

    assert marked(*HISTORY, marks=marks, tool_images=False) == moved
    late = (Item.assistant(call("1")), Item.user("u"), Item.tool(result("1", "r")))
    assert marked(*late, marks=(ItemEnd(1),)) == ["u"]


def test_of_more_than_four_marks_the_last_ones_stay() -> None:
    items = [Item.user(f"u{n}") for n in range(6)]
    marks = tuple(ItemEnd(n) for n in (5, 0, 1, 2, 3, 4, 4))

    assert marked(*items, marks=marks) == ["u2", "u3", "u4", "u5"]


@pytest.mark.parametrize(
    "marks",
    [
        (ToolsEnd(),),
        (ItemEnd(9),),
        (ItemEnd(3),),
        tuple(PartEnd(7, n) for n in range(5)),
    ],
)
def test_marks_that_are_required_and_cannot_be_set_are_refused(
    marks: tuple[CacheMark, ...],
) -> None:
    cache = CacheRequest(mode=CacheMode.REQUIRED, marks=marks)
    items = (*HISTORY, Item.assistant("b"), Item.user(*"abcde"))
    with pytest.raises(UnsupportedContent):
        body(*items, quirks=MARKABLE, cache=cache)
    best = CacheRequest(marks=marks)
    assert json.dumps(body(*items, quirks=MARKABLE, cache=best)).count("breakpoint") <= 4


def test_marks_that_are_required_and_can_be_set_are_set() -> None:
    cache = CacheRequest(mode=CacheMode.REQUIRED, marks=(ItemEnd(0),))
    first = input_items(*HISTORY, quirks=MARKABLE, cache=cache)[0]

    assert first == {
        "role": "system",
        "content": [{"type": "input_text", "text": "s", **POINT}],
    }


# Every vendor, every history.

ROWS = [row for row in default_registry if row.api == OPENAI_RESPONSES]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_vendor_can_be_sent_any_history(row: Any) -> None:
    check_projection(default_registry.projection(row), tools=(WEATHER,))


@pytest.mark.parametrize(
    ("vendor", "model", "fields"),
    [
        ("openai-responses", "gpt-5-mini", {"include", "reasoning", "prompt_cache_key", "store"}),
        (
            "openai-responses",
            "gpt-4.1",
            {"prompt_cache_key", "store", "temperature"},
        ),
        ("azure-responses", "o3", {"include", "reasoning", "prompt_cache_key", "store"}),
        ("xai-responses", "grok-4", {"include", "prompt_cache_key", "store", "temperature"}),
        ("openrouter-responses", "x/y", {"include", "reasoning", "store", "temperature"}),
        ("llamacpp-responses", "x", {"reasoning", "store", "temperature"}),
        ("compatible-responses", "x", {"reasoning", "store", "temperature"}),
    ],
)
def test_each_vendors_row_gives_the_body_that_the_vendor_takes(
    vendor: str, model: str, fields: set[str]
) -> None:
    row = default_registry.get(vendor).for_model(model)
    request = ModelRequest(
        model=model,
        items=(Item.developer("d"),),
        options=ModelOptions(
            thinking=ThinkingLevel.HIGH, temperature=0.5, cache=CacheRequest(key="k")
        ),
    )
    written = json.loads(default_registry.projection(row).encode(request).body)

    assert set(written) - {"model", "stream", "input"} == fields


PROFILES = {
    "openai": Quirks(),
    "marked": MARKABLE,
    "local": Quirks(
        developer_role=False,
        encrypted_reasoning=False,
        files=False,
        tool_images=False,
        reasoning_summary=None,
        reasoning_replay=ReasoningReplay.ANY,
    ),
}


@pytest.mark.timeout(
    240
)  # the first loads the vendor's library, which a busy machine takes long for
@pytest.mark.slow
@pytest.mark.parametrize("quirks", PROFILES.values(), ids=PROFILES)
@given(
    name=st.sampled_from(sorted(hard_transcripts())),
    level=st.none() | st.sampled_from(ThinkingLevel),
    streamed=st.booleans(),
    choice=st.sampled_from([None, *ToolChoiceMode, NamedTool("weather")]),
    shape=st.sampled_from([None, JsonFormat(), JsonSchemaFormat({"type": "object"})]),
    cache=st.sampled_from(
        [None, CacheRequest(key="k", retention=CacheRetention.SHORT, marks=(ItemEnd(1),))]
    ),
)
def test_every_request_is_one_by_openais_own_types(
    quirks: Quirks,
    name: str,
    level: ThinkingLevel | None,
    streamed: bool,
    choice: Any,
    shape: Any,
    cache: CacheRequest | None,
) -> None:
    request = ModelRequest(
        model="m",
        items=tuple(hard_transcripts()[name]),
        tools=(WEATHER,),
        streamed=streamed,
        options=ModelOptions(
            thinking=level, tool_choice=choice, response_format=shape, cache=cache
        ),
    )
    written = json.loads(OpenAIResponses(quirks=quirks).encode(request).body)

    check_types(written, streamed=streamed)


def check_types(written: dict[str, Any], *, streamed: bool) -> None:
    """Check a body against the vendor's own types, to its last entry."""
    accepted = accepted_by(TYPES, "ResponseCreateParams", written, streamed=streamed)
    # Lists are read lazily; reading them to the end checks what is in them.
    for item in [*accepted["input"], *accepted.get("tools", ())]:
        for value in item.values():
            if not isinstance(value, str | dict | bool | None):
                list(value)


@pytest.mark.parametrize("quirks", PROFILES.values(), ids=PROFILES)
@given(histories=st.lists(any_histories(), min_size=1, max_size=3), data=st.data())
@examples(10)
def test_an_encoder_gives_the_bytes_of_its_projection_whatever_it_wrote_before(
    quirks: Quirks, histories: list[list[Item]], data: st.DataObject
) -> None:
    projection = OpenAIResponses("here", quirks)
    encoder = projection.encoder()
    for items in histories:
        for end in sorted(data.draw(st.lists(st.integers(0, len(items)), max_size=4))):
            options = ModelOptions(
                cache=data.draw(st.sampled_from([None, CacheRequest(marks=(ItemEnd(0),))])),
                extra=data.draw(st.sampled_from([{}, {"openai_responses": {"store": True}}])),
            )
            request = ModelRequest(model="a-model", items=tuple(items[:end]), options=options)

            assert encoder.encode(request) == projection.encode(request)
