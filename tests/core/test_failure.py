"""A failure is a value that says what happened, in a line and in fields."""

from hypothesis import given

from agentkit_core import FailureKind, ProviderFailure, from_json, to_json
from support.items import failures


def test_a_failure_describes_itself_in_one_line() -> None:
    failure = ProviderFailure(
        kind=FailureKind.OVERLOADED,
        message="busy",
        status=529,
        code="overloaded_error",
        retry_after_s=3.0,
    )

    assert failure.describe() == "overloaded, HTTP 529, overloaded_error: busy (retry after 3 s)"


def test_a_code_that_repeats_the_status_is_said_once() -> None:
    failure = ProviderFailure(kind=FailureKind.AUTH, message="no", status=401, code="401")

    assert failure.describe() == "auth, HTTP 401: no"


def test_what_is_not_known_is_not_said() -> None:
    failure = ProviderFailure(kind=FailureKind.CONNECTION, message="gone")

    assert failure.describe() == "connection: gone"
    assert to_json(failure) == b'{"kind":"connection","message":"gone"}'


@given(failures())
def test_a_failure_is_plain_data(failure: ProviderFailure) -> None:
    assert from_json(to_json(failure), ProviderFailure) == failure
