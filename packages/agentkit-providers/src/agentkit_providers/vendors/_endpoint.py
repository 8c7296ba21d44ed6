"""One endpoint as data: where a protocol is served, with which key, and how the vendor differs."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from agentkit_core import JsonValue
from agentkit_providers._secrets._in_headers import mask_header
from agentkit_providers._secrets._in_urls import SecretUrl, has_secrets, mask_url
from agentkit_providers._secrets._secret import Secret
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
    """Where models are served: base URL, protocol, key, and how the vendor differs.

    An endpoint is data that is printed and stored, so it shows no secret that it is given: such an
    endpoint can be copied and changed, and not be written as JSON or pickled.

    Attributes:
        name: The word before the colon in `connect("openai:gpt-5-mini")`.
        base_url: The URL before the projection's paths; empty where the caller must pass one. A
            password or a key in it is masked, and `secret_url` has the whole.
        api: The protocol: `openai_chat`, or one that was registered with `Registry.register_api`.
        key_env: Environment variables that may hold the key; the first that is not empty is used.
        key_required: Whether a request without a key is refused before it is sent.
        auth_header: The header for the key.
        auth_prefix: The text before the key in that header.
        headers: Headers that are sent with every request: strings, and a `Secret` for each header
            that is not known to be harmless.
        quirks: How the vendor differs from the protocol's defaults, by the field names of the
            protocol's quirks type (`agentkit_providers.openai_chat.Quirks`); empty for not at all.
        models: How single models differ from the others: patterns of model ids (`qwen/*`,
            `*-reasoner`; case is ignored) to quirks that are merged over `quirks`. Where several
            patterns match, later ones win.
        catalogue: The vendor under whose name the catalogue has the models; empty means `name`.
        catalogue_prices: Whether the catalogue's prices are valid here; else prices are unknown.
        card: What is known of the model, in an endpoint that `for_model` made; None otherwise.
        secret_url: The base URL where a part of it is masked; None otherwise. It is made from
            `base_url` and not passed.
    """

    name: str
    base_url: str = ""
    api: str = OPENAI_CHAT
    key_env: tuple[str, ...] = ()
    key_required: bool = True
    auth_header: str = "authorization"
    auth_prefix: str = "Bearer "
    headers: dict[str, Any] = field(default_factory=dict)
    quirks: dict[str, JsonValue] = field(default_factory=dict)
    models: dict[str, dict[str, JsonValue]] = field(default_factory=dict)
    catalogue: str = ""
    catalogue_prices: bool = True
    card: ModelCard | None = None
    secret_url: Secret | None = None

    def __post_init__(self) -> None:
        headers = {name: mask_header(name, value) for name, value in self.headers.items()}
        if headers != self.headers:
            force_setattr(self, "headers", headers)
        known = self.secret_url
        if known is not None and self.base_url == str(known):
            return
        is_secret = has_secrets(self.base_url)
        force_setattr(self, "secret_url", SecretUrl(self.base_url) if is_secret else None)
        if is_secret:
            force_setattr(self, "base_url", mask_url(self.base_url))

    def for_model(self, model: str, card: ModelCard | None = None) -> Endpoint:
        """Make the endpoint of one model, whose `quirks` include those of `models`.

        Args:
            model: The model's id.
            card: What else is known of the model; None for nothing.
        """
        quirks, name = self.quirks, model.lower()
        for pattern, model_quirks in self.models.items():
            if fnmatchcase(name, pattern.lower()):
                quirks = {**quirks, **model_quirks}
        return replace(self, quirks=quirks, models={}, card=card)
