"""Writes the JSON Schema of a line of a record, `record.schema.json`, from the types of the events.

    python docs/record_schema.py --write

Without `--write` it prints the schema.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec

from agentkit_loop.events import Event
from agentkit_reporting import JsonlLine

FILE = Path(__file__).with_name("record.schema.json")

TITLE = "A line of an agentkit record, format 1"
DESCRIPTION = (
    "What JsonlReporter of agentkit-reporting writes. Lines of later versions may have events with "
    "other types, and further fields, which readers ignore."
)
FIELD = re.compile(r"^    (\w+): (.*(?:\n        .*)*)", re.MULTILINE)


def schema() -> dict[str, Any]:
    """Make the schema.

    The line and the events are described as in their docstrings; items, usage and the other values
    in them are described on pages of their own.
    """
    made = msgspec.json.schema(JsonlLine)
    types = made["$defs"]
    described = {kind.__name__ for kind in (JsonlLine, *get_args(Event))}
    for title, about in types.items():
        text, _, fields = about.pop("description", "").partition("\n\nAttributes:\n")
        if title not in described:
            continue
        about["description"] = _in_one_line(text)
        for name, words in FIELD.findall(fields):
            if name in about["properties"]:
                about["properties"][name]["description"] = _in_one_line(words)
    types["JsonlLine"]["properties"]["v"]["const"] = 1
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": TITLE,
        "description": DESCRIPTION,
        **made,
    }


def written() -> str:
    """Return the schema as it is kept."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    if "--write" in sys.argv:
        FILE.write_text(written(), encoding="utf-8")
    else:
        sys.stdout.write(written())
