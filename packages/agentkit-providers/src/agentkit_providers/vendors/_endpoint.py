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
    """Where models answer: address, protocol, key, and how this vendor differs."""

    name: str
    """The word before the colon in `connect("openai:gpt-5-mini")`."""
    base_url: str = ""
    """Up to where a projection's paths begin; empty means that the caller must give one."""
    api: str = OPENAI_CHAT
    """The protocol: `openai_chat`, or what was registered with `Registry.register_api`."""
    key_env: tuple[str, ...] = ()
    """Environment variables that may hold the key; the first that is not empty wins."""
    key_required: bool = True
    """Whether a request without a key is refused before it is sent."""
    auth_header: str = "authorization"
    """The header that carries the key."""
    auth_prefix: str = "Bearer "
    """What stands before the key in that header."""
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with every request; never a key."""
    quirks: dict[str, JsonValue] = field(default_factory=dict)
    """How the vendor's dialect differs, by the field names of the protocol's own quirks type
    (`agentkit_providers.openai_chat.Quirks`); empty means not at all."""
    models: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    """How single models differ from the rest: patterns of their ids, as in file names and
    whatever the case (`qwen/*`, `*-reasoner`), to quirks that are laid over `quirks`. Of several
    that match, later ones are laid over earlier ones."""
    catalogue: str = ""
    """The vendor under whose name the catalogue has its models; empty means `name`."""
    catalogue_prices: bool = True
    """Whether models cost here what the catalogue says; else their prices are unknown."""
    card: ModelCard | None = None
    """What is known of the model, in the row that `for_model` makes."""

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
