"""What a replay server answers: bodies, how they are cut and paced, and what goes wrong.

Knows HTTP and the text/event-stream format, and nothing of any protocol; each protocol's
bodies are built one module further (`agentkit_providers.replay.openai_chat`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

_EVENT_END: Final = re.compile(rb"(?:\r\n|\r(?!\n)|\n){2}")


class _Fault(Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="kind"):
    after_events: int | None = None
    """It happens after this many pieces of the body, the head included; 0 is right after the
    head. With neither this nor `after_bytes` it happens before anything is sent."""
    after_bytes: int | None = None
    """It happens after this many bytes of the body."""


class Cut(_Fault, frozen=True, tag="cut"):
    """The connection is closed, as a server closes it that is stopped."""


class Reset(_Fault, frozen=True, tag="reset"):
    """The connection is reset, as by a crash or a middlebox."""


class Stall(_Fault, frozen=True, tag="stall"):
    """Nothing more comes, and the connection stays open until the client leaves."""


class Garbage(_Fault, frozen=True, tag="garbage"):
    """Bytes come that are no HTTP, and the connection is closed."""


Fault = Cut | Reset | Stall | Garbage
"""What goes wrong with an answer."""


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One HTTP answer. Make one with `events`, `json`, `recorded` or `error`.

    Attributes:
        pieces: The body, in the pieces in which it is sent, one HTTP chunk each.
        whole: The body for requests that do not ask for a stream, where the answer has both forms.
        pace_s: How long to wait before each piece but the first, in seconds.
    """

    pieces: tuple[bytes, ...] = ()
    whole: bytes | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "text/event-stream"
    pace_s: float = 0.0
    fault: Fault | None = None

    @classmethod
    def events(cls, *data: Any) -> Answer:
        """Make a stream of events; texts are sent as they are, other values as JSON."""
        texts = (one if isinstance(one, str) else json.dumps(one) for one in data)
        return cls(pieces=tuple(_event(text) for text in texts))

    @classmethod
    def json(cls, value: Any, *, status: int = 200) -> Answer:
        """Make a whole JSON answer."""
        body = json.dumps(value).encode()
        return cls(pieces=(body,), status=status, content_type="application/json")

    @classmethod
    def recorded(cls, body: str | bytes) -> Answer:
        """Make an answer from a body as it was recorded; events are sent one by one."""
        raw = body.encode() if isinstance(body, str) else body
        if raw.lstrip()[:1] in (b"{", b"["):
            return cls(pieces=(raw,), content_type="application/json")
        ends = [found.end() for found in _EVENT_END.finditer(raw)]
        return cls(pieces=_cut(raw, ends))

    @classmethod
    def error(
        cls, status: int, body: Any = None, *, retry_after: str | float | None = None
    ) -> Answer:
        """Make an error answer.

        Args:
            status: The HTTP status.
            body: A text, or a value to be sent as JSON; None makes a usual error object.
            retry_after: The `retry-after` header: seconds, or an HTTP date.
        """
        if body is None:
            body = {"error": {"message": f"replayed error {status}", "type": "replayed_error"}}
        text = isinstance(body, str)
        answer = (
            cls(pieces=(body.encode(),), status=status) if text else cls.json(body, status=status)
        )
        headers = {} if retry_after is None else {"retry-after": f"{retry_after}"}
        kind = "text/plain" if text else "application/json"
        return replace(answer, headers=headers, content_type=kind)

    def failing(self, fault: Fault) -> Answer:
        """The same answer, but something goes wrong with it."""
        return replace(self, fault=fault)

    def paced(self, pace_s: float) -> Answer:
        """The same answer, with a wait before each piece but the first, in seconds."""
        return replace(self, pace_s=pace_s)

    def with_headers(self, **headers: str) -> Answer:
        """The same answer with more headers; underscores stand for hyphens."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})

    def cut_at(self, *offsets: int) -> Answer:
        """The same body, sent in pieces that end at these byte offsets."""
        return replace(self, pieces=_cut(self.body, sorted(set(offsets))))

    @property
    def body(self) -> bytes:
        """The whole body, as it is streamed."""
        return b"".join(self.pieces)

    def sent(self, *, streamed: bool) -> Answer:
        """The answer in the form that a request asks for, cut off where its fault says."""
        answer = self
        if self.whole is not None and not streamed:
            answer = replace(self, pieces=(self.whole,), content_type="application/json")
        fault = self.fault
        if fault is None or (fault.after_events is None and fault.after_bytes is None):
            return answer
        pieces = answer.pieces[: fault.after_events]
        if fault.after_bytes is not None:
            pieces = _cut(b"".join(pieces)[: fault.after_bytes], _ends(pieces))
        return replace(answer, pieces=pieces)


def _event(data: str) -> bytes:
    return "".join(f"data: {line}\n" for line in data.split("\n")).encode() + b"\n"


def _ends(pieces: Iterable[bytes]) -> list[int]:
    ends, at = [], 0
    for piece in pieces:
        at += len(piece)
        ends.append(at)
    return ends


def _cut(body: bytes, ends: Iterable[int]) -> tuple[bytes, ...]:
    edges = [0, *(end for end in ends if 0 < end < len(body)), len(body)]
    return tuple(body[start:end] for start, end in pairwise(edges) if start < end)
