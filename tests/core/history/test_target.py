"""What a target accepts, as data."""

import pytest

from agentkit_core import ItemKind, from_json, to_json
from agentkit_core.provider import IdRule, Target

ANY = IdRule(characters=None, max_length=None)
NINE = IdRule(characters="A-Za-z0-9", exact_length=9)


@pytest.mark.parametrize(
    ("rule", "good", "bad"),
    [
        (IdRule(), ["a", "A-Z_09", "x" * 64], ["", "a.b", "a|b", "é", "x" * 65, "a\n"]),
        (ANY, ["a.b", "é", "x" * 900], ["", "\ud800", "a\udc00"]),
        (NINE, ["abcDEF123"], ["", "abc", "abcDEF12_", "x" * 10]),
        (IdRule(characters=None, max_length=3), ["é.c"], ["abcd"]),
        (IdRule(first_characters="A-Za-z_"), ["a-1", "_", "Z9"], ["1a", "-a", "", "a.b"]),
    ],
)  # fmt: skip
def test_a_rule_accepts_by_characters_and_length(
    rule: IdRule, good: list[str], bad: list[str]
) -> None:
    assert all(map(rule.accepts, good))
    assert not any(map(rule.accepts, bad))


def test_a_target_is_data() -> None:
    target = Target(
        provider="p", api="a", model="m", kinds=frozenset({ItemKind.USER, ItemKind.ASSISTANT})
    )

    assert from_json(to_json(target), Target) == target
    assert hash(target) == hash(from_json(to_json(target), Target))
