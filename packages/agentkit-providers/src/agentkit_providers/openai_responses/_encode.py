"""From a request to the bytes of a Responses request.

The request is fitted to its model first (`_fitting`). The sendable items of the history are encoded
one by one, and kept for the conversation's next request. Options come first and the input last, in
a fixed order: the bytes of a longer conversation begin with those of the shorter one, since
providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from agentkit_core import Item, ModelRequest, to_json
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._claude import goes_on_from_words
from agentkit_providers._protocol_kit._continuation import GO_ON, ends_with_words
from agentkit_providers._protocol_kit._encoded_options import with_list
from agentkit_providers._protocol_kit._encoded_request import EncodedRequest, RequestBody
from agentkit_providers._protocol_kit._fitting import fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, IncrementalHistory
from agentkit_providers._protocol_kit._kept_facts import KeptFacts
from agentkit_providers._protocol_kit._model_traits import ModelTraits
from agentkit_providers._protocol_kit._plain_text import ASSISTANT, USER, only_text
from agentkit_providers.openai_responses._cache_marks import mark_input
from agentkit_providers.openai_responses._encode_items import encode_item
from agentkit_providers.openai_responses._encode_options import (
    cache_request,
    encode_options,
    extra_fields,
)
from agentkit_providers.openai_responses._fitting import RULES, traits_of
from agentkit_providers.openai_responses._metadata_keys import CHANGES_KEY, DROPPED_KEY
from agentkit_providers.openai_responses._quirks import Quirks
from agentkit_providers.openai_responses._replay import first_open

PATH: Final = "/responses"


class OpenAIResponsesEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor differs from OpenAI.
        kept: What was worked out for earlier requests of the projection.
    """

    __slots__ = ("_history", "_kept", "_quirks", "_target_of")

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks, kept: KeptFacts) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._kept = kept
        self._history = IncrementalHistory[EncodedItem]()

    def encode_in_pieces(self, request: ModelRequest, /) -> EncodedRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        quirks = self._quirks
        traits = self._traits_of(request.model)
        target = traits.target
        stored = extra_fields(request.options).get("store") is True
        items = self._history.update(request.items, target)
        self._history.set_settings(stored)
        draft = fit(request, items, self._kept, traits, RULES)
        if ends_with_words(items) and not goes_on_from_words(request.model):
            draft.note("items", "assistant", "user", "the model goes on only from a user message")
            items = [*items, GO_ON]
        request = draft.request
        options = encode_options(request, items, quirks)
        fields = to_json(options.body)
        if "input" in options.body:
            body = RequestBody((fields,))
        else:
            cache = cache_request(request)
            if cache is not None and cache.marks and quirks.cache_breakpoints:
                # Marks stand elsewhere in every request, so nothing that was written can be kept.
                groups = [encode_item(items, at, quirks, stored=stored) for at in range(len(items))]
                written = list(map(to_json, mark_input(groups, cache, request, target)))
            else:
                written = self._input(items, stored=stored)
            body = with_list(fields, b"input", written)
        return EncodedRequest(
            path=PATH,
            body=body,
            headers={"content-type": "application/json"},
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )

    def _traits_of(self, model: str) -> ModelTraits:
        quirks = self._quirks
        return self._kept.of_model(model, quirks, lambda: traits_of(quirks, self._target_of(model)))

    def _input(self, items: Sequence[Item], *, stored: bool) -> list[bytes]:
        quirks, open_from = self._quirks, first_open(items)
        in_list = quirks.assistant_text_in_list

        def encode(items: Sequence[Item], at: int) -> EncodedItem:
            item = items[at]
            text = only_text(item)
            if text is not None:
                # Most items are one text, and need none of what follows.
                if item.kind is USER:
                    data = b'{"role":"user","content":%b}' % to_json(text)
                    return EncodedItem(data, at < open_from)
                if item.kind is ASSISTANT and not in_list:
                    data = b'{"role":"assistant","content":%b}' % to_json(text)
                    return EncodedItem(data, at < open_from)
            input_items = encode_item(items, at, quirks, stored=stored)
            return EncodedItem(to_json(input_items)[1:-1], at < open_from)

        self._history.encode(items, encode)
        return self._history.data()
