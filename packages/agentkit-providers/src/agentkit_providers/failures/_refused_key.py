"""Whether a failure says that a key is not, or no longer, accepted.

    vendor                         says of an expired or wrong key
    OpenAI, most others            401 invalid_api_key, invalid_authentication, token_expired
    Anthropic                      401 authentication_error, also of an expired OAuth token
    Azure                          401 Unauthorized, "token is missing, invalid … or have expired"
    Google, with an API key        400 INVALID_ARGUMENT, reason API_KEY_INVALID
    Google, with a token           401 UNAUTHENTICATED, reason ACCESS_TOKEN_EXPIRED
    Amazon                         403 ExpiredTokenException

A key that is accepted and does not allow the request is forbidden (403), and another one of the
same account would not help.
"""

from __future__ import annotations

import re
from typing import Final

from agentkit_core import FailureKind, ProviderFailure

_EXPIRED: Final = re.compile(r"expire", re.IGNORECASE)
_FORBIDDEN: Final = re.compile(r"permission|forbidden|denied", re.IGNORECASE)


def refuses_key(failure: ProviderFailure) -> bool:
    """Whether another key may be accepted where this one was not."""
    if failure.status == 401:
        return True
    if failure.kind is not FailureKind.AUTH or failure.status == 407:
        return False
    words = f"{failure.type} {failure.code}"
    if _EXPIRED.search(f"{words} {failure.message}"):
        return True
    return failure.status != 403 and not _FORBIDDEN.search(words)
