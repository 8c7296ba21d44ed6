"""A scripted stand-in for a model: it answers by fixed rules, over real HTTP.

It lists the folder, calculates the arithmetic that it finds in the prompt, reads the files that the
prompt names (a README if it names none), and then summarizes the results of the tools.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from agentkit_providers.replay import Answer, Request, openai_chat

_ARITHMETIC: Final = re.compile(r"\(*-?\d[\d.]*(?:\s*[-+*/%()]+\s*\(*\s*\d[\d.]*\)*)+")
_MOST_FILES: Final = 3
_PACE_S: Final = 0.02

Call = tuple[str, dict[str, Any]]
"""The name and the arguments of a tool call."""


def answer(request: Request) -> Answer:
    """Answer a Chat Completions request: tool calls first, then a text about their results."""
    messages = request.json["messages"]
    last_user = max(n for n, message in enumerate(messages) if message["role"] == "user")
    prompt, since = _text_of(messages[last_user]), messages[last_user + 1 :]
    results = _results(since)
    size = len(request.body) // 4
    if not results:
        calls: list[Call] = [("list_files", {})]
        calls += [("calculate", {"expression": text}) for text in _ARITHMETIC.findall(prompt)]
        text = "Let me look at the folder."
    else:
        calls = _files_to_read(prompt, results)
        text = f"I will read {' and '.join(call[1]['path'] for call in calls)}." if calls else ""
    if calls:
        ids = [f"call_{len(results) + n + 1}" for n in range(len(calls))]
        response = openai_chat.tool_calls(
            calls, said=text, ids=ids, usage=(size, 12 * len(calls)), model="stand-in"
        )
    else:
        text = _summary(results)
        response = openai_chat.text(text, usage=(size, len(text) // 4), model="stand-in")
    return response.with_pace(_PACE_S)


def _results(messages: list[dict[str, Any]]) -> list[tuple[str, dict[str, Any], str]]:
    """Return name, arguments and result of each call since the last prompt."""
    functions = {
        call["id"]: call["function"]
        for message in messages
        for call in message.get("tool_calls") or ()
    }
    return [
        (
            functions[message["tool_call_id"]]["name"],
            json.loads(functions[message["tool_call_id"]]["arguments"]),
            _text_of(message),
        )
        for message in messages
        if message["role"] == "tool"
    ]


def _files_to_read(prompt: str, results: list[tuple[str, dict[str, Any], str]]) -> list[Call]:
    if any(name == "read_file" for name, _, _ in results):
        return []
    listed = next(text for name, _, text in results if name == "list_files").splitlines()
    files = [name for name in listed if not name.endswith("/")]
    named = [name for name in files if name.lower() in prompt.lower()]
    chosen = named or [name for name in files if name.lower().startswith("readme")]
    return [("read_file", {"path": name}) for name in chosen[:_MOST_FILES]]


def _summary(results: list[tuple[str, dict[str, Any], str]]) -> str:
    lines = []
    for name, arguments, text in results:
        match name:
            case "list_files":
                names = text.splitlines()
                shown = ", ".join(names[:6]) + (", …" if len(names) > 6 else "")
                lines.append(f"The folder has {len(names)} entries: {shown}")
            case "read_file":
                words = len(text.split())
                first = next((line for line in text.splitlines() if line.strip()), "(nothing)")
                lines.append(f"{arguments['path']} has {words} words and begins: {first}")
            case _:
                lines.append(f"{arguments['expression']} = {text}")
    return "\n".join(lines)


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)
