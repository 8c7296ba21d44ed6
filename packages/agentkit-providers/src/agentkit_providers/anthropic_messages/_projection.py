"""The front of the protocol: one projection for one vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import ItemKind, Modality, ModelRequest, ProviderFailure
from agentkit_core.provider import (
    ReasoningRule,
    RequestEncoder,
    ResponseDecoder,
    Target,
    ToolMedia,
    WireRequest,
)
from agentkit_providers.anthropic_messages._decode import AnthropicMessagesDecoder
from agentkit_providers.anthropic_messages._encode import AnthropicMessagesEncoder
from agentkit_providers.anthropic_messages._metadata_keys import API, REDACTED_KEY, SIGNATURE_KEY
from agentkit_providers.anthropic_messages._quirks import Quirks
from agentkit_providers.failures._classify import classify_http

_KINDS: Final = frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL})
_IMAGES: Final = frozenset({Modality.IMAGE})
_DEFAULT_QUIRKS: Final = Quirks()


class AnthropicMessages:
    """Messages, as Anthropic defined them and its models are offered elsewhere.

    Args:
        provider: Who is asked; goes into the provenance of the answers.
        quirks: In what the vendor differs from Anthropic.
    """

    api: Final = API

    def __init__(self, provider: str = "anthropic", quirks: Quirks = _DEFAULT_QUIRKS) -> None:
        self.provider = provider
        self.quirks = quirks

    def target(self, model: str) -> Target:
        """Say what the vendor's model can be sent.

        Roles need not alternate in what `sendable` gives: encoding puts the items of one role
        into one message, tools' results among the user's.
        """
        quirks = self.quirks
        media = quirks.media & _IMAGES
        return Target(
            provider=self.provider,
            api=API,
            model=model,
            kinds=_KINDS,
            media=media,
            tool_media=media,
            tool_media_place=ToolMedia.INLINE,
            files=quirks.files,
            call_ids=quirks.call_ids,
            reasoning=ReasoningRule.ANY if quirks.unsigned_thinking else ReasoningRule.SIGNED,
            signature_keys=(SIGNATURE_KEY, REDACTED_KEY),
            first_user=True,
        )

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request must have something that the vendor cannot do.
        """
        return self.encoder().encode(request)

    def encoder(self) -> RequestEncoder:
        """Make an encoder for one conversation, which keeps what it wrote of the history."""
        return AnthropicMessagesEncoder(self.target, self.quirks)

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        """Make a decoder for the answer to this request, streamed or whole."""
        return AnthropicMessagesDecoder(request, self.provider, self.quirks)

    def failure(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
    ) -> ProviderFailure:
        """Say what an answer without success means; see `classify_http` for the arguments."""
        return classify_http(status, headers, body, now_s=now_s)
