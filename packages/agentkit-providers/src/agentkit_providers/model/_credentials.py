"""What a model sends to be let in: its key, the caller's headers, and what its URL holds.

All of it is kept masked, and opened here only, when a call is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from agentkit_providers._secrets._in_headers import may_hold_secret
from agentkit_providers._secrets._in_urls import (
    SecretUrl,
    has_secrets,
    mask_url,
    secrets_in_url,
    without_user,
)
from agentkit_providers._secrets._secret import Secret, revealed
from agentkit_providers.model._auth import KeyRing, KeySource, UnusableKey, check_source
from agentkit_providers.model._headers import Headers, HeaderValue, check_headers, merge_headers
from agentkit_providers.model._urls import check_base_url, join_url
from agentkit_providers.vendors._endpoint import Endpoint

if TYPE_CHECKING:
    from agentkit_providers.model._key_function import KeyFunction
    from agentkit_providers.transport._call import Call

_AUTHORIZATION: Final = "authorization"
_TWO_KEYS: Final = (
    "base_url has a user or a password, which is sent in the same header (authorization) as the "
    "one in api_key= or headers=; pass one of the two"
)


class Credentials:
    """The key, the headers and the URL of one model.

    Args:
        endpoint: Where the model is served.
        api_key: The caller's key, or a function that gives it; None looks in the endpoint's
            environment variables.
        base_url: Replaces the endpoint's; None keeps it.
        headers: Headers that win over all others, the key's included; None removes one.

    Raises:
        MissingBaseUrl: There is no base URL, or it is not valid.
        UnusableHeader: An HTTP header cannot hold one of the values of `headers`.
        UnusableKey: `api_key` is neither a key nor a function, or its header gets two keys.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        api_key: KeySource | None,
        base_url: str | None,
        headers: Headers | None,
    ) -> None:
        self._endpoint = endpoint
        self._caller_headers = check_headers({} if headers is None else headers)
        self._endpoint_headers = check_headers(endpoint.headers)
        whole = base_url or revealed(endpoint.secret_url or endpoint.base_url)
        whole = check_base_url(endpoint.name, whole)
        url, user = without_user(whole)
        self._url: str | Secret = SecretUrl(url) if has_secrets(url) else url
        self.base_url = mask_url(whole)
        """Where the endpoint's paths begin, masked where it holds secrets."""
        check_source(endpoint.name, api_key)
        self._key_header = endpoint.auth_header.lower()
        self._user: dict[str, HeaderValue] = {} if user is None else {_AUTHORIZATION: user}
        if user is not None:
            key_header = None if api_key is None else self._key_header
            if _AUTHORIZATION in (key_header, *self._caller_headers):
                raise UnusableKey(endpoint.name, _TWO_KEYS)
        self._is_key_sent = self._key_header not in (*self._caller_headers, *self._user)
        self._has_other_key = any(map(may_hold_secret, self._caller_headers)) or (
            user is not None or bool(secrets_in_url(url))
        )
        self.function: KeyFunction | None = None
        """Gives the key of each request; None where the key is known or not needed."""
        key = api_key if isinstance(api_key, str | Secret) else None
        self._keys = KeyRing(endpoint, key)
        if api_key is not None and key is None and self._is_key_sent:
            from agentkit_providers.model._key_function import KeyFunction

            self.function = KeyFunction(endpoint.name, api_key)  # type: ignore[arg-type]

    def url(self, path: str) -> str:
        """The whole URL of a request, with its secrets."""
        return join_url(revealed(self._url), path)

    def headers(self, own: Headers, protocol: Headers) -> dict[str, str]:
        """All headers of a request.

        Of headers with one name, the last of this order is sent: the HTTP call's, the endpoint's,
        the protocol's, the user of the URL, the key, the caller's.

        Args:
            own: Those of the HTTP call.
            protocol: Those of the projection.

        Returns:
            The headers with their secrets, and with the key unless a function gives it.

        Raises:
            MissingKey: The endpoint needs a key and there is none.
            UnusableKey: An HTTP header cannot hold the key.
        """
        key: dict[str, HeaderValue] = {}
        if self._is_key_sent and self.function is None:
            known = self._keys.key()
            if known is not None:
                key[self._key_header] = self._endpoint.auth_prefix + known.reveal()
            elif self._endpoint.key_required and not self._has_other_key:
                raise self._keys.missing_key()
        merged = merge_headers(
            own, self._endpoint_headers, protocol, self._user, key, self._caller_headers
        )
        return {name: revealed(value) for name, value in merged.items()}

    def add_key(self, call: Call, key: Secret) -> None:
        """Put the key that a function gave into a call, in place of an earlier one."""
        call.headers[self._key_header] = self._endpoint.auth_prefix + key.reveal()
