"""For every vendor row, model card and generated request, the body meets the vendors' rules."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentkit_core import (
    File,
    InlineBytes,
    Item,
    ItemKind,
    JsonFormat,
    JsonSchemaFormat,
    JsonValue,
    Media,
    Modality,
    ModelOptions,
    ModelRequest,
    NamedTool,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    Text,
    TextOutput,
    ThinkingLevel,
    ToolCall,
    ToolCallId,
    ToolChoiceMode,
    ToolOutput,
    ToolResult,
    ToolSpec,
    UnsupportedContent,
)
from agentkit_core.cache import CacheRequest, CacheRetention
from agentkit_providers import connect
from agentkit_providers._protocol_kit._projection_base import VendorProjection
from agentkit_providers.catalogue import default_catalogue
from agentkit_providers.endpoints import default_registry
from providers.vendor_rules import CHECKS, broken_rules
from support.examples import examples

pytestmark = pytest.mark.slow

FURTHER = ("claude-3-7-sonnet", "claude-sonnet-4", "claude-opus-4-6", "gpt-5.6-luna", "gpt-4.1",
           "o3", "gemini-2.0-flash", "gemini-3-pro", "m")  # fmt: skip
"""Models without a card, which any vendor may be asked for."""


def models() -> list[str]:
    """Every vendor with each of its models."""
    named: list[str] = []
    for row in default_registry:
        cards = default_catalogue().models(row.catalogue or row.name)
        prefix = "anthropic/" if row.name.startswith("openrouter") else ""
        ids = [card.id for card in cards] + [prefix + name for name in FURTHER]
        named += [f"{row.name}:{model}" for model in ids]
    return named


STRING: dict[str, JsonValue] = {"type": "string"}
SCHEMAS: list[dict[str, JsonValue]] = [
    {
        "type": "object",
        "properties": {"a": STRING},
        "required": ["a"],
        "additionalProperties": False,
    },
    {"type": "object", "properties": {"a": STRING, "b": {"type": "object"}}},
    {"oneOf": [{"properties": {"a": STRING}}, {"type": "object", "properties": {"b": STRING}}]},
    {"type": "object", "properties": {"$filter": STRING, "b c": {"type": "array"}}},
    {"type": "string"},
    {},
    {"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "anyOf": [{}]},
]
tools = st.lists(
    st.builds(
        ToolSpec,
        st.sampled_from(["a", "b", "b.c", "b:c", "3d", "d" * 65]),
        st.just("Does something."),
        st.sampled_from(SCHEMAS),
        strict=st.sampled_from([None, True]),
        metadata=st.sampled_from(
            [{}, {"anthropic_messages.tool": {"defer_loading": True, "cache_control": {}}}]
        ),
    ),
    max_size=3,
    unique_by=lambda tool: tool.name,
)
choices = st.sampled_from([None, *ToolChoiceMode, NamedTool("a")])
formats = st.sampled_from(
    [None, JsonFormat(), *(JsonSchemaFormat(schema) for schema in SCHEMAS[:3]),
     JsonSchemaFormat(SCHEMAS[1], strict=True)]
)  # fmt: skip
options = st.builds(
    ModelOptions,
    thinking=st.sampled_from([None, *ThinkingLevel]),
    max_output_tokens=st.sampled_from([None, 1, 2000, 10**7]),
    temperature=st.sampled_from([None, 0.0, 1.2, 5.0]),
    top_p=st.sampled_from([None, 0.5, 0.99]),
    seed=st.sampled_from([None, 7]),
    stop_sequences=st.sampled_from([(), ("A",), ("A", " ", "B", "C", "D", "E")]),
    tool_choice=choices,
    parallel_tool_calls=st.sampled_from([None, True, False]),
    response_format=formats,
    cache=st.sampled_from([None, CacheRequest(), CacheRequest(retention=CacheRetention.EXTENDED)]),
)
PICTURES: list[Part] = [
    Media(Modality.IMAGE, "image/png", InlineBytes(b"\xff\xd8\xff" + bytes(9))),
    Media(Modality.IMAGE, "", InlineBytes(b"GIF89a")),
    Media(Modality.IMAGE, "image/png", InlineBytes(b"no image")),
    File(InlineBytes(b"# Plan"), "text/markdown", "plan.md"),
    File(InlineBytes(b"%PDF-1.7"), None, "a.pdf"),
    File(InlineBytes(b"PK\x03\x04"), "application/zip", "a.zip"),
]
OUTPUTS: list[ToolOutput] = [TextOutput("r"), PartsOutput((Text("see"), PICTURES[0]))]
SIGNED = Reasoning(
    "hm",
    metadata={
        "anthropic_messages.signature": "S",
        "openai_chat.reasoning_details": [{"text": "x"}],
    },
)


def with_user(history: list[Item]) -> list[Item]:
    """A history in which the user says something, as in every real one."""
    if any(item.kind is ItemKind.USER for item in history):
        return history
    return [*history, Item.user("Begin.")]


@st.composite
def rounds(draw: st.DrawFn) -> list[Item]:
    """The model calls some tools, and gets their results."""
    count = draw(st.integers(1, 3))
    ids = [ToolCallId(f"c{draw(st.integers(0, 10**6))}") for _ in range(count)]
    thoughts: tuple[Part, ...] = draw(st.sampled_from([(), (SIGNED,), (Text("I see."),)]))
    output = draw(st.sampled_from(OUTPUTS))
    return [
        Item.assistant(*thoughts, *(ToolCall(call, "a", {"x": 1}) for call in ids)),
        Item.tool(*(ToolResult(call, output) for call in ids)),
    ]


items = st.lists(
    st.one_of(
        st.sampled_from(
            [
                [Item.system("s")],
                [Item.developer("d")],
                [Item.notification("n")],
                [Item.user("u")],
                [Item.assistant("Well: ")],
                [Item.assistant(SIGNED, Text("a"))],
                *([Item.user("look", picture)] for picture in PICTURES),
            ]
        ),
        rounds(),
    ),
    max_size=6,
).map(lambda groups: with_user([item for group in groups for item in group]))


@lru_cache(maxsize=1)
def projections() -> list[tuple[str, str, VendorProjection[Any]]]:
    """Every vendor with each of its models, and how it is written to."""
    asked: list[tuple[str, str, VendorProjection[Any]]] = []
    for name in models():
        vendor, _, model = name.partition(":")
        projection = connect(name, base_url="http://127.0.0.1:1").projection
        assert isinstance(projection, VendorProjection)
        asked.append((vendor, model, projection))
    return asked


def with_origin(history: list[Item], origin: Provenance | None) -> list[Item]:
    """A history in which the assistant is the model itself, or another one."""
    if origin is None:
        return history
    return [
        replace(item, provenance=origin) if item.kind is ItemKind.ASSISTANT else item
        for item in history
    ]


@settings(examples(8), suppress_health_check=list(HealthCheck))
@given(history=items, offered=tools, asked=options, own=st.booleans())
def test_a_body_meets_the_rules_of_its_vendor(
    history: list[Item], offered: list[ToolSpec], asked: ModelOptions, own: bool
) -> None:
    for vendor, model, projection in projections():
        origin = Provenance(vendor, projection.api, model) if own else None
        request = ModelRequest(
            model=model, items=with_origin(history, origin), tools=tuple(offered), options=asked
        )
        try:
            wire = projection.encode(request)
        except UnsupportedContent:
            continue
        broken = broken_rules(projection.api, vendor, model, json.loads(wire.body))
        assert not broken, f"{vendor}:{model}"


SPOILED: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "anthropic_messages": [
        ("anthropic", "claude-sonnet-4-5", {"tools": []}),
        ("anthropic", "claude-opus-4-6", {"messages": [
            {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]}),
        ("anthropic", "claude-opus-4-8", {"temperature": 0.5}),
        ("anthropic", "m", {"temperature": 1.5}),
        ("anthropic", "m", {"tools": [{"name": "a", "input_schema": {"oneOf": []}}]}),
        ("anthropic", "m", {"tools": [{"name": "a", "input_schema": {
            "type": "object", "properties": {"$x": {}}}}]}),
        ("anthropic", "m", {"tools": [{"name": "a.b"}]}),
        ("anthropic", "m", {"tools": [{"name": "a"}, {"name": "a"}]}),
        ("anthropic", "m", {"tools": [{"name": "a"}], "tool_choice": {"name": "b"}}),
        ("anthropic", "m", {"tools": [{"defer_loading": True, "cache_control": {}}]}),
        ("anthropic", "m", {"thinking": {"type": "enabled", "budget_tokens": 5}, "max_tokens": 9}),
        ("anthropic", "m", {"output_config": {"format": {"schema": {"type": "object"}}}}),
        ("anthropic", "m", {"system": [{"media_type": "image/png", "data": "/9j/"}]}),
    ],
    "openai_chat": [
        ("openai", "gpt-5.4", {"tools": [], "reasoning_effort": "low"}),
        ("openai", "gpt-5.6", {"tools": []}),
        ("openai", "gpt-5", {"stop": ["x"]}),
        ("deepseek", "deepseek-v4-pro", {"tool_choice": "required"}),
        ("moonshot", "kimi-k2.6", {"messages": [{"role": "assistant"}]}),
        ("mistral", "m", {"temperature": 1.6}),
        ("groq", "m", {"tools": [], "response_format": {}}),
        ("openai", "m", {"messages": [{"role": "user", "content": [
            {"type": "file", "file": {"file_data": "data:text/plain;base64,eA=="}}]}]}),
        ("perplexity", "m", {"messages": [{"role": "user"}, {"role": "system"}]}),
    ],
    "openai_responses": [
        ("openai-responses", "o3", {"parallel_tool_calls": True}),
        ("openai-responses", "gpt-5", {"temperature": 1}),
        ("openai-responses", "m", {"tools": [{"parameters": {"type": "object"}, "strict": True}]}),
    ],
    "google_generate": [
        ("google", "gemini-2.5-pro", {"tools": [], "generationConfig": {"responseMimeType": "x"}}),
        ("google", "m", {"contents": [{"role": "user"}, {"role": "model"}]}),
        ("google", "m", {"tools": [{"functionDeclarations": [{"name": "3d"}]}]}),
    ],
}  # fmt: skip
PLAIN: dict[str, dict[str, Any]] = {
    "anthropic_messages": {
        "messages": [{"role": "user", "content": [{"type": "text", "text": "u"}]}]
    },
    "openai_chat": {"messages": [{"role": "user", "content": "u"}]},
    "openai_responses": {"input": []},
    "google_generate": {"contents": [{"role": "user"}]},
}


@pytest.mark.parametrize("api", CHECKS)
def test_the_checker_notices_what_vendors_refuse(api: str) -> None:
    for vendor, model, spoiled in SPOILED[api]:
        assert not broken_rules(api, vendor, "any", PLAIN[api])
        assert broken_rules(api, vendor, model, {**PLAIN[api], **spoiled}), spoiled
