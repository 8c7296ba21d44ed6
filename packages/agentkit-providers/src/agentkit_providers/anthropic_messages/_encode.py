"""From a request to the bytes of a Messages request.

`SendableHistory` has made the history fit; here its items are written one by one and kept for
the conversation's next request. Instructions go to the top, neighbours of one role into one
message. Options come first and messages last, in fixed order: a longer conversation begins
with the bytes of the shorter one, and providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import quote

from agentkit_core import Item, ItemKind, JsonValue, ModelRequest, to_json
from agentkit_core.provider import SendableHistory, Target, WireRequest
from agentkit_providers.anthropic_messages._betas import betas_of
from agentkit_providers.anthropic_messages._cache_marks import Marks, marks_of
from agentkit_providers.anthropic_messages._encode_items import (
    Place,
    Written,
    with_field,
    written_item,
)
from agentkit_providers.anthropic_messages._encode_options import options_of
from agentkit_providers.anthropic_messages._metadata_keys import CONTAINER_KEY
from agentkit_providers.anthropic_messages._quirks import Quirks

_OPENED: Final = {
    Place.USER: b'{"role":"user","content":[',
    Place.ASSISTANT: b'{"role":"assistant","content":[',
}


class AnthropicMessagesEncoder:
    """Writes the requests of one conversation; what was written of its history is kept.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor wants it.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history: SendableHistory | None = None
        self._written: list[Written] = []  # of each sendable item

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request must have something that the vendor cannot do.
        """
        quirks = self._quirks
        target = self._target_of(request.model)
        items = self._sendable(request, target)
        written = self._write(items)
        options = options_of(request, quirks)
        tools, extra = options.tools, options.extra
        marks = marks_of(request, quirks, target, written, has_tools=bool(tools))
        if marks.tools:
            tools = [*tools[:-1], with_field(tools[-1], marks.field)]
        betas = betas_of(options, quirks, uploads=any(one.uploads for one in written))
        extra.pop("betas", None)
        body = {**options.body, **_going_on(items), **extra}
        pieces = [to_json(body)[:-1]]
        if tools:
            pieces += (b',"tools":[', b",".join(tools), b"]")
        if "system" not in extra and (system := _system(written, marks)):
            pieces += (b',"system":[', system, b"]")
        if "messages" not in extra:
            pieces += (b',"messages":[', *_messages(written, marks), b"]")
        return WireRequest(
            path=_path(request, quirks),
            body=b"".join((*pieces, b"}")),
            headers=_headers(betas, quirks),
            metadata=options.metadata,
        )

    def _sendable(self, request: ModelRequest, target: Target) -> Sequence[Item]:
        """The request's items as they can be sent; what was written of others is dropped."""
        if self._history is None or self._history.target != target:
            self._history = SendableHistory(target)
            self._written.clear()
        same = self._history.update(request.items)
        del self._written[same:]
        return self._history.items

    def _write(self, items: Sequence[Item]) -> list[Written]:
        written = self._written
        while written and written[-1].waits:
            written.pop()  # what it comes to depends on what follows
        for at in range(len(written), len(items)):
            following = items[at + 1] if at + 1 < len(items) else None
            written.append(written_item(items[at], following, self._is_known))
        return written

    def _is_known(self, use_id: str) -> bool:
        return any(use_id in one.uses for one in self._written)


def _going_on(items: Sequence[Item]) -> dict[str, JsonValue]:
    """What goes on in the vendor's container: a turn that waits for results or was paused."""
    last = items[-1] if items else None
    if last is not None and last.kind is ItemKind.TOOL and len(items) > 1:
        last = items[-2]
    if last is None or last.kind is not ItemKind.ASSISTANT:
        return {}
    container = last.metadata.get(CONTAINER_KEY)
    container_id = container.get("id") if isinstance(container, dict) else None
    return {"container": container_id} if isinstance(container_id, str) else {}


def _system(written: Sequence[Written], marks: Marks) -> bytes:
    return b",".join(
        marks.marked(at, one)
        for at, one in enumerate(written)
        if one.place is Place.SYSTEM and one.blocks
    )


def _messages(written: Sequence[Written], marks: Marks) -> list[bytes]:
    pieces: list[bytes] = []
    role: Place | None = None
    for at, one in enumerate(written):
        if one.place is Place.SYSTEM or not one.blocks:
            continue
        if one.place is role:
            pieces.append(b",")
        else:
            pieces.append(b"" if role is None else b"]},")
            pieces.append(_OPENED[one.place])
            role = one.place
        pieces.append(marks.marked(at, one))
    if role is not None:
        pieces.append(b"]}")
    return pieces


def _path(request: ModelRequest, quirks: Quirks) -> str:
    path = quirks.streamed_path if request.streamed and quirks.streamed_path else quirks.path
    return path.replace("{model}", quote(request.model, safe="@:."))


def _headers(betas: Sequence[str], quirks: Quirks) -> dict[str, Any]:
    headers = {"content-type": "application/json"}
    if not quirks.version_in_body:
        headers["anthropic-version"] = quirks.version
    if betas:
        headers["anthropic-beta"] = ",".join(betas)
    return headers
