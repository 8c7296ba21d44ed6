import pytest

from agentkit_providers import Secret
from agentkit_providers._secrets._in_urls import (
    SecretUrl,
    has_secrets,
    mask_url,
    secrets_in_url,
    without_user,
)

KEY = "sk-test-SECRET123"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://h/v1", "http://h/v1"),
        ("http://h/v1?api-version=1&alt=sse", "http://h/v1?api-version=1&alt=sse"),
        (f"http://h/v1?key={KEY}&alt=sse", "http://h/v1?key=***&alt=sse"),
        (f"http://h?{KEY}", "http://h?***"),
        ("http://h?a&b=", "http://h?a&b="),
        (f"http://me:{KEY}@h:1/v1", "http://***@h:1/v1"),
        (f"http://{KEY}@h", "http://***@h"),
        (f"http://h/path@{KEY}", f"http://h/path@{KEY}"),
        ("", ""),
    ],
)
def test_vs16_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert mask_url(url) == shown
    assert has_secrets(url) is (url != shown)
    assert mask_url(shown) == shown
    assert f"{SecretUrl(url)}" == str(SecretUrl(url)) == shown
    assert repr(SecretUrl(url)) == f"SecretUrl({shown})"


def test_vs16_secrets_are_found_as_they_are_written_and_as_they_are_meant() -> None:
    found = secrets_in_url("http://me:pass%20word@h?key=a%2Fbcdefgh&api-version=2024-10-21&x=1")

    assert {"pass%20word", "pass word", "a%2Fbcdefgh", "a/bcdefgh"} <= set(found)
    assert not any("2024" in value for value in found)
    assert secrets_in_url("http://[h?key=abcdefgh") == ()


def test_vs16_a_user_is_taken_out_of_a_url() -> None:
    assert without_user("http://h:1/v1?a=b") == ("http://h:1/v1?a=b", None)
    assert without_user("http://me:p%40ss@h:1/v1?a=b") == (
        "http://h:1/v1?a=b",
        Secret("Basic bWU6cEBzcw=="),
    )
