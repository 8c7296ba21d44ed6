"""The protocol's projection: Responses, as one vendor speaks them."""

from __future__ import annotations

from typing import Final

from agentkit_core import ItemKind, MetadataMap, Modality, ModelRequest, ProviderFailure
from agentkit_core.provider import ReasoningRule, ResponseDecoder, Target, ToolMedia
from agentkit_providers._protocol_kit._encoded_request import PieceEncoder
from agentkit_providers._protocol_kit._projection_base import VendorProjection
from agentkit_providers.openai_responses._decode import OpenAIResponsesDecoder
from agentkit_providers.openai_responses._encode import OpenAIResponsesEncoder
from agentkit_providers.openai_responses._finish import pending_failure
from agentkit_providers.openai_responses._metadata_keys import API, AWAITED_KEY, ITEM_KEY
from agentkit_providers.openai_responses._quirks import Quirks, ReasoningReplay

_KINDS: Final = frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL})
_DEFAULT_QUIRKS: Final = Quirks()


class OpenAIResponses(VendorProjection[Quirks]):
    """Responses, as OpenAI defined them and others speak them.

    Every request holds the whole conversation; the vendor is asked not to store responses.

    Args:
        provider: Who is asked; goes into the provenance of the responses.
        quirks: How the vendor differs from OpenAI.
    """

    __slots__ = ()

    api = API

    def __init__(self, provider: str = "openai", quirks: Quirks = _DEFAULT_QUIRKS) -> None:
        super().__init__(provider, quirks)

    def target(self, model: str) -> Target:
        """Say what the vendor's model can be sent."""
        quirks = self.quirks
        takes_reasoning = quirks.reasoning_replay is not ReasoningReplay.NONE
        return Target(
            provider=self.provider,
            api=API,
            model=model,
            kinds=_KINDS | {ItemKind.DEVELOPER} if quirks.developer_role else _KINDS,
            media=quirks.media,
            tool_media=quirks.media & {Modality.IMAGE},
            tool_media_place=ToolMedia.INLINE if quirks.tool_images else ToolMedia.AFTER_RESULTS,
            files=quirks.files,
            call_ids=quirks.call_ids,
            reasoning=ReasoningRule.SIGNED if takes_reasoning else ReasoningRule.NONE,
            signature_keys=(ITEM_KEY,),
            custom_kinds=None if quirks.custom_items else frozenset(),
            late_system=quirks.late_system,
        )

    def _encoder(self) -> PieceEncoder:
        return OpenAIResponsesEncoder(self.target, self.quirks, self._kept)

    def _decoder(self, request: ModelRequest) -> ResponseDecoder:
        return OpenAIResponsesDecoder(request, self.provider, self.quirks)

    def pending(self, metadata: MetadataMap) -> ProviderFailure | None:
        """Say what a response waits for; see `PendingReader` of `agentkit_providers.model`.

        Args:
            metadata: The metadata of the response's last event.
        """
        awaited = metadata.get(AWAITED_KEY)
        return pending_failure(awaited) if isinstance(awaited, str) else None
