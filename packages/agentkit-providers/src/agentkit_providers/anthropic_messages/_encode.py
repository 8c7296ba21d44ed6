"""From a request to the bytes of a Messages request.

The sendable items of the history are encoded one by one, and kept for the conversation's next
request. Instructions go to the top, neighbours of one role into one message. Options come first
and messages last, in a fixed order: the bytes of a longer conversation begin with those of the
shorter one, since providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote

from agentkit_core import Item, ModelRequest, to_json
from agentkit_core.provider import Target, WireRequest
from agentkit_providers._protocol_kit._incremental_history import IncrementalHistory
from agentkit_providers.anthropic_messages._betas import betas_of
from agentkit_providers.anthropic_messages._cache_marks import Marks, find_marks
from agentkit_providers.anthropic_messages._encode_items import (
    EncodedBlocks,
    Place,
    encode_item,
    with_field,
)
from agentkit_providers.anthropic_messages._encode_options import encode_options
from agentkit_providers.anthropic_messages._quirks import Quirks

_MESSAGE_START: Final = {
    Place.USER: b'{"role":"user","content":[',
    Place.ASSISTANT: b'{"role":"assistant","content":[',
}


class AnthropicMessagesEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor differs from Anthropic.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history = IncrementalHistory[EncodedBlocks]()

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        quirks = self._quirks
        target = self._target_of(request.model)
        items = self._history.update(request.items, target)
        encoded = self._history.encode(items, self._encode_item)
        options = encode_options(request, items, quirks)
        tools = options.tools
        marks = find_marks(request, quirks, target, encoded, has_tools=bool(tools))
        if marks.tools:
            tools = [*tools[:-1], with_field(tools[-1], marks.field)]
        betas = betas_of(options, quirks, uploads=any(blocks.uploads for blocks in encoded))
        pieces = [to_json(options.body)[:-1]]
        if tools:
            pieces += (b',"tools":[', b",".join(tools), b"]")
        if "system" not in options.body and (system := _system(encoded, marks)):
            pieces += (b',"system":[', system, b"]")
        if "messages" not in options.body:
            pieces += (b',"messages":[', *_messages(encoded, marks), b"]")
        return WireRequest(
            path=_path(request, quirks),
            body=b"".join((*pieces, b"}")),
            headers=_headers(betas, quirks),
            metadata=options.metadata,
        )

    def _encode_item(self, items: Sequence[Item], at: int) -> EncodedBlocks:
        return encode_item(items, at, is_known=self._is_known)

    def _is_known(self, use_id: str) -> bool:
        return any(use_id in blocks.uses for blocks in self._history.encoded)


def _system(encoded: Sequence[EncodedBlocks], marks: Marks) -> bytes:
    return b",".join(
        marks.apply(at, blocks)
        for at, blocks in enumerate(encoded)
        if blocks.place is Place.SYSTEM and blocks.blocks
    )


def _messages(encoded: Sequence[EncodedBlocks], marks: Marks) -> list[bytes]:
    pieces: list[bytes] = []
    role: Place | None = None
    for at, blocks in enumerate(encoded):
        if blocks.place is Place.SYSTEM or not blocks.blocks:
            continue
        if blocks.place is role:
            pieces.append(b",")
        else:
            pieces.append(b"" if role is None else b"]},")
            pieces.append(_MESSAGE_START[blocks.place])
            role = blocks.place
        pieces.append(marks.apply(at, blocks))
    if role is not None:
        pieces.append(b"]}")
    return pieces


def _path(request: ModelRequest, quirks: Quirks) -> str:
    path = quirks.streamed_path if request.streamed and quirks.streamed_path else quirks.path
    return path.replace("{model}", quote(request.model, safe="@:."))


def _headers(betas: Sequence[str], quirks: Quirks) -> dict[str, str]:
    headers = {"content-type": "application/json"}
    if not quirks.version_in_body:
        headers["anthropic-version"] = quirks.version
    if betas:
        headers["anthropic-beta"] = ",".join(betas)
    return headers
