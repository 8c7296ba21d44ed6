"""Which key goes with a request.

The key is looked up at the first request, not before: the caller's key, else the first of the
endpoint's environment variables that is not empty.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from inspect import iscoroutine
from typing import Any, Final

from agentkit_core import AgentkitError
from agentkit_providers._secrets._secret import MASK, Secret, as_secret
from agentkit_providers.model._headers import is_sendable
from agentkit_providers.vendors._endpoint import Endpoint

KeySource = str | Secret | Callable[[], str | Secret | Awaitable[str | Secret]]
"""A key, or a function that gives one, sync or async. The function is called for every request, so
that tokens may expire."""

_CHARACTERS: Final = (
    "it has characters that an HTTP header cannot hold; remove quotes, line ends or spaces that "
    "were copied with it"
)


class MissingKey(AgentkitError):
    """A request needs a key, and there is none."""

    def __init__(self, provider: str, variables: tuple[str, ...]) -> None:
        names = " or ".join(variables)
        advice = (
            f"set {names} in the environment, or pass api_key=…"
            if names
            else "pass api_key=…, or key_required=False to the Endpoint if the server takes no key"
        )
        super().__init__(f"no key for {provider!r}: {advice}")
        self.provider = provider
        self.variables = variables


class UnusableKey(AgentkitError):
    """A key cannot be sent, or what should give it gives something else."""

    def __init__(self, provider: str, problem: str = _CHARACTERS) -> None:
        super().__init__(f"the key for {provider!r} cannot be used: {problem}")
        self.provider = provider
        self.problem = problem


def check_key(provider: str, key: Secret) -> Secret:
    """Check that a key can be sent.

    Raises:
        UnusableKey: An HTTP header cannot hold the key, or it is a mask.
    """
    if not is_sendable(key.reveal()):
        raise UnusableKey(provider)
    if key.reveal() == MASK:
        raise UnusableKey(provider, "it is the mask of a secret; pass the key itself")
    return key


def check_source(provider: str, source: Any) -> None:
    """Check what the caller passes as `api_key`, as far as that can be seen.

    Raises:
        UnusableKey: It is neither a string nor a `Secret` nor a function.
    """
    if source is None or isinstance(source, str | Secret) or callable(source):
        return
    if iscoroutine(source):
        source.close()  # else Python warns that nobody awaits it
        advice = "pass the async function itself, without calling it"
    elif isinstance(source, bytes | bytearray):
        advice = "decode it: api_key=key.decode()"
    else:
        advice = "pass a string, a Secret, or a function without arguments that gives one"
    raise UnusableKey(provider, f"api_key= is a value of type {type(source).__name__}; {advice}")


class KeyRing:
    """Looks up the key of one endpoint, and keeps it.

    Args:
        endpoint: The endpoint that the key is for.
        key: The caller's key; None looks in the endpoint's environment variables.
    """

    def __init__(self, endpoint: Endpoint, key: Secret | str | None) -> None:
        self._endpoint = endpoint
        self._key = None if key is None else as_secret(key)
        self._found: Secret | None = None

    def key(self) -> Secret | None:
        """Look up the key.

        Returns:
            None where there is none, or an empty one.

        Raises:
            UnusableKey: An HTTP header cannot hold the key.
        """
        key = self._found if self._key is None else self._key
        if key is None and (text := self._in_environment()):
            key = self._found = Secret(text)
        return check_key(self._endpoint.name, key) if key else None

    def _in_environment(self) -> str:
        values = (os.environ.get(name, "").strip() for name in self._endpoint.key_env)
        return next(filter(None, values), "")

    def missing_key(self) -> MissingKey:
        """Make the error that says where the key can be put."""
        return MissingKey(self._endpoint.name, self._endpoint.key_env)

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process looks into the environment again; a caller's key refuses this.
        return {**vars(self), "_found": None}
