"""Which key goes with a request.

The key is looked up at the first request, not before: the caller's key, else the first of the
endpoint's environment variables that is not empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from agentkit_core import AgentkitError
from agentkit_providers.model._headers import is_sendable
from agentkit_providers.model._secret import Secret, as_secret
from agentkit_providers.vendors._endpoint import Endpoint

KeySource = str | Secret | Callable[[], str | Secret]
"""A key, or a callable that returns one. The callable is called for every request, so that tokens
may expire."""


class MissingKey(AgentkitError):
    """A request needs a key, and there is none."""

    def __init__(self, provider: str, variables: tuple[str, ...]) -> None:
        names = " or ".join(variables)
        advice = f"set {names} in the environment, or pass api_key=…" if names else "pass api_key=…"
        super().__init__(f"no key for {provider!r}: {advice}")
        self.provider = provider
        self.variables = variables


class UnusableKey(AgentkitError):
    """A key has characters that an HTTP header cannot hold."""

    def __init__(self, provider: str) -> None:
        super().__init__(
            f"the key for {provider!r} has characters that an HTTP header cannot hold; "
            f"remove quotes, line ends or spaces that were copied with it"
        )
        self.provider = provider


class KeyRing:
    """Looks up the key of one endpoint, and keeps it.

    Args:
        endpoint: The endpoint that the key is for.
        source: The caller's key; None looks in the endpoint's environment variables.
    """

    def __init__(self, endpoint: Endpoint, source: KeySource | None) -> None:
        self._endpoint = endpoint
        self._source = as_secret(source) if isinstance(source, str) else source

    def key(self) -> Secret | None:
        """Look up the key.

        Returns:
            None where there is none, or an empty one.

        Raises:
            UnusableKey: An HTTP header cannot hold the key.
        """
        key = self._look_up()
        if not key:
            return None
        if not is_sendable(key.reveal()):
            raise UnusableKey(self._endpoint.name)
        return key

    def _look_up(self) -> Secret:
        source = self._source
        if source is None:
            values = (os.environ.get(name, "").strip() for name in self._endpoint.key_env)
            source = Secret(next(filter(None, values), ""))
            if source:
                self._source = source
        return source if isinstance(source, Secret) else as_secret(source())

    def missing_key(self) -> MissingKey:
        """Make the error that says where the key can be put."""
        return MissingKey(self._endpoint.name, self._endpoint.key_env)

    def __reduce__(self) -> tuple[type[KeyRing], tuple[Endpoint, None]]:
        # A copy in another process looks its key up again; the key itself is not written down.
        return KeyRing, (self._endpoint, None)
