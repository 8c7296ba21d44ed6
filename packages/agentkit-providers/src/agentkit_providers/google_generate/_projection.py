"""The protocol's projection: generateContent, as one endpoint speaks it."""

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
from agentkit_providers.google_generate._decode import GoogleGenerateDecoder
from agentkit_providers.google_generate._encode import GoogleGenerateEncoder
from agentkit_providers.google_generate._metadata_keys import API, PIECES_KEY, SIGNATURE_KEY
from agentkit_providers.google_generate._models import is_before_gemini_3
from agentkit_providers.google_generate._quirks import Quirks

_KINDS: Final = frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL})
# "Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_),
# dots (.), colons (:), or dashes (-), with a maximum length of 64" (kaitranntt/ccs#25).
_TOOL_NAMES: Final = IdRule(characters="A-Za-z0-9_.:-", first_characters="A-Za-z_")
_DEFAULT_QUIRKS: Final = Quirks()


class GoogleGenerate(VendorProjection[Quirks]):
    """generateContent, as Google's own API and Vertex AI speak it.

    Args:
        provider: Who is asked; goes into the provenance of the responses.
        quirks: How the endpoint or the model differs from Google's newest.
    """

    __slots__ = ()

    api = API
    tool_names = _TOOL_NAMES

    def __init__(self, provider: str = "google", quirks: Quirks = _DEFAULT_QUIRKS) -> None:
        super().__init__(provider, quirks)

    def target(self, model: str) -> Target:
        """Say what the vendor's model can be sent."""
        quirks = self.quirks
        inline = quirks.tool_media
        if inline is None:
            inline = not is_before_gemini_3(model)
        return Target(
            provider=self.provider,
            api=API,
            model=model,
            kinds=_KINDS,
            media=quirks.media,
            tool_media=quirks.media & {Modality.IMAGE} if inline else quirks.media,
            tool_media_place=ToolMedia.INLINE if inline else ToolMedia.AFTER_RESULTS,
            files=quirks.files,
            tool_names=_TOOL_NAMES,
            reasoning=ReasoningRule.ANY,
            signature_keys=(SIGNATURE_KEY, PIECES_KEY),
            first_user=True,
            late_system=False,
        )

    def _encoder(self) -> PieceEncoder:
        return GoogleGenerateEncoder(self.target, self.quirks, self._kept)

    def _decoder(self, request: ModelRequest) -> ResponseDecoder:
        return GoogleGenerateDecoder(request, self.provider, self.quirks)
