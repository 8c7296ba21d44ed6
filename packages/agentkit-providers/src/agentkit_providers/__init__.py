"""agentkit-providers: models over HTTP. Wire protocols, vendors as data, transport, replay.

Importing it loads no HTTP client and no protocol; the first model of a kind does.
"""

from agentkit_providers.endpoints import (
    Registry,
    UnknownApi,
    UnknownProvider,
    UnknownQuirk,
    default_registry,
)
from agentkit_providers.model import BadModelName, HttpModel, MissingBaseUrl, connect
from agentkit_providers.model._attempt import AttemptFailed, OnRetry
from agentkit_providers.model._auth import MissingKey, UnusableHeader, UnusableKey
from agentkit_providers.model._secret import Secret
from agentkit_providers.vendors._endpoint import Endpoint

__all__ = [
    "AttemptFailed",
    "BadModelName",
    "Endpoint",
    "HttpModel",
    "MissingBaseUrl",
    "MissingKey",
    "OnRetry",
    "Registry",
    "Secret",
    "UnknownApi",
    "UnknownProvider",
    "UnknownQuirk",
    "UnusableHeader",
    "UnusableKey",
    "connect",
    "default_registry",
]
