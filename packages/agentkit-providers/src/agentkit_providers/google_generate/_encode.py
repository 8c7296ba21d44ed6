"""From a request to the bytes of a generateContent request.

`SendableHistory` has made the history fit; here its items are written one by one, each as the
parts of a content, and kept for the conversation's next request. Neighbours of one role are
joined when all are written, but for a content of function responses, which holds nothing else.
Options come first and contents last, in fixed order: a longer conversation begins with the
bytes of the shorter one, and providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final
from urllib.parse import quote

import msgspec
from msgspec import Struct

from agentkit_core import ItemKind, ModelRequest, to_json
from agentkit_core.provider import SendableHistory, Target, WireRequest
from agentkit_providers.google_generate._encode_items import PartWriter
from agentkit_providers.google_generate._encode_options import body_options
from agentkit_providers.google_generate._quirks import Quirks

_ROLES: Final = {
    ItemKind.USER: "user",
    ItemKind.ASSISTANT: "model",
    ItemKind.TOOL: "user",
}


class _Written(Struct, frozen=True):
    """What one item has become.

    Attributes:
        parts: JSON, joined by commas; empty where nothing of the item can be sent.
    """

    kind: ItemKind
    parts: bytes


class GoogleGenerateEncoder:
    """Writes the requests of one conversation; what was written of its history is kept.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the endpoint wants it.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history: SendableHistory | None = None
        self._written: list[_Written] = []  # of each sendable item

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request must have something that the vendor cannot do.
        """
        self._write(request)
        system = [
            msgspec.Raw(one.parts)
            for one in self._written
            if one.kind is ItemKind.SYSTEM and one.parts
        ]
        body, metadata = body_options(request, self._quirks, system)
        written = to_json(body)
        if "contents" not in body:
            start = written[:-1] + b"," * bool(body)
            written = b"".join((start, b'"contents":[', b",".join(_contents(self._written)), b"]}"))
        return WireRequest(
            path=_path(request.model, streamed=request.streamed),
            body=written,
            headers={"content-type": "application/json"},
            metadata=metadata,
        )

    def _write(self, request: ModelRequest) -> None:
        """Write the items that are new since the request before."""
        target = self._target_of(request.model)
        if self._history is None or self._history.target != target:
            self._history = SendableHistory(target)
            self._written.clear()
        same = self._history.update(request.items)
        items, written = self._history.items, self._written
        del written[same:]
        writer = PartWriter(target, self._quirks)
        before = items[len(written) - 1] if written else None
        for item in islice(items, len(written), None):
            written.append(_Written(item.kind, to_json(writer.parts(item, before))[1:-1]))
            before = item


def _contents(written: Iterable[_Written]) -> Iterator[bytes]:
    """Join what items have become into contents of alternating roles."""
    kind: ItemKind | None = None
    group: list[bytes] = []
    for one in written:
        if one.kind is ItemKind.SYSTEM or not one.parts:
            continue
        if group and one.kind is not kind:
            yield _content(kind, group)
            group = []
        kind = one.kind
        group.append(one.parts)
    if group:
        yield _content(kind, group)


def _content(kind: ItemKind | None, parts: Sequence[bytes]) -> bytes:
    role = _ROLES[kind] if kind is not None else "user"
    return b"".join((b'{"role":"', role.encode(), b'","parts":[', b",".join(parts), b"]}"))


def _path(model: str, *, streamed: bool) -> str:
    """Where a model is asked; a name with a slash says itself of what kind it is."""
    name = quote(model, safe="/@:~.-_")
    place = f"/{name.lstrip('/')}" if "/" in name else f"/models/{name}"
    return f"{place}:streamGenerateContent?alt=sse" if streamed else f"{place}:generateContent"
