import pytest

from agentkit_core import FailureKind, ProviderFailure
from agentkit_providers.failures._refused_key import refuses_key


@pytest.mark.parametrize(
    ("kind", "status", "code", "message", "refused"),
    [
        (FailureKind.AUTH, 401, None, "", True),
        (FailureKind.BILLING, 401, None, "", True),
        (FailureKind.AUTH, 400, "API_KEY_INVALID", "", True),
        (FailureKind.AUTH, None, "authentication_error", "", True),
        (FailureKind.AUTH, None, "permission_error", "", False),
        (FailureKind.AUTH, 403, None, "the security token has expired", True),
        (FailureKind.AUTH, 403, None, "not for this model", False),
        (FailureKind.AUTH, 407, None, "expired", False),
        (FailureKind.INVALID_REQUEST, 400, None, "the file has expired", False),
        (FailureKind.RATE_LIMIT, 429, None, "", False),
    ],
)
def test_vp15_a_key_is_refused_where_another_may_be_accepted(
    kind: FailureKind, status: int | None, code: str | None, message: str, refused: bool
) -> None:
    failure = ProviderFailure(kind=kind, message=message, status=status, code=code)

    assert refuses_key(failure) is refused
