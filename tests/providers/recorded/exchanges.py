"""The files of the corpus: what was asked, and the answer's bytes and JSON payloads."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentkit_core import ModelOptions, ModelRequest, ToolSpec

Exchange = dict[str, Any]
"""One file of the corpus; the README beside the recordings describes its keys."""


def exchanges(folder: Path) -> Iterator[Exchange]:
    """Read every exchange below a folder, in order of name; a single file is one too.

    What a file leaves out, or has as null, is what most files say.
    """
    for path in [folder] if folder.is_file() else sorted(folder.rglob("*.json")):
        try:
            content = json.loads(path.read_bytes())
        except ValueError:
            print(f"{path} is no JSON and was passed over", file=sys.stderr)
            continue
        if (
            isinstance(content, dict)
            and content.get("protocol")
            and content.get("expected") is not None
        ):
            present = {key: value for key, value in content.items() if value is not None}
            yield {
                "id": path.stem,
                "vendor": "unknown",
                "model": "unknown",
                "request": {},
                "status": 200,
                "streamed": "sse" in present,
                **present,
            }


def request_of(exchange: Exchange) -> ModelRequest:
    """What was asked, as far as it matters to a decoder."""
    sent = exchange["request"]
    names = dict.fromkeys(_tool_names(sent.get("tools")))
    chat = {name: sent[name] for name in ("n", "audio") if name in sent}
    return ModelRequest(
        model=exchange["model"],
        tools=tuple(ToolSpec(name) for name in names),
        options=ModelOptions(extra={"openai_chat": chat} if chat else {}),
        streamed=exchange["streamed"],
    )


def _tool_names(tools: Any) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        inner = tool.get("function") or tool.get("custom")
        name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
        if isinstance(name, str):
            yield name
        yield from _tool_names(
            tool.get("functionDeclarations") or tool.get("function_declarations")
        )


def body_of(exchange: Exchange) -> bytes:
    """The bytes of the answer."""
    if "sse" in exchange:
        return str(exchange["sse"]).encode()
    return json.dumps(exchange["response"], ensure_ascii=False).encode()


def payloads_of(exchange: Exchange) -> list[Any]:
    """The JSON payloads of the answer, in order: one for a whole answer.

    Comments, names of events, blank events and `[DONE]` are left out.
    """
    if "sse" not in exchange:
        response = exchange["response"]
        return response if isinstance(response, list) else [response]
    text = exchange["sse"].replace("\r\n", "\n").replace("\r", "\n")
    payloads = []
    for event in re.split(r"\n\n+", text):
        lines = [line[5:].removeprefix(" ") for line in event.split("\n") if line[:5] == "data:"]
        data = "\n".join(lines).strip()
        if data and data != "[DONE]" and isinstance(payload := json.loads(data), dict):
            payloads.append(payload)
    return payloads
