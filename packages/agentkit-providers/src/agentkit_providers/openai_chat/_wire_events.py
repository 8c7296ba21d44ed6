"""The JSON of responses in Chat Completions, with the vendors' names.

A stream consists of chunks whose choices have a `delta`. A whole response is one object whose
choices have a `message` of the same shape, which is read into the same attributes here. Fields that
are not used are not declared: skipping one costs a tenth of decoding it. Fields that only some
vendors send, or that are only passed on, are untyped, so that a value of another type does no harm.
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
    """A call, or a fragment of one; `_tool_slots` finds out of which.

    Attributes:
        extra_content: Google: holds the thought signature, needed when the call is sent back.
    """

    index: int | None = None
    id: str | int | None = None
    function: FunctionDelta | None = None
    custom: CustomDelta | None = None
    extra_content: Any = None


class Delta(Struct, gc=False):
    """What a chunk adds to a choice; a whole message has the same fields.

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
    """One choice of a stream.

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
    """One choice of a whole response."""

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
    service_tier: Any = None


class Head(Chunk, gc=False):
    """An event of a stream, until the response's id is known.

    Attributes:
        provider: OpenRouter: the provider behind it that answered.
    """

    id: Any = None
    model: Any = None
    system_fingerprint: Any = None
    provider: Any = None


class Whole(Struct, gc=False):
    """A whole response."""

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
"""An event of a stream, or a whole response."""

AnyChoice = Choice | WholeChoice
"""One choice, of a stream or of a whole response."""
