"""From a request to the bytes of a generateContent request.

The sendable items of the history are encoded one by one, each as the parts of a content, and kept
for the conversation's next request. Neighbours of one role are joined when all are written, except
that function responses stand in a content of their own. Options come first and contents last, in a
fixed order: the bytes of a longer conversation begin with those of the shorter one, since providers
cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final
from urllib.parse import quote

from agentkit_core import Item, ItemKind, ModelRequest, to_json
from agentkit_core.provider import Target, WireRequest
from agentkit_providers._protocol_kit._continuation import GO_ON, ends_with_words
from agentkit_providers._protocol_kit._fitting import fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, IncrementalHistory
from agentkit_providers._protocol_kit._instructions import with_instructions
from agentkit_providers.google_generate._encode_items import encode_item
from agentkit_providers.google_generate._encode_options import encode_options
from agentkit_providers.google_generate._fitting import RULES, traits_of
from agentkit_providers.google_generate._metadata_keys import CHANGES_KEY, DROPPED_KEY
from agentkit_providers.google_generate._quirks import Quirks

_ROLES: Final = {
    ItemKind.USER: "user",
    ItemKind.ASSISTANT: "model",
    ItemKind.TOOL: "user",
}


class EncodedParts(EncodedItem, frozen=True, kw_only=True):
    """One item as parts.

    Attributes:
        data: The parts, joined by commas; empty where nothing of the item is sent.
        is_final: Always true in this protocol.
        kind: The item's kind, which decides the role.
    """

    kind: ItemKind


class GoogleGenerateEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the endpoint or the model differs from Google's newest.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history = IncrementalHistory[EncodedParts]()

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        target = self._target_of(request.model)
        items = self._history.update(request.items, target)
        draft = fit(request, traits_of(self._quirks, items, target), RULES)
        if draft.instructions:
            draft.request = with_instructions(draft.request, draft.instructions)
            items = self._history.update(draft.request.items, target)
        if ends_with_words(items):
            draft.note("items", "assistant", "user", "the model goes on only from a user content")
            items = [*items, GO_ON]
        request = draft.request

        def encode(items: Sequence[Item], at: int) -> EncodedParts:
            parts = encode_item(items, at, self._quirks, target=target)
            return EncodedParts(to_json(parts)[1:-1], kind=items[at].kind)

        encoded = self._history.encode(items, encode)
        options = encode_options(request, items, self._quirks)
        body = to_json(options.body)
        if "contents" not in options.body:
            start = body[:-1] + b"," * bool(options.body)
            body = b"".join((start, b'"contents":[', b",".join(_contents(encoded)), b"]}"))
        return WireRequest(
            path=_path(request.model, streamed=request.streamed),
            body=body,
            headers={"content-type": "application/json"},
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )


def _contents(encoded: Iterable[EncodedParts]) -> Iterator[bytes]:
    """Join the parts of neighbours of one kind into contents."""
    kind: ItemKind | None = None
    group: list[bytes] = []
    for item in encoded:
        if item.kind is ItemKind.SYSTEM or not item.data:
            continue
        if group and item.kind is not kind:
            yield _join_parts(kind, group)
            group = []
        kind = item.kind
        group.append(item.data)
    if group:
        yield _join_parts(kind, group)


def _join_parts(kind: ItemKind | None, parts: Sequence[bytes]) -> bytes:
    role = _ROLES[kind] if kind is not None else "user"
    return b"".join((b'{"role":"', role.encode(), b'","parts":[', b",".join(parts), b"]}"))


def _path(model: str, *, streamed: bool) -> str:
    """The path of a model; a name with a slash holds the resource's kind itself."""
    name = quote(model, safe="/@:~.-_")
    resource = f"/{name.lstrip('/')}" if "/" in name else f"/models/{name}"
    return (
        f"{resource}:streamGenerateContent?alt=sse" if streamed else f"{resource}:generateContent"
    )
