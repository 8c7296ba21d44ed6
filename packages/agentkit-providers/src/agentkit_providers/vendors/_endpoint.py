"""One endpoint as data: where a protocol is spoken, with which key, in which dialect."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from agentkit_core import JsonValue
from agentkit_providers.catalogue._card import ModelCard

OPENAI_CHAT: Final = "openai_chat"
"""The api of Chat Completions, as OpenAI defined it and many servers speak it."""
OPENAI_RESPONSES: Final = "openai_responses"
"""The api of Responses, as OpenAI defined it."""
ANTHROPIC_MESSAGES: Final = "anthropic_messages"
"""The api of Messages, as Anthropic defined it."""
GOOGLE_GENERATE: Final = "google_generate"
"""The api of generateContent, as Google defined it."""


class Endpoint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where models answer: address, protocol, key, and how this vendor differs.

    Attributes:
        name: The word before the colon in `connect("openai:gpt-5-mini")`.
        base_url: Up to where a projection's paths begin; empty means that the caller must give one.
        api: The protocol: `openai_chat`, or what was registered with `Registry.register_api`.
        key_env: Environment variables that may hold the key; the first that is not empty wins.
        key_required: Whether a request without a key is refused before it is sent.
        auth_header: The header that carries the key.
        auth_prefix: What stands before the key in that header.
        headers: Sent with every request; never a key.
        quirks: How the vendor's dialect differs, by the field names of the protocol's own quirks
            type (`agentkit_providers.openai_chat.Quirks`); empty means not at all.
        models: How single models differ from the rest: patterns of their ids, as in file names and
            whatever the case (`qwen/*`, `*-reasoner`), to quirks that are laid over `quirks`. Of
            several that match, later ones are laid over earlier ones.
        catalogue: The vendor under whose name the catalogue has its models; empty means `name`.
        catalogue_prices: Whether models cost here what the catalogue says; else their prices are
            unknown.
        card: What is known of the model, in the row that `for_model` makes.
    """

    name: str
    base_url: str = ""
    api: str = OPENAI_CHAT
    key_env: tuple[str, ...] = ()
    key_required: bool = True
    auth_header: str = "authorization"
    auth_prefix: str = "Bearer "
    headers: dict[str, str] = field(default_factory=dict)
    quirks: dict[str, JsonValue] = field(default_factory=dict)
    models: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    catalogue: str = ""
    catalogue_prices: bool = True
    card: ModelCard | None = None

    def for_model(self, model: str, card: ModelCard | None = None) -> Endpoint:
        """Make the row of one model: `quirks` hold what `models` says of it.

        Args:
            model: Its id.
            card: What else is known of it.
        """
        quirks, name = self.quirks, model.lower()
        for pattern, differing in self.models.items():
            if fnmatchcase(name, pattern.lower()):
                quirks = {**quirks, **differing}
        return replace(self, quirks=quirks, models={}, card=card)
