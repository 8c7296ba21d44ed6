"""The JSON of responses in generateContent, with the vendor's names.

A stream is a sequence of objects of the same shape as a whole response. Fields that are not used
are not declared: skipping one costs a tenth of decoding it. Nor are parts that are not text, calls
or media: they are read again and kept as they are. Fields that are only passed on are untyped, so
that a value of another type does no harm.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct


class PartialArg(Struct, rename="camel", gc=False):
    """One value among a call's arguments, or a piece of a text there.

    Attributes:
        json_path: Where it belongs: `$.operations[0].action`.
        will_continue: Whether more of this text follows.
    """

    json_path: str = ""
    string_value: Any = UNSET
    number_value: Any = UNSET
    bool_value: Any = UNSET
    null_value: Any = UNSET
    will_continue: bool | None = None


class FunctionCall(Struct, rename="camel", gc=False):
    """A call; or, where arguments are streamed, a piece of one.

    Attributes:
        will_continue: Whether more of this call follows; the end may also be a bare `{}`, or
            nothing.
    """

    name: str | None = None
    id: str | None = None
    args: Any = None
    partial_args: list[PartialArg] | None = None
    will_continue: bool | None = None


class Blob(Struct, rename="camel", gc=False):
    """Media as data.

    Attributes:
        data: Base64.
    """

    data: str = ""
    mime_type: str = ""


class FileData(Struct, rename="camel", gc=False):
    """Media by URL."""

    file_uri: str = ""
    mime_type: str = ""


class Part(Struct, rename="camel", gc=False):
    """One part of a response, or a piece of a text.

    Attributes:
        thought: Whether it is reasoning. A signature does not make it so.
    """

    text: str | None = None
    thought: bool | None = None
    thought_signature: str | None = None
    function_call: FunctionCall | None = None
    inline_data: Blob | None = None
    file_data: FileData | None = None


class Content(Struct, gc=False):
    """The content of a candidate; it may be missing."""

    parts: list[Part] | None = None


class Candidate(Struct, rename="camel", gc=False):
    """One candidate, or what a chunk adds to it.

    Attributes:
        index: Missing means 0.
    """

    content: Content | None = None
    index: int | None = None
    finish_reason: str | None = None
    finish_message: Any = None
    grounding_metadata: Any = None
    citation_metadata: Any = None
    url_context_metadata: Any = None
    safety_ratings: Any = None
    avg_logprobs: Any = None
    logprobs_result: Any = None


class Chunk(Struct, rename="camel", gc=False):
    """One response of a stream.

    Attributes:
        usage_metadata: Not decoded here: every chunk has it, and only the last one is used.
    """

    candidates: list[Candidate] | None = None
    usage_metadata: msgspec.Raw = msgspec.Raw()
    prompt_feedback: Any = None
    error: Any = None


class Head(Chunk, rename="camel", gc=False):
    """A chunk, until the response's id is known; or a whole response."""

    response_id: Any = None
    model_version: Any = None


CHUNK: Final = msgspec.json.Decoder(Chunk | None)
HEAD: Final = msgspec.json.Decoder(Head | None)
