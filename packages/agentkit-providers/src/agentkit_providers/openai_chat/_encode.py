"""From a request to the bytes of a Chat Completions request.

The request is fitted to its model first (`_fitting`). The sendable items of the history are encoded
one by one, and kept for the conversation's next request. Options come first and messages last, in a
fixed order: the bytes of a longer conversation begin with those of the shorter one, since providers
cache by prefix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from agentkit_core import Item, ModelRequest, ThinkingLevel, to_json
from agentkit_core.provider import Target
from agentkit_providers._protocol_kit._claude import goes_on_from_words
from agentkit_providers._protocol_kit._continuation import GO_ON, ends_with_words
from agentkit_providers._protocol_kit._encoded_options import with_list
from agentkit_providers._protocol_kit._encoded_request import EncodedRequest, RequestBody
from agentkit_providers._protocol_kit._fitting import Draft, fit, with_notes
from agentkit_providers._protocol_kit._incremental_history import EncodedItem, IncrementalHistory
from agentkit_providers._protocol_kit._instructions import (
    items_with_instructions,
    with_instructions,
)
from agentkit_providers._protocol_kit._kept_facts import KeptFacts
from agentkit_providers._protocol_kit._plain_text import ASSISTANT, USER, only_text
from agentkit_providers.openai_chat._cache_marks import cache_control, mark_messages
from agentkit_providers.openai_chat._encode_items import encode_item
from agentkit_providers.openai_chat._encode_options import encode_options
from agentkit_providers.openai_chat._fitting import RULES, ChatTraits, traits_of
from agentkit_providers.openai_chat._metadata_keys import CHANGES_KEY, DROPPED_KEY
from agentkit_providers.openai_chat._quirks import Continuation, Quirks
from agentkit_providers.openai_chat._thinking import fitted_level
from agentkit_providers.openai_chat._wire_request import AssistantMessage, Message

PATH: Final = "/chat/completions"


class EncodedMessages(EncodedItem, frozen=True, kw_only=True):
    """One item as messages, which are kept one by one where the request has cache marks.

    Attributes:
        data: The messages, joined by commas.
        is_final: Always true in this protocol.
        is_notable: Always false in this protocol.
        messages: The messages; they are not changed. Empty where there are no marks.
        pieces: The same as JSON.
    """

    messages: tuple[Message, ...] = ()
    pieces: tuple[bytes, ...] = ()


class OpenAIChatEncoder:
    """Writes the requests of one conversation, and keeps what it wrote of the history.

    Args:
        target_of: Says what a model can be sent.
        quirks: How the vendor differs from OpenAI.
        kept: What was worked out for earlier requests of the projection.
    """

    __slots__ = ("_history", "_instructions", "_kept", "_quirks", "_target_of")

    def __init__(self, target_of: Callable[[str], Target], quirks: Quirks, kept: KeptFacts) -> None:
        self._target_of = target_of
        self._quirks = quirks
        self._kept = kept
        self._instructions: Sequence[str] = ()  # what fitting the last request added
        self._history = IncrementalHistory[EncodedMessages]()

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
        thinking = _thinks(draft, quirks)
        marks = cache_control(draft.request, quirks) is not None
        self._history.set_settings((thinking, marks))
        options = encode_options(draft.request, items, quirks)
        fields = to_json(options.body)
        if "messages" in options.body:
            body = RequestBody((fields,))
        else:
            messages = self._all_messages(draft, items, target, thinking=thinking)
            body = with_list(fields, b"messages", messages)
        return EncodedRequest(
            path=PATH,
            body=body,
            headers={"content-type": "application/json"},
            metadata=with_notes(
                options.metadata, draft, dropped_key=DROPPED_KEY, changes_key=CHANGES_KEY
            ),
        )

    def _traits_of(self, model: str) -> ChatTraits:
        quirks = self._quirks
        return self._kept.of_model(model, quirks, lambda: traits_of(quirks, self._target_of(model)))

    def _all_messages(
        self, draft: Draft, items: Sequence[Item], target: Target, *, thinking: bool
    ) -> list[bytes]:
        mark = cache_control(draft.request, self._quirks)
        last: list[Message] = []
        if ends_with_words(items):
            items, last = self._continued(draft, items, thinking=thinking)

        def messages_of(sendable: Sequence[Item]) -> list[Message]:
            return [
                message
                for at in range(len(sendable))
                for message in encode_item(sendable, at, self._quirks, thinking=thinking)
            ]

        if mark is None:
            return [*self._messages(items, thinking=thinking), *map(to_json, last)]
        # Marks stand elsewhere in every request, so the messages are kept one by one.
        written = self._history.encode(items, partial(self._encode_apart, thinking=thinking))
        messages = [message for item in written for message in item.messages]
        pieces = [piece for item in written for piece in item.pieces]
        pieces += map(to_json, last)
        messages += last
        marked = mark_messages(messages, draft.request, target, messages_of, mark)
        for at, message in marked.items():
            pieces[at] = to_json(message)
        return pieces

    def _encode_apart(self, items: Sequence[Item], at: int, *, thinking: bool) -> EncodedMessages:
        messages = tuple(encode_item(items, at, self._quirks, thinking=thinking))
        pieces = tuple(map(to_json, messages))
        return EncodedMessages(_join(pieces), messages=messages, pieces=pieces)

    def _continued(
        self, draft: Draft, items: Sequence[Item], *, thinking: bool
    ) -> tuple[Sequence[Item], list[Message]]:
        """Write a history that ends with the assistant's words as the vendor goes on from it."""
        how = self._quirks.continuation
        if not goes_on_from_words(draft.request.model):
            how = Continuation.USER_FOLLOWS
        if how is Continuation.SENT:
            return items, []
        if how is Continuation.USER_FOLLOWS:
            draft.note("items", "assistant", "user", "the model goes on only from a user message")
            return [*items, GO_ON], []
        messages = encode_item(items, len(items) - 1, self._quirks, thinking=thinking)
        for message in messages:
            if isinstance(message, AssistantMessage):
                message.prefix = True if how is Continuation.PREFIX else None
                message.partial = True if how is Continuation.PARTIAL else None
        return items[:-1], messages

    def _messages(self, items: Sequence[Item], *, thinking: bool) -> list[bytes]:
        quirks = self._quirks
        after_results = quirks.requires_assistant_after_tool_result
        with_reasoning = thinking and quirks.requires_reasoning_content_on_assistant

        def encode(items: Sequence[Item], at: int) -> EncodedMessages:
            item = items[at]
            text = only_text(item)
            if text is not None:
                # Most items are one text, and need none of what follows.
                if item.kind is USER and not after_results:
                    return EncodedMessages(b'{"role":"user","content":%b}' % to_json(text))
                if item.kind is ASSISTANT and not with_reasoning:
                    return EncodedMessages(b'{"role":"assistant","content":%b}' % to_json(text))
            messages = encode_item(items, at, quirks, thinking=thinking)
            return EncodedMessages(_join(map(to_json, messages)))

        self._history.encode(items, encode)
        return self._history.data()


def _thinks(draft: Draft, quirks: Quirks) -> bool:
    """Whether the model will think, because it is asked to or by itself."""
    asked = draft.options.thinking
    if asked is None:
        return quirks.thinks
    return fitted_level(asked, quirks) is not ThinkingLevel.OFF


def _join(messages: Iterable[bytes]) -> bytes:
    return b",".join(messages)
