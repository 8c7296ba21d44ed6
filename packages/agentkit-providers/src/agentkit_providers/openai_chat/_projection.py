"""The protocol's projection: Chat Completions, as one vendor speaks them."""

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
from agentkit_providers._protocol_kit._claude import claude_version
from agentkit_providers._protocol_kit._encoded_request import PieceEncoder
from agentkit_providers._protocol_kit._projection_base import VendorProjection
from agentkit_providers._protocol_kit._wire_names import CLAUDE_ARGUMENTS
from agentkit_providers.openai_chat._decode import OpenAIChatDecoder
from agentkit_providers.openai_chat._encode import OpenAIChatEncoder
from agentkit_providers.openai_chat._metadata_keys import API, DETAILS_KEY
from agentkit_providers.openai_chat._quirks import Quirks

_KINDS: Final = frozenset({ItemKind.SYSTEM, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL})
_DEFAULT_QUIRKS: Final = Quirks()


class OpenAIChat(VendorProjection[Quirks]):
    """Chat Completions, as OpenAI defined them and some forty vendors speak them.

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
        # Strict templates know one system message, at the front.
        has_developer = quirks.developer_role and not quirks.alternate_roles
        field = quirks.reasoning_field_out
        rule = ReasoningRule.NONE
        if field is not None:
            signed = field == "reasoning_details"
            rule = ReasoningRule.SIGNED if signed else ReasoningRule.ANY
        return Target(
            provider=self.provider,
            api=API,
            model=model,
            kinds=_KINDS | {ItemKind.DEVELOPER} if has_developer else _KINDS,
            media=quirks.media,
            tool_media=quirks.media & {Modality.IMAGE} if quirks.tool_images else quirks.media,
            tool_media_place=(ToolMedia.INLINE if quirks.tool_images else ToolMedia.AFTER_RESULTS),
            files=quirks.files,
            call_ids=quirks.call_ids,
            reasoning=rule,
            signature_keys=(DETAILS_KEY,),
            consecutive_roles=not quirks.alternate_roles,
            first_user=quirks.alternate_roles,
            late_system=(
                quirks.late_system and not quirks.alternate_roles and claude_version(model) is None
            ),
            custom_kinds=frozenset(),
        )

    def argument_names(self, model: str) -> IdRule | None:
        """The names of arguments that a model takes; None for any."""
        return None if claude_version(model) is None else CLAUDE_ARGUMENTS

    def _encoder(self) -> PieceEncoder:
        return OpenAIChatEncoder(self.target, self.quirks, self._kept)

    def _decoder(self, request: ModelRequest) -> ResponseDecoder:
        return OpenAIChatDecoder(request, self.provider, self.quirks)
