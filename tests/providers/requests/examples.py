"""Bodies that use much of each protocol, and some that cannot be expressed, with a reason."""

from __future__ import annotations

from typing import Any

HELLO = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
SCHEMA = {"type": "object", "properties": {"at": {"type": "string"}}, "required": ["at"]}
CHAT: dict[str, Any] = {
    "model": "m",
    "max_completion_tokens": 90,
    "temperature": 0.5,
    "stream": True,
    "stream_options": {"include_usage": True},
    "store": False,
    "tools": [{"type": "function", "function": {"name": "look", "parameters": SCHEMA}}],
    "tool_choice": "auto",
    "messages": [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [{"type": "text", "text": "what is there?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "look", "arguments": '{ "at": "sky" }'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "blue"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "and here?"},
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
            ],
        },
    ],
}
MESSAGES: dict[str, Any] = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "thinking": {"type": "enabled", "budget_tokens": 2048},
    "stream": True,
    "system": "be good",
    "tools": [
        {"type": "web_search_20250305", "name": "web_search"},
        {"name": "look", "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    ],
    "messages": [
        {"role": "user", "content": "what is there?"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s1"},
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
                {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "sky"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "blue", "is_error": False},
                {"type": "text", "text": "and?", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ],
}
GENERATE: dict[str, Any] = {
    "system_instruction": {"parts": [{"text": "be good"}]},
    "generationConfig": {"temperature": 0.5, "topK": 3, "stopSequences": None},
    "tools": [
        {"googleSearch": {}},
        {"functionDeclarations": [{"name": "look", "description": "", "parameters": SCHEMA}]},
    ],
    "contents": [
        {"role": "user", "parts": [{"text": "what is there?", "thought": False}]},
        {
            "role": "model",
            "parts": [
                {"text": "hm", "thought": True},
                {
                    "functionCall": {"name": "look", "args": {"at": "sky"}},
                    "thoughtSignature": "s1",
                },
            ],
        },
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "look", "response": {"result": "blue"}}}],
        },
    ],
}
RESPONSES: dict[str, Any] = {
    "model": "gpt-5-mini",
    "instructions": "be good",
    "store": False,
    "max_output_tokens": 90,
    "reasoning": {"effort": "low", "summary": "auto"},
    "include": ["web_search_call.action.sources", "reasoning.encrypted_content"],
    "tools": [
        {"type": "web_search"},
        {"type": "function", "name": "look", "parameters": SCHEMA, "strict": False},
    ],
    "input": [
        {"type": "message", "role": "user", "content": "what is there?"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xyz"},
        {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "c1",
            "name": "look",
            "arguments": '{"at":"sky"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "blue"},
        {"role": "assistant", "content": "It is blue."},
        {"role": "user", "content": [{"type": "input_text", "text": "and here?"}]},
    ],
}
BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": CHAT,
    "anthropic-messages": MESSAGES,
    "google-generate": GENERATE,
    "openai-responses": RESPONSES,
}
"""For each protocol one that can be made again."""


def _chat(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **fields}


def _messages(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": list(messages), **fields}


def _generate(*contents: Any, **fields: Any) -> dict[str, Any]:
    return {"contents": list(contents), **fields}


def _responses(*entries: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-5-mini", "input": list(entries), **fields}


HI = {"role": "user", "content": "hi"}
TWO_TEXTS = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
MARK = {"type": "ephemeral"}
HI_PARTS = {"role": "user", "parts": [{"text": "hi"}]}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("openai-chat", _chat(HI, functions=[{"name": "f"}]), "`functions`"),
    ("openai-chat", _chat({"role": "critic", "content": "hm"}), "the role 'critic'"),
    ("openai-chat", _chat({"role": "user", "content": " "}), "a text is blank"),
    (
        "openai-chat",
        _chat({"role": "tool", "content": "4", "tool_call_id": "c"}),
        "a result answers no earlier call",
    ),
    ("openai-chat", _chat({**HI, "mood": "low"}), "no field for: mood"),
    ("openai-chat", _chat({"role": "system", "content": TWO_TEXTS}, HI), "several texts"),
    ("openai-chat", _chat({**HI, "cache_control": MARK}), "cache marks beside"),
    ("openai-chat", {"model": "m", "prompt": "hi"}, "no `messages`"),
    ("anthropic-messages", {"model": "m", "messages": [HI]}, "no `max_tokens`"),
    ("anthropic-messages", _messages({"role": "assistant", "content": "hi"}), "not the user's"),
    (
        "anthropic-messages",
        _messages(
            HI,
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        ),
        "without its signature",
    ),
    (
        "anthropic-messages",
        _messages(
            HI,
            {
                "role": "assistant",
                "content": [{"type": "server_tool_use", "id": "s", "name": "search", "input": {}}],
            },
            HI,
        ),
        "a tool that the vendor ran",
    ),
    (
        "anthropic-messages",
        _messages(
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "one", "cache_control": MARK},
                    {"type": "text", "text": "two", "cache_control": {**MARK, "ttl": "1h"}},
                ],
            }
        ),
        "several lifetimes",
    ),
    ("google-generate", _generate({"role": "critic", "parts": [{"text": "hm"}]}), "'critic'"),
    ("google-generate", _generate(HI_PARTS, cachedContent="c", tools=[{}]), "beside a cache"),
    (
        "google-generate",
        _generate(
            HI_PARTS, {"role": "user", "parts": [{"functionResponse": {"name": "f"}}, {"text": ""}]}
        ),
        "a result stands after",
    ),
    (
        "openai-responses",
        _responses(HI, {"type": "reasoning", "id": "rs_1", "encrypted_content": "x"}, HI),
        "what was thought stands without",
    ),
    (
        "openai-responses",
        _responses(HI, {"type": "shell_call", "id": "s", "call_id": "c"}),
        "waits for an answer",
    ),
    (
        "openai-responses",
        _responses({"type": "function_call_output", "call_id": "c", "output": "x"}),
        "a result answers no earlier call",
    ),
]
"""Protocol, body, and words of the reason."""
