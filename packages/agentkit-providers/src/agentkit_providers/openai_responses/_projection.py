"""The front of the protocol: one projection for one vendor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import ItemKind, MetadataMap, Modality, ModelRequest, ProviderFailure
from agentkit_core.provider import (
    ReasoningRule,
    RequestEncoder,
    ResponseDecoder,
    Target,
    ToolMedia,
    WireRequest,
)
from agentkit_providers.failures._classify import classify_http
from agentkit_providers.openai_responses._decode import OpenAIResponsesDecoder
from agentkit_providers.openai_responses._encode import OpenAIResponsesEncoder
from agentkit_providers.openai_responses._metadata_keys import API, ITEM_KEY
from agentkit_providers.openai_responses._quirks import Quirks, ReasoningReplay

_KINDS: Final = frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL})
_DEFAULT_QUIRKS: Final = Quirks()


class OpenAIResponses:
    """Responses, as OpenAI defined them and others speak them.

    Every request holds all of the conversation, and no answer is stored by the vendor.

    Args:
        provider: Who is asked; goes into the provenance of the answers.
        quirks: In what the vendor differs from OpenAI.
    """

    api: Final = API

    def __init__(self, provider: str = "openai", quirks: Quirks = _DEFAULT_QUIRKS) -> None:
        self.provider = provider
        self.quirks = quirks

    def target(self, model: str) -> Target:
        """Say what the vendor's model can be sent."""
        quirks = self.quirks
        replayed = quirks.reasoning_replay is not ReasoningReplay.NONE
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
            reasoning=ReasoningRule.SIGNED if replayed else ReasoningRule.NONE,
            signature_keys=(ITEM_KEY,),
            custom_kinds=None if quirks.custom_items else frozenset(),
        )

    def encode(self, request: ModelRequest, /) -> WireRequest:
        """Write a request; see `agentkit_core.provider.Projection`.

        Raises:
            UnsupportedContent: The request must have something that the vendor cannot do.
        """
        return self.encoder().encode(request)

    def encoder(self) -> RequestEncoder:
        """Make an encoder for one conversation, which keeps what it wrote of the history."""
        return OpenAIResponsesEncoder(self.target, self.quirks)

    def decoder(self, request: ModelRequest, /) -> ResponseDecoder:
        """Make a decoder for the answer to this request, streamed or whole."""
        return OpenAIResponsesDecoder(request, self.provider, self.quirks)

    def service_tier(self, metadata: MetadataMap) -> str | None:
        """Read from the metadata of an answer's last event in which service tier it was given."""
        found = metadata.get(f"{API}.service_tier")
        return found if isinstance(found, str) else None

    def failure(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
    ) -> ProviderFailure:
        """Say what an answer without success means; see `classify_http` for the arguments."""
        return classify_http(status, headers, body, now_s=now_s)
