"""Exceptions of the HTTP client, classified. Anything else is a mistake in the code and is raised.

Exceptions are recognized by the names of their classes, since clients of httpx's successors have
classes of their own under the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentkit_core import FailureKind

_KIND_OF_CLASS: Final[Mapping[str, FailureKind]] = {
    "ConnectTimeout": FailureKind.TIMEOUT,
    "PoolTimeout": FailureKind.TIMEOUT,
    "WriteTimeout": FailureKind.TIMEOUT,
    "ReadTimeout": FailureKind.TIMEOUT,
    "LocalProtocolError": FailureKind.INVALID_REQUEST,
    "TransportError": FailureKind.CONNECTION,  # of httpx; the next two are of httpcore
    "NetworkError": FailureKind.CONNECTION,
    "ProtocolError": FailureKind.CONNECTION,
    "OSError": FailureKind.CONNECTION,
    "BrokenResourceError": FailureKind.CONNECTION,
    "ClosedResourceError": FailureKind.CONNECTION,
    "EndOfStream": FailureKind.CONNECTION,
}
"""The kind of failure by the name of the exception's class, or of its nearest base class."""

_TROUBLE_OF_OTHERS: Final = frozenset(
    {
        *("TransportError", "ConnectionError", "TimeoutError", "Timeout", "gaierror"),
        *("ClientConnectionError", "ServiceRequestError", "ServiceResponseError"),
    }
)
"""Classes by which Python, httpx, requests, aiohttp and Azure's clients say that a service could
not be reached."""


def network_failure(error: Exception) -> FailureKind | None:
    """The kind of failure that an exception of the network means; None for other exceptions."""
    for name in _class_names(error):
        if name in _KIND_OF_CLASS:
            return _KIND_OF_CLASS[name]
    return None


def is_network_trouble(error: BaseException) -> bool:
    """Whether a service of the caller's could not be reached, so that another try may succeed.

    Unlike `network_failure`, a file that is missing is none.
    """
    return not _TROUBLE_OF_OTHERS.isdisjoint(_class_names(error))


def is_connect_error(error: Exception) -> bool:
    """Whether no connection could be opened."""
    return "ConnectError" in _class_names(error)


def is_connect_timeout(error: Exception) -> bool:
    """Whether opening a connection took too long."""
    return type(error).__name__ == "ConnectTimeout"


def is_not_http(error: Exception) -> bool:
    """Whether the server answered with something that is not HTTP.

    "Server disconnected …" is the same class of exception, but means a closed connection.
    """
    return "RemoteProtocolError" in _class_names(error) and "disconnected" not in str(error)


def is_closed_connection(error: Exception) -> bool:
    """Whether the exception looks like that of a connection which the server had closed."""
    return network_failure(error) is FailureKind.CONNECTION


def _class_names(error: BaseException) -> list[str]:
    return [cls.__name__ for cls in type(error).__mro__]
