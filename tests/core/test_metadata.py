"""Metadata belongs to the owner that its key begins with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import JsonValue, foreign_metadata
from agentkit_core._metadata import metadata_owner
from support.json_values import json_objects

KEYS = st.sampled_from(["agentkit", "agentkit.x", "agentkitten.x", "openai.id", "x.y.z", ""])


@pytest.mark.parametrize(
    ("key", "owner"),
    [("openai_chat.reasoning", "openai_chat"), ("x.y.z", "x"), ("alone", "alone"), ("", "")],
)
def test_the_owner_is_what_stands_before_the_first_dot(key: str, owner: str) -> None:
    assert metadata_owner(key) == owner


def test_tools_and_providers_cannot_set_what_is_reserved() -> None:
    value = {"agentkit.tool.not_started": True, "agentkit": 1, "x.y": 1, "agentkitten.a": 2}

    assert foreign_metadata(value) == {"x.y": 1, "agentkitten.a": 2}


@given(json_objects(KEYS))
def test_foreign_metadata_lack_the_reserved_owner_and_nothing_else(
    metadata: dict[str, JsonValue],
) -> None:
    before = dict(metadata)
    foreign = foreign_metadata(metadata)

    removed = {key for key in metadata if key not in foreign}
    assert removed == {key for key in metadata if metadata_owner(key) == "agentkit"}
    assert all(metadata[key] == value for key, value in foreign.items())
    assert metadata == before
