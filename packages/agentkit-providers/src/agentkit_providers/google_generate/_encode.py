"""From a request to the bytes of a generateContent request.

The sendable items of the history are encoded one by one, each as the parts of a content, and kept
for the conversation's next request. Neighbours of one role are joined when all are written, except
that function responses stand in a content of their own. Options come first and contents last, in a
fixed order: the bytes of a longer conversation begin with those of the shorter one, since providers
cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote

from agentkit_core import Item, ItemKind, ModelRequest, to_json
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._continuation import GO_ON, ends_with_words
from agentkit_providers._protocol_kit._encoded_request import EncodedRequest, RequestBody
from agentkit_providers._protocol_kit._fitting import fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, GroupedHistory
from agentkit_providers._protocol_kit._instructions import (
    items_with_instructions,
    with_instructions,
)
from agentkit_providers._protocol_kit._kept_facts import KeptFacts
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._plain_text import ASSISTANT, TOOL, USER, only_text
from agentkit_providers.google_generate._encode_items import encode_item, vendor_call_ids
from agentkit_providers.google_generate._encode_options import encode_options
from agentkit_providers.google_generate._fitting import RULES, traits_of
from agentkit_providers.google_generate._metadata_keys import CHANGES_KEY, DROPPED_KEY
from agentkit_providers.google_generate._quirks import Quirks

_CONTENT_START: Final = {
    USER: b'{"role":"user","parts":[',
    ASSISTANT: b'{"role":"model","parts":[',
    TOOL: b'{"role":"user","parts":[',
}


class EncodedParts(EncodedItem, frozen=True, kw_only=True):
    """One item as parts.

    Attributes:
        data: The parts, joined by commas; empty where nothing of the item is sent.
        is_final: Always true in this protocol.
        is_notable: Whether the vendor gave ids to its calls, which no later call may have.
        kind: The item's kind, which decides the role.
        call_ids: The ids that the vendor gave to the item's calls, empty for those without one.
    """

    kind: ItemKind
    call_ids: tuple[str, ...] = ()


class ContentHistory(GroupedHistory[EncodedParts]):
    """The history of one conversation as contents."""

    __slots__ = ("first_uses",)

    def __init__(self) -> None:
        super().__init__("kind", _CONTENT_START)
        self.first_uses: dict[str, int] = {}
        """Each id that the vendor gave to a call, and the index of the first item that has it."""

    def _note(self, at: int, item: EncodedParts) -> None:
        super()._note(at, item)
        for call_id in item.call_ids:
            self.first_uses.setdefault(call_id, at)

    def _forget_from(self, count: int) -> None:
        super()._forget_from(count)
        while self.first_uses:
            call_id, at = self.first_uses.popitem()
            if at < count:
                self.first_uses[call_id] = at
                break


class GoogleGenerateEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the endpoint or the model differs from Google's newest.
        kept: What was worked out for earlier requests of the projection.
    """

    __slots__ = ("_history", "_instructions", "_kept", "_quirks", "_target_of")

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks, kept: KeptFacts) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._kept = kept
        self._instructions: Sequence[str] = ()  # what fitting the last request added
        self._history = ContentHistory()

    def encode_in_pieces(self, request: ModelRequest, /) -> EncodedRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        traits = self._traits_of(request.model)
        target = traits.target
        # Most requests of a conversation have the same instructions, so nothing has to be written
        # anew for them.
        known = self._instructions
        items = self._history.update(items_with_instructions(request.items, known), target)
        draft = fit(request, items, self._kept, traits, RULES)
        if draft.instructions:
            draft.request = with_instructions(draft.request, draft.instructions)
        if draft.instructions != list(known):
            self._instructions = draft.instructions
            items = self._history.update(draft.request.items, target)
        if ends_with_words(items):
            draft.note("items", "assistant", "user", "the model goes on only from a user content")
            items = [*items, GO_ON]
        request = draft.request

        self._encode_items(items, target)
        options = encode_options(request, items, self._quirks)
        pieces: tuple[bytes, ...] = (to_json(options.body),)
        if "contents" not in options.body:
            start = pieces[0][:-1] + b"," * bool(options.body)
            pieces = (start, b'"contents":[', *self._history.messages(), b"]}")
        return EncodedRequest(
            path=_path(request.model, streamed=request.streamed),
            body=RequestBody(pieces),
            headers={"content-type": "application/json"},
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )

    def _traits_of(self, model: str) -> ModelTraits:
        quirks = self._quirks
        return self._kept.of_model(model, quirks, lambda: traits_of(quirks, self._target_of(model)))

    def _encode_items(self, items: Sequence[Item], target: Target) -> None:
        quirks, first_uses = self._quirks, self._history.first_uses

        def encode(items: Sequence[Item], at: int) -> EncodedParts:
            item = items[at]
            text = only_text(item)
            if text is not None:
                # Most items are one text, and need none of what follows.
                return EncodedParts(b'{"text":%b}' % to_json(text), kind=item.kind)
            parts = encode_item(items, at, quirks, target=target, first_uses=first_uses)
            ids = vendor_call_ids(item)
            data = to_json(parts)[1:-1]
            return EncodedParts(data, is_notable=bool(ids), kind=item.kind, call_ids=ids)

        self._history.encode(items, encode)


def _path(model: str, *, streamed: bool) -> str:
    """The path of a model; a name with a slash holds the resource's kind itself."""
    name = quote(model, safe="/@:~.-_")
    resource = f"/{name.lstrip('/')}" if "/" in name else f"/models/{name}"
    return (
        f"{resource}:streamGenerateContent?alt=sse" if streamed else f"{resource}:generateContent"
    )
