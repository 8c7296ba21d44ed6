"""What our own client sends is what httpx would send; what it can't send so is left to httpx."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers.transport._wire_exchange import plain_target, readable_headers

HOSTS = st.sampled_from(
    ["h", "API.example.com", "127.0.0.1", "[::1]", "a_b-c.d", "xn--bcher-kva.de"]
)
PARTS = st.text("abzAZ09/.-_~!$&'()*+,;=:@%?#[]{}| \"<>\\^`é", max_size=12)


@given(
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "", "u@", "u:p@"]),
    HOSTS,
    st.sampled_from(["", ":80", ":443", ":8080", ":65535", ":99999", ":0", ":"]),
    PARTS,
)
def test_a_url_is_split_as_httpx_does_it(
    scheme: str, user: str, host: str, port: str, rest: str
) -> None:
    url = f"{scheme}://{user}{host}{port}/v1{rest}"
    target = plain_target(url)

    if target is not None:
        request = httpx.Request("POST", url)
        assert target.url.target == request.url.raw_path
        assert target.host_header.decode() == request.headers["host"]
        assert target.url.host == request.url.raw_host.strip(b"[]")
        assert (
            target.server[2] == request.url.port
            or target.server[2] == {"http": 80, "https": 443}[scheme]
        )
        assert not request.url.userinfo


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com/v1/chat/completions",
        "http://127.0.0.1:8080/v1/chat/completions",
        "http://[::1]:8080/x",
        "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        "https://a.openai.azure.com/openai/deployments/g/chat/completions?api-version=2024-10-21",
        "https://bedrock.example/model/us.anthropic.claude%3A0/invoke",
        "https://h/.well-known/x",
    ],
)
def test_usual_urls_are_sent_by_our_own_client(url: str) -> None:
    assert plain_target(url) is not None


@pytest.mark.parametrize(
    "url",
    [
        "http://user:password@h/",
        "http://bücher.de/",
        "http://h/a b",
        "http://h/a/../b",
        "http://h/a/.",
        "http://h/%zz",
        "http://h:0/",
        "http://h:70000/",
        "ftp://h/",
        "http://h/\r\nx: y",
        "http://h/x\n",
    ],
)
def test_a_url_that_must_be_changed_is_left_to_httpx(url: str) -> None:
    assert plain_target(url) is None


NAMES = st.sampled_from([b"A", b"a", b"Set-Cookie", b"x-request-id"])


@given(st.lists(st.tuples(NAMES, st.binary(max_size=5) | st.just("é".encode())), max_size=5))
def test_headers_of_a_response_are_read_as_httpx_does_it(raw: list[tuple[bytes, bytes]]) -> None:
    ours, theirs = readable_headers(raw), dict(httpx.Headers(raw))

    assert ours.keys() == theirs.keys()
    if all(value.isascii() for _, value in raw):
        assert ours == theirs
