"""Keys are removed from what failures say."""

from __future__ import annotations

import json

from agentkit_core import FailureKind
from agentkit_providers.failures._classify import classify_http
from agentkit_providers.failures._redact import redact, redact_failure

SECRET = "sk-test-SECRET123/+="


def test_z06_a_key_that_an_error_repeats_is_taken_out_everywhere() -> None:
    body = {"error": {"message": f"bad key {SECRET}", "code": SECRET, "url": f"?k={SECRET}"}}
    failure = redact_failure(classify_http(401, {}, json.dumps(body).encode()), [SECRET, ""])

    assert "SECRET123" not in repr(failure)
    assert "[secret]" in failure.message
    assert failure.kind is FailureKind.AUTH


def test_z06_a_key_is_found_in_its_url_spelling_and_the_longer_of_two_first() -> None:
    assert redact("?key=a%2Fb", ["a/b"]) == "?key=[secret]"
    assert redact("abcdef", ["abc", "abcdef"]) == "[secret]"
    assert redact("nothing", ["", "x"]) == "nothing"
