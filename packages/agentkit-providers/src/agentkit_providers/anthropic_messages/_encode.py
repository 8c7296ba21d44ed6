"""From a request to the bytes of a Messages request.

The sendable items of the history are encoded one by one, and kept for the conversation's next
request. Instructions go to the top, neighbours of one role into one message. Options come first
and messages last, in a fixed order: the bytes of a longer conversation begin with those of the
shorter one, since providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, Text, to_json
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._continuation import (
    GO_ON,
    ends_with_words,
    without_reasoning,
    without_trailing_space,
)
from agentkit_providers._protocol_kit._encoded_request import EncodedRequest, RequestBody
from agentkit_providers._protocol_kit._fitting import Draft, fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import GroupedHistory
from agentkit_providers._protocol_kit._instructions import (
    items_with_instructions,
    with_instructions,
)
from agentkit_providers._protocol_kit._kept_facts import KeptFacts
from agentkit_providers._protocol_kit._turns import open_turn
from agentkit_providers.anthropic_messages._betas import betas_of
from agentkit_providers.anthropic_messages._cache_marks import Marks, find_marks
from agentkit_providers.anthropic_messages._encode_items import (
    EncodedBlocks,
    Place,
    encode_item,
    is_marked,
    with_field,
)
from agentkit_providers.anthropic_messages._encode_options import MessagesOptions, encode_options
from agentkit_providers.anthropic_messages._fitting import RULES, MessagesTraits, traits_of
from agentkit_providers.anthropic_messages._metadata_keys import CHANGES_KEY, DROPPED_KEY
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
        kept: What was worked out for earlier requests of the projection.
    """

    __slots__ = ("_history", "_instructions", "_kept", "_quirks", "_target_of")

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks, kept: KeptFacts) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._kept = kept
        self._instructions: Sequence[str] = ()  # what fitting the last request added
        self._history = GroupedHistory[EncodedBlocks]("place", _MESSAGE_START)

    def encode_in_pieces(self, request: ModelRequest, /) -> EncodedRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request requires something that the vendor cannot do.
        """
        quirks = self._quirks
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
        request = draft.request
        options = encode_options(request, items, quirks)
        items, settings, end = _fit_end(draft, items, options, traits)
        self._history.set_settings(settings)

        encode = partial(encode_item, is_known=self._is_known)

        def encode_for_now(items: Sequence[Item], at: int) -> EncodedBlocks:
            return encode(items, at) if at < end else replace(encode(items, at), is_final=False)

        encoded = self._history.encode(items, encode if end == len(items) else encode_for_now)
        notable = self._history.notable
        tools = options.tools
        last = options.last_cacheable_tool
        marks = find_marks(
            request,
            quirks,
            target,
            encoded,
            has_tools=last is not None,
            instructions=[at for at in notable if encoded[at].place is Place.SYSTEM],
            own_marks=_own_marks(options) + sum(encoded[at].own_marks for at in notable),
        )
        if marks.tools and last is not None and not is_marked(tools[last]):
            tools = [*tools[:last], with_field(tools[last], marks.field), *tools[last + 1 :]]
        betas = betas_of(options, quirks, uploads=any(encoded[at].uploads for at in notable))
        pieces = [to_json(options.body)[:-1]]
        if tools:
            pieces += (b',"tools":[', b",".join(tools), b"]")
        if "system" not in options.body and (system := _system(encoded, notable, marks)):
            pieces += (b',"system":[', system, b"]")
        if "messages" not in options.body:
            pieces += (b',"messages":[', *self._messages(marks), b"]")
        return EncodedRequest(
            path=_path(request, quirks),
            body=RequestBody((*pieces, b"}")),
            headers=_headers(betas, quirks),
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )

    def _traits_of(self, model: str) -> MessagesTraits:
        quirks = self._quirks
        return self._kept.of_model(model, quirks, lambda: traits_of(quirks, self._target_of(model)))

    def _is_known(self, use_id: str) -> bool:
        history = self._history
        return any(use_id in history.encoded[at].uses for at in history.notable)

    def _messages(self, marks: Marks) -> Iterable[bytes]:
        encoded = self._history.encoded
        marked = {spot.item for spot in marks.spots}
        return self._history.messages((at, marks.apply(at, encoded[at])) for at in marked)


def _own_marks(options: MessagesOptions) -> int:
    """Count the marks that the caller has put into tools and fields."""
    return sum(map(is_marked, options.tools)) + ("cache_control" in options.body)


def _fit_end(
    draft: Draft, items: Sequence[Item], options: MessagesOptions, traits: MessagesTraits
) -> tuple[Sequence[Item], Hashable, int]:
    """Fit the end of a history: an open turn, and the assistant's words at the end.

    Returns:
        The items; what their encoding depends on, a number where the thinking of the items from
        there on is left out, else None; and from which index on items are as they are for this
        request only.
    """
    stripped_from: int | None = None
    end = len(items)
    if ends_with_words(items):
        end -= 1
        items = _continued(draft, items, options, traits)
    elif options.thinking_is_off and (turn := open_turn(items)) is not None:
        without = [without_reasoning(items[at]) for at in turn]
        if any(new is not items[at] for new, at in zip(without, turn, strict=True)):
            stripped_from = turn.start
            items = [*items[: turn.start], *without]
    return items, stripped_from, end


def _continued(
    draft: Draft, items: Sequence[Item], options: MessagesOptions, traits: MessagesTraits
) -> Sequence[Item]:
    """Write the assistant's words at the end of a history so that the model goes on from them."""
    prefill = traits.quirks.prefill
    if prefill is None:
        prefill = traits.of_name.prefill
    last = items[-1]
    if prefill and not options.thinks and isinstance(last.parts[-1], Text):
        # "When thinking is disabled, an `assistant` message in the final position cannot contain
        # `thinking`" (tailcallhq/forgecode#1853); so too in an open turn.
        last = without_reasoning(last) if options.thinking_is_off else last
        return [*items[:-1], without_trailing_space(last)]
    draft.note("items", "assistant", "user", "the model goes on only from a user message")
    return [*items, GO_ON]


def _system(encoded: Sequence[EncodedBlocks], notable: Sequence[int], marks: Marks) -> bytes:
    return b",".join(
        marks.apply(at, encoded[at])
        for at in notable
        if encoded[at].place is Place.SYSTEM and encoded[at].blocks
    )


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
