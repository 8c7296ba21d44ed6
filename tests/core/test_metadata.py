"""Metadata belongs to the owner that its key begins with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import JsonValue, foreign_metadata, metadata_of, metadata_owner
from support.json_values import json_objects

KEYS = st.sampled_from(["agentkit", "agentkit.x", "agentkitten.x", "openai.id", "x.y.z", ""])


@pytest.mark.parametrize(
    ("key", "owner"),
    [("openai_chat.reasoning", "openai_chat"), ("x.y.z", "x"), ("alone", "alone"), ("", "")],
)
def test_the_owner_is_what_stands_before_the_first_dot(key: str, owner: str) -> None:
    assert metadata_owner(key) == owner


def test_tools_and_providers_cannot_set_what_is_reserved() -> None:
    given = {"agentkit.tool.not_started": True, "agentkit": 1, "x.y": 1, "agentkitten.a": 2}

    assert foreign_metadata(given) == {"x.y": 1, "agentkitten.a": 2}


@given(json_objects(KEYS))
def test_metadata_is_the_sum_of_what_its_owners_have(metadata: dict[str, JsonValue]) -> None:
    before = dict(metadata)
    owners = {metadata_owner(key) for key in metadata}
    parts = [metadata_of(owner, metadata) for owner in owners]

    assert {key: one for part in parts for key, one in part.items()} == metadata
    assert sum(map(len, parts)) == len(metadata)
    assert foreign_metadata(metadata) == {
        key: one for key, one in metadata.items() if key not in metadata_of("agentkit", metadata)
    }
    assert metadata == before
