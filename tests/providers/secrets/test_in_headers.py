from base64 import b64encode

import pytest

from agentkit_providers import Secret
from agentkit_providers._secrets._in_headers import mask_header, may_hold_secret, secrets_in

KEY = "sk-test-SECRET123"


@pytest.mark.parametrize("name", ["x-api-key", "Authorization", "Cookie", "x-own", "X-Tenant"])
def test_vs16_all_headers_are_masked_but_those_that_are_known_to_be_harmless(name: str) -> None:
    assert mask_header(name, KEY) == Secret(KEY)
    assert mask_header("X-Title", "My program") == "My program"
    assert mask_header("x-title", Secret("My program")) == "My program"


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("authorization", f"Bearer {KEY}", (KEY,)),
        ("authorization", Secret(f"bearer  {KEY}"), (KEY,)),
        ("x-api-key", KEY, (KEY,)),
        ("cookie", f"session={KEY}; theme=dark", (f"session={KEY}; theme=dark",)),
        ("x-own", "two words here", ("two words here",)),
        ("x-own", "EMPTY", ()),
        ("accept", "application/json", ()),
        ("authorization", "Basic %%%%%%%%%", ("%%%%%%%%%",)),
    ],
)
def test_vs16_what_no_failure_may_show_of_a_header(
    name: str, value: str | Secret, found: tuple[str, ...]
) -> None:
    assert secrets_in({name: value}) == found


def test_vs16_a_password_is_found_as_it_is_sent_and_as_it_is() -> None:
    encoded = b64encode(f"user:{KEY}".encode()).decode()

    assert secrets_in({"authorization": f"Basic {encoded}"}) == (encoded, f"user:{KEY}", KEY)


def test_vs16_a_name_says_whether_it_is_meant_for_a_secret() -> None:
    assert may_hold_secret("X-Goog-Api-Key")
    assert may_hold_secret("proxy-authorization")
    assert not may_hold_secret("api-version")
