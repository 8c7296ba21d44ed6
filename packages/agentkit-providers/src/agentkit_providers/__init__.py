"""agentkit-providers: models over HTTP. Wire protocols, vendors as data, transport, replay.

Importing it loads no HTTP client and no protocol; the first model of a kind does.
"""

from agentkit_providers._secrets._secret import Secret
from agentkit_providers.model._attempt import AttemptFailed, OnRetry
from agentkit_providers.model._auth import MissingKey, UnusableKey
from agentkit_providers.model._connect import BadModelName, connect
from agentkit_providers.model._headers import UnusableHeader
from agentkit_providers.model._http_model import HttpModel
from agentkit_providers.model._urls import MissingBaseUrl
from agentkit_providers.vendors._endpoint import Endpoint
from agentkit_providers.vendors._errors import UnknownProvider, UnknownQuirk

__version__ = "0.1.0"

__all__ = [
    "AttemptFailed",
    "BadModelName",
    "Endpoint",
    "HttpModel",
    "MissingBaseUrl",
    "MissingKey",
    "OnRetry",
    "Secret",
    "UnknownProvider",
    "UnknownQuirk",
    "UnusableHeader",
    "UnusableKey",
    "connect",
]
