"""Whether a body is the beginning of JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers._framing._json_prefix import begins_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(value=st.lists(values) | st.dictionaries(st.text(), values), ascii_only=st.booleans())
def test_vp27_every_proper_beginning_of_an_object_or_a_list_is_a_beginning(
    value: object, ascii_only: bool
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")

    for end in range(len(text)):
        assert begins_json(text[:end]), text[:end]
    assert not begins_json(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"a" 0', '{"a":0.x', '{"a":tx', '{"a":01', '{"a":.', '{a', "{]", "[}", '{"a":1}}', "{,",
        "[,",
        '{"a":1,}', '{"a"}', "[1 2", '{"a":+', '{"a":1.e', '{"a":--', "[] []", '{"a":1..',
    ],
)  # fmt: skip
def test_vp27_what_no_end_could_make_good_is_no_beginning(text: str) -> None:
    assert not begins_json(text.encode())
