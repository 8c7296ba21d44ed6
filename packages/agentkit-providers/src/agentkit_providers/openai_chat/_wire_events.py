"""What comes over the wire of Chat Completions: the vendors' names, and nothing else.

A stream is chunks whose choices carry a `delta`; a whole answer is one object whose choices
carry a `message` of the same shape, so both read into the same attributes here. Fields that
nobody reads are not declared: skipping one costs a tenth of decoding it. What only some
vendors send, or what is passed on unread, is left untyped so that an odd value does no harm.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import Struct, field


class FunctionDelta(Struct, gc=False):
    """Name and arguments of a call, or pieces of them.

    Attributes:
        arguments: JSON as text; some send the object itself.
    """

    name: str | None = None
    arguments: Any = None


class CustomDelta(Struct, gc=False):
    """Name and input of a call of a custom tool, whose input is free text."""

    name: str | None = None
    input: str | None = None


class ToolCallDelta(Struct, gc=False):
    """A call, or a fragment of one; which one, `_tool_slots` finds out.

    Attributes:
        extra_content: Google: holds the thought signature, needed when the call is sent back.
    """

    index: int | None = None
    id: str | int | None = None
    function: FunctionDelta | None = None
    custom: CustomDelta | None = None
    extra_content: Any = None


class Delta(Struct, gc=False):
    """What a choice gained; a whole message has the same fields.

    Attributes:
        content: A list at Mistral: entries of type `text`, `thinking`, `reference`, …
        executed_tools: Groq: tools that ran there.
    """

    content: str | list[Any] | None = None
    tool_calls: list[ToolCallDelta] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_text: Any = None
    reasoning_details: Any = None
    refusal: str | None = None
    function_call: FunctionDelta | None = None
    annotations: Any = None
    audio: Any = None
    images: Any = None
    extra_content: Any = None
    executed_tools: Any = None


class Choice(Struct, gc=False):
    """One of the answers, growing.

    Attributes:
        usage: Some servers report usage here.
        error: OpenRouter: why it finished with the reason `error`.
    """

    index: int | None = 0
    delta: Delta | None = None
    finish_reason: str | None = None
    logprobs: Any = None
    usage: Any = None
    error: Any = None


class WholeChoice(Struct, gc=False):
    """One of the answers, whole."""

    index: int | None = 0
    delta: Delta | None = field(default=None, name="message")
    finish_reason: str | None = None
    logprobs: Any = None
    usage: Any = None
    error: Any = None


class Chunk(Struct, gc=False):
    """One event of a stream."""

    choices: list[Choice] | None = None
    usage: Any = None
    error: Any = None
    x_groq: Any = None
    citations: Any = None
    search_results: Any = None
    moderation: Any = None


class Head(Chunk, gc=False):
    """An event of a stream while it is not known yet what the answer is called.

    Attributes:
        provider: OpenRouter: who answered behind it.
    """

    id: Any = None
    model: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None


class Whole(Struct, gc=False):
    """A whole answer."""

    choices: list[WholeChoice] | None = None
    usage: Any = None
    error: Any = None
    x_groq: Any = None
    citations: Any = None
    search_results: Any = None
    moderation: Any = None
    id: Any = None
    model: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None


CHUNK: Final = msgspec.json.Decoder(Chunk | None)
HEAD: Final = msgspec.json.Decoder(Head | None)
WHOLE: Final = msgspec.json.Decoder(Whole | None)

Event = Chunk | Head | Whole
"""Anything that an answer consists of."""

AnyChoice = Choice | WholeChoice
"""One of the answers, growing or whole."""
