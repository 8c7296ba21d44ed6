"""The page of the rules, written from the tables of the protocols and the rows of the vendors.

Run this file to write `docs/fitting.md` anew: `python tests/providers/fitting/page.py --write`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from agentkit_providers._protocol_kit._fitting import Rule
from agentkit_providers.endpoints import default_registry

PAGE: Final = Path(__file__).parents[3] / "docs" / "fitting.md"
PROTOCOLS: Final = {
    "anthropic_messages": "Messages",
    "google_generate": "generateContent",
    "openai_chat": "Chat Completions",
    "openai_responses": "Responses",
}
BENDING: Final = frozenset(
    {
        "continuation", "effort_with_tools", "file_urls", "forced_calls", "image_types",
        "json_schema", "json_with_tools", "late_system", "max_output_tokens", "max_stop_sequences",
        "max_temperature", "parallel_tools", "prefill",
        "requires_reasoning_content_on_assistant", "sampling", "supports_seed",
        "supports_strict_mode", "thinking_format", "thinks",
        "tools_with_history", "typed_schemas", "unsigned_thinking",
    }
)  # fmt: skip
"""Quirks by which a request is changed, and not only written with other names."""
INTRODUCTION: Final = """\
# How a request is fitted to its model

<!-- `python tests/providers/fitting/page.py --write` writes this page from the tables of rules -->

Models refuse requests that ask for what they do not have. Before a request is written, each
protocol applies a table of rules to it. What a rule changes is noted in the metadata of the
answer's item, and `request_changes` of `agentkit_core.provider` reads the notes. What cannot be had
is an `UnsupportedContent` error before anything is sent.

```python
from agentkit_core import Item, ModelOptions, ModelRequest
from agentkit_core.provider import request_changes
from agentkit_providers import connect
from agentkit_providers.replay import ReplayServer, openai_chat

with ReplayServer([openai_chat.text("Hello!")]) as server:
    model = connect("openai:gpt-5-mini", base_url=server.url, api_key="a-key")
    response = model.complete_blocking(
        ModelRequest(
            model=model.name,
            items=[Item.user("Hi")],
            options=ModelOptions(temperature=0.5, stop_sequences=("END",)),
        )
    )

assert "temperature" not in server.requests[0].json
assert [change.what for change in request_changes(response.item.metadata)] == [
    "temperature",
    "stop_sequences",
]
```

These hold in all protocols:

- A tool or an argument whose name the vendor refuses is sent under another name, in the tools, the
  history and a forced call. The calls of the answer have the names of the request
  (`macro-inc/macro#5921`, `decocms/studio#6874`, `google-gemini/gemini-cli#7869`).
- An image is sent with the type of its bytes. What is no image, or is of a type that the model does
  not read, is left out, and a text in its place tells the model.
- Where a model does not go on from the assistant's words at the end of a history, a user message
  follows them.
- Where a host takes system messages in front only, later ones become reminders in user messages.
- Where an answer in JSON cannot be asked for by a format, it is asked for by an instruction.
"""


def page() -> str:
    """The whole page."""
    return "\n".join((INTRODUCTION, *_lines()))


def _lines() -> Iterator[str]:
    for protocol, title in PROTOCOLS.items():
        rules: tuple[Rule, ...] = import_module(f"agentkit_providers.{protocol}._fitting").RULES
        yield f"## {title}\n"
        yield "The rules are applied in this order.\n"
        yield "| about | when | what is sent | public source |"
        yield "| --- | --- | --- | --- |"
        for rule in rules:
            yield f"| {rule.name} | {rule.condition} | {rule.effect} | {_source(rule.source)} |"
        yield ""
        if rows := list(_rows(protocol)):
            yield "What the rows of vendors say about models; of two that fit, the later counts:\n"
            yield "| vendor | models | facts |"
            yield "| --- | --- | --- |"
            yield from rows
            yield ""


def _rows(protocol: str) -> Iterator[str]:
    for row in default_registry:
        if row.api != protocol:
            continue
        for models, quirks in {"all": row.quirks, **row.models}.items():
            if facts := _facts(quirks):
                which = models if models == "all" else f"`{models}`"
                yield f"| `{row.name}` | {which} | {facts} |"


def _source(source: str) -> str:
    return ", ".join(
        entry if entry.startswith("https:") else f"`{entry}`" for entry in source.split(", ")
    )


def _facts(quirks: dict[str, Any]) -> str:
    known = {name: value for name, value in sorted(quirks.items()) if name in BENDING}
    return ", ".join(
        f"`{name}: {msgspec.json.encode(value).decode()}`".replace("|", "\\|")
        for name, value in known.items()
    )


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page(), encoding="utf-8")
