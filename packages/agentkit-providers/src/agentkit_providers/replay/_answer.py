"""What a replay server answers: bodies, how they are cut and paced, and faults.

Knows HTTP and the text/event-stream format, but no protocol. The bodies of a protocol are built in
its own module (`agentkit_providers.replay.openai_chat`).
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
    after_bytes: int | None = None


class Cut(_Fault, frozen=True, tag="cut"):
    """The connection is closed, as by a server that is stopped.

    Attributes:
        after_events: After how many pieces of the body it happens; 0 is right after the head. With
            neither this nor `after_bytes`, it happens before anything is sent.
        after_bytes: After how many bytes of the body it happens.
    """


class Reset(_Fault, frozen=True, tag="reset"):
    """The connection is reset, as by a crash or a middlebox.

    Attributes:
        after_events: After how many pieces of the body it happens; 0 is right after the head. With
            neither this nor `after_bytes`, it happens before anything is sent.
        after_bytes: After how many bytes of the body it happens.
    """


class Stall(_Fault, frozen=True, tag="stall"):
    """Nothing more is sent, and the connection stays open until the client closes it.

    Attributes:
        after_events: After how many pieces of the body it happens; 0 is right after the head. With
            neither this nor `after_bytes`, it happens before anything is sent.
        after_bytes: After how many bytes of the body it happens.
    """


class Garbage(_Fault, frozen=True, tag="garbage"):
    """Bytes that are not HTTP are sent, and the connection is closed.

    Attributes:
        after_events: After how many pieces of the body it happens; 0 is right after the head. With
            neither this nor `after_bytes`, it happens before anything is sent.
        after_bytes: After how many bytes of the body it happens.
    """


Fault = Cut | Reset | Stall | Garbage
"""What goes wrong with an answer."""


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One HTTP answer. Make one with `events`, `json`, `from_body` or `error`.

    Attributes:
        pieces: The body, in the pieces in which it is sent, one HTTP chunk each.
        whole: The body for requests that do not ask for a stream; None sends `pieces` to them too.
        status: The HTTP status.
        headers: Further headers.
        content_type: The type of `pieces`; `whole` is always `application/json`.
        pace_s: How long to wait before each piece but the first, in seconds.
        fault: What goes wrong; None for nothing.
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
        """Make a stream of events.

        Args:
            data: The payloads; texts are sent as they are, other values as JSON.
        """
        texts = (value if isinstance(value, str) else json.dumps(value) for value in data)
        return cls(pieces=tuple(_event(text) for text in texts))

    @classmethod
    def json(cls, value: Any, *, status: int = 200) -> Answer:
        """Make an answer that is JSON, whether the request asks for a stream or not."""
        body = json.dumps(value).encode()
        return cls(pieces=(body,), status=status, content_type="application/json")

    @classmethod
    def from_body(cls, body: str | bytes) -> Answer:
        """Make an answer from a recorded body, JSON or a stream; events are sent one by one."""
        raw = body.encode() if isinstance(body, str) else body
        if raw.lstrip()[:1] in (b"{", b"["):
            return cls(pieces=(raw,), content_type="application/json")
        ends = [match.end() for match in _EVENT_END.finditer(raw)]
        return cls(pieces=_cut(raw, ends))

    @classmethod
    def error(
        cls, status: int, body: Any = None, *, retry_after: str | float | None = None
    ) -> Answer:
        """Make an error answer.

        Args:
            status: The HTTP status.
            body: A text, or a value that is sent as JSON; None for a common error object.
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

    def with_fault(self, fault: Fault) -> Answer:
        """Return the same answer with a fault."""
        return replace(self, fault=fault)

    def with_pace(self, pace_s: float) -> Answer:
        """Return the same answer with a wait before each piece but the first, in seconds."""
        return replace(self, pace_s=pace_s)

    def with_headers(self, **headers: str) -> Answer:
        """Return the same answer with further headers; underscores stand for hyphens."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})

    def cut_at(self, *offsets: int) -> Answer:
        """Return the same answer, sent in pieces that end at these byte offsets."""
        return replace(self, pieces=_cut(self.body, sorted(set(offsets))))

    @property
    def body(self) -> bytes:
        """The whole body, as it is streamed."""
        return b"".join(self.pieces)

    def form_for(self, *, streamed: bool) -> Answer:
        """Return what is sent: the form that the request asks for, cut off where the fault says."""
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
