"""Odd JSON values, and how to put them anywhere into an answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

ODD: list[Any] = [
    None, True, 0, -1, 2**64, 10**400, 1.5, "", "\ud83d", "text", "2024", [], {}, [None], [[]],
    [{}], ["text"], [1], {"type": 5}, {"": None}, {"text": 1},
    {"error": "x"}, {"message": {"a": []}},
    {"type": "\udc00", "id": [], "name": {}}, [{"type": "text", "text": "\ud83d"}],
    [{"index": {}, "id": {}, "function": []}],
]  # fmt: skip

any_json = st.one_of(
    st.sampled_from(ODD),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "text", "id", "index", "error", "name", "input", "delta"]),
                inner,
                max_size=3,
            )
        ),
        max_leaves=6,
    ),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """All places of a JSON value, the value itself first."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A value with another value at a place; all other places are shared with the old one."""
    if not path:
        return new
    key, *rest = path
    changed = value.copy()
    changed[key] = put(value[key], tuple(rest), new) if rest else new
    return changed
