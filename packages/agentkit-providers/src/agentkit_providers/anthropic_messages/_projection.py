"""The protocol's projection: Messages, as one vendor speaks them."""

from __future__ import annotations

from typing import Final

from agentkit_core import ItemKind, Modality, ModelRequest
from agentkit_core.provider import (
    IdRule,
    ReasoningRule,
    ResponseDecoder,
    Target,
    ToolMedia,
)
from agentkit_providers._protocol_kit._encoded_request import PieceEncoder
from agentkit_providers._protocol_kit._projection_base import VendorProjection
from agentkit_providers._protocol_kit._wire_names import CLAUDE_ARGUMENTS
from agentkit_providers.anthropic_messages._decode import AnthropicMessagesDecoder
from agentkit_providers.anthropic_messages._encode import AnthropicMessagesEncoder
from agentkit_providers.anthropic_messages._metadata_keys import API, REDACTED_KEY, SIGNATURE_KEY
from agentkit_providers.anthropic_messages._quirks import Quirks

_KINDS: Final = frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL})
_IMAGES: Final = frozenset({Modality.IMAGE})
_DEFAULT_QUIRKS: Final = Quirks()


class AnthropicMessages(VendorProjection[Quirks]):
    """Messages, as Anthropic defined them and other vendors offer its models.

    Args:
        provider: Who is asked; goes into the provenance of the responses.
        quirks: How the vendor differs from Anthropic.
    """

    __slots__ = ()

    api = API

    def __init__(self, provider: str = "anthropic", quirks: Quirks = _DEFAULT_QUIRKS) -> None:
        super().__init__(provider, quirks)

    def target(self, model: str) -> Target:
        """Say what the vendor's model can be sent.

        Sendable items need not alternate between roles: encoding puts the items of one role into
        one message, and the results of tools into the user's.
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
            late_system=False,
        )

    def argument_names(self, model: str) -> IdRule | None:
        """The names of arguments that a model takes."""
        return CLAUDE_ARGUMENTS

    def _encoder(self) -> PieceEncoder:
        return AnthropicMessagesEncoder(self.target, self.quirks, self._kept)

    def _decoder(self, request: ModelRequest) -> ResponseDecoder:
        return AnthropicMessagesDecoder(request, self.provider, self.quirks)
