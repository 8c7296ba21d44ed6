"""A name that is nearly right is answered with the nearest ones, in one line (VU09)."""

import pytest

from agentkit_providers import UnknownProvider, UnknownQuirk, connect
from agentkit_providers.endpoints import default_registry


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("opnai", "openai"), ("OpenAI", "openai"), ("antropic", "anthropic"), ("gogle", "google")],
)
def test_vu09_the_nearest_provider_is_named_and_not_all_of_them(name: str, nearest: str) -> None:
    with pytest.raises(UnknownProvider, match=f"did you mean .*'{nearest}'") as raised:
        connect(f"{name}:some-model")

    text = str(raised.value)
    assert len(text) < 250
    assert "\n" not in text
    assert raised.value.known == default_registry.names()


def test_vu09_where_no_name_is_near_all_are_listed() -> None:
    with pytest.raises(UnknownProvider) as raised:
        connect("zzzzqqqq:some-model")

    assert all(name in str(raised.value) for name in default_registry.names())


def test_vu09_quirks_have_a_nearest_name_too() -> None:
    assert "'max_tokens_field'" in str(UnknownQuirk(("max_token_field",), ("max_tokens_field",)))
