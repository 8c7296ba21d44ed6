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
from agentkit_core.provider import Target, WireRequest
from agentkit_providers._protocol_kit._claude import goes_on_from_words
from agentkit_providers._protocol_kit._continuation import GO_ON, ends_with_words
from agentkit_providers._protocol_kit._fitting import fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, IncrementalHistory
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
from agentkit_providers.openai_responses._replay import may_yet_be_answered

PATH: Final = "/responses"


class OpenAIResponsesEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor differs from OpenAI.
    """

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._history = IncrementalHistory[EncodedItem]()

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        quirks = self._quirks
        target = self._target_of(request.model)
        stored = extra_fields(request.options).get("store") is True
        items = self._history.update(request.items, target)
        self._history.set_settings(stored)
        draft = fit(request, traits_of(quirks, items, target), RULES)
        if ends_with_words(items) and not goes_on_from_words(request.model):
            draft.note("items", "assistant", "user", "the model goes on only from a user message")
            items = [*items, GO_ON]
        request = draft.request
        options = encode_options(request, items, quirks)
        body = to_json(options.body)
        if "input" not in options.body:
            cache = cache_request(request)
            if cache is not None and cache.marks and quirks.cache_breakpoints:
                # Marks stand elsewhere in every request, so nothing that was written can be kept.
                groups = [encode_item(items, at, quirks, stored=stored) for at in range(len(items))]
                marked = mark_input(groups, cache, request, target)
                written = to_json(marked)[1:-1]
            else:
                written = self._input(items, stored=stored)
            body = b"".join((body[:-1], b',"input":[', written, b"]}"))
        return WireRequest(
            path=PATH,
            body=body,
            headers={"content-type": "application/json"},
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )

    def _input(self, items: Sequence[Item], *, stored: bool) -> bytes:
        def encode(items: Sequence[Item], at: int) -> EncodedItem:
            input_items = encode_item(items, at, self._quirks, stored=stored)
            final = not may_yet_be_answered(items, at)
            return EncodedItem(to_json(input_items)[1:-1], final)

        encoded = self._history.encode(items, encode)
        return b",".join(item.data for item in encoded if item.data)
