"""From a request to the bytes of a Messages request.

The sendable items of the history are encoded one by one, and kept for the conversation's next
request. Instructions go to the top, neighbours of one role into one message. Options come first
and messages last, in a fixed order: the bytes of a longer conversation begin with those of the
shorter one, since providers cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Final
from urllib.parse import quote

from agentkit_core import Item, ModelRequest, Text, to_json
from agentkit_core.provider import Target, WireRequest
from agentkit_providers._protocol_kit._continuation import (
    GO_ON,
    ends_with_words,
    without_reasoning,
    without_trailing_space,
)
from agentkit_providers._protocol_kit._fitting import Draft, fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import IncrementalHistory
from agentkit_providers._protocol_kit._instructions import with_instructions
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
        traits = traits_of(quirks, items, target)
        draft = fit(request, traits, RULES)
        if draft.instructions:
            draft.request = with_instructions(draft.request, draft.instructions)
            items = self._history.update(draft.request.items, target)
        request = draft.request
        options = encode_options(request, items, quirks)
        items, settings = _fit_end(draft, items, options, traits)
        self._history.set_settings(settings)
        encoded = self._history.encode(items, self._encode_item)
        tools = options.tools
        last = options.last_cacheable_tool
        marks = find_marks(
            request,
            quirks,
            target,
            encoded,
            has_tools=last is not None,
            own_marks=_own_marks(options, encoded),
        )
        if marks.tools and last is not None and not is_marked(tools[last]):
            tools = [*tools[:last], with_field(tools[last], marks.field), *tools[last + 1 :]]
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
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )

    def _encode_item(self, items: Sequence[Item], at: int) -> EncodedBlocks:
        return encode_item(items, at, is_known=self._is_known)

    def _is_known(self, use_id: str) -> bool:
        return any(use_id in blocks.uses for blocks in self._history.encoded)


def _own_marks(options: MessagesOptions, encoded: Sequence[EncodedBlocks]) -> int:
    """Count the marks that the caller has put into tools, blocks and fields."""
    pieces = (*options.tools, *(block for item in encoded for block in item.blocks))
    return sum(map(is_marked, pieces)) + ("cache_control" in options.body)


def _fit_end(
    draft: Draft, items: Sequence[Item], options: MessagesOptions, traits: MessagesTraits
) -> tuple[Sequence[Item], Hashable]:
    """Fit the end of a history: an open turn, and the assistant's words at the end.

    Returns:
        The items, and what their encoding depends on: a number where the thinking of the items from
        there on is left out, else None.
    """
    stripped_from: int | None = None
    turn = open_turn(items)
    if ends_with_words(items):
        items = _continued(draft, items, options, traits)
    elif turn is not None and options.thinking_is_off:
        without = [without_reasoning(items[at]) for at in turn]
        if any(new is not items[at] for new, at in zip(without, turn, strict=True)):
            stripped_from = turn.start
            items = [*items[: turn.start], *without]
    return items, stripped_from


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
