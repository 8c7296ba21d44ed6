"""What a projection may have besides `encode` and `decoder`. `HttpModel` uses it where it is there.

A projection needs no base class: a method of the right name and signature is enough. That a
projection makes encoders is `agentkit_core.provider.IncrementalProjection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from agentkit_core import MetadataMap, ProviderFailure


@runtime_checkable
class FailureClassifier(Protocol):
    """A projection that classifies HTTP error responses itself."""

    def failure(
        self, status: int, headers: Mapping[str, str], body: bytes, *, now_s: float | None = None
    ) -> ProviderFailure:
        """Say what kind of failure an HTTP error response is.

        Without this method, error responses are read as most providers write them.

        Args:
            status: The HTTP status, not one from 200 to 299.
            headers: The response's headers, names in lower case.
            body: The body; cut where it is long, and without keys that the provider repeats in it.
            now_s: Seconds since 1970, to read waits that name a moment.
        """
        ...


@runtime_checkable
class ServiceTierReader(Protocol):
    """A projection that knows in which service tier a response was given."""

    def service_tier(self, metadata: MetadataMap) -> str | None:
        """Read the service tier, on which the price may depend.

        Without this method, the price of the standard tier is taken.

        Args:
            metadata: The metadata of the response's last event.

        Returns:
            The vendor's word; None where the response does not say.
        """
        ...


@runtime_checkable
class PendingReader(Protocol):
    """A projection whose responses may wait for something that this package does not do."""

    def pending(self, metadata: MetadataMap) -> ProviderFailure | None:
        """Say what a complete response waits for, as the failure that it is for the caller.

        Without this method, complete responses are complete.

        Args:
            metadata: The metadata of the response's last event.

        Returns:
            The failure; None where nothing is awaited.
        """
        ...
