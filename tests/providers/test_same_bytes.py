"""R15 for every protocol: what is sent does not hang on the process that writes it.

Vendors cache prefixes of requests by their bytes. Python orders sets anew in every process.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

PROGRAM = """
import json, sys
from agentkit_core import *
from agentkit_core.cache import CacheRequest
from agentkit_providers.{module} import {projection}

schema = {{"type": "object", "properties": {{"b": {{}}, "a": {{}}}}, "required": ["b", "a"]}}
extra = {{"{module}": {{"q": 1, "p": 2, **json.loads(sys.argv[1])}}}}
request = ModelRequest(
    model="m",
    items=(
        Item.user("u"),
        Item.assistant(ToolCall(ToolCallId("1"), "x", {{"d": 1, "c": 2}})),
        Item.tool(ToolResult(ToolCallId("1"), StructuredOutput({{"z": 1, "y": 2}}))),
    ),
    tools=tuple(ToolSpec(name, input_schema=schema) for name in "zax"),
    options=ModelOptions(cache=CacheRequest(), extra=extra),
)
wire = {projection}().encode(request)
sys.stdout.buffer.write(wire.body + str(wire.headers).encode())
"""


@pytest.mark.parametrize(
    ("module", "projection", "extra"),
    [
        ("anthropic_messages", "AnthropicMessages", {"betas": ["b", "a"]}),
        ("google_generate", "GoogleGenerate", {}),
        ("openai_chat", "OpenAIChat", {}),
        ("openai_responses", "OpenAIResponses", {}),
    ],
)
def test_r15_the_bytes_are_the_same_in_every_process(
    module: str, projection: str, extra: dict[str, object]
) -> None:
    program = PROGRAM.format(module=module, projection=projection)
    first, second = (
        subprocess.run(
            [sys.executable, "-c", program, json.dumps(extra)],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )

    assert first == second
    assert b'"q":1,"p":2' in first
