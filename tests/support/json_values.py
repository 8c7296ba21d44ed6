"""Any text and any JSON value, odd ones included."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from agentkit_core import JsonValue

ODD_TEXTS = (
    "",
    " ",
    "  \n\t",
    "🙈 é \u4e2d",
    "line\u2028separator\u2029next\x85line",
    'quotes " and \\ back\\slashes \\u00e9',
    "\x00\x1f\x7f",
    "\ufeffmark",
    "\ufffd",
)
"""Texts that have broken parsers before, all of which UTF-8 can express."""

LONE = ("\ud800", "a\udc00b", "\ud83d\ude48", "\ud800\ud83d\ude48", "\udfff\ud800")
"""Texts that hold halves of surrogate pairs; some of them make a whole one."""


@cache
def texts() -> SearchStrategy[str]:
    """Any text that UTF-8 can express."""
    return st.one_of(st.text(max_size=20), st.sampled_from(ODD_TEXTS))


@cache
def odd_texts() -> SearchStrategy[str]:
    """Any text at all, lone surrogates included."""
    halves = st.characters(categories=["Cs", "Lu", "Nd"])
    return st.one_of(texts(), st.text(halves, max_size=6), st.sampled_from(LONE))


@cache
def json_values(text: SearchStrategy[str] | None = None) -> SearchStrategy[JsonValue]:
    """Any JSON value whose strings and keys are such texts."""
    strings = texts() if text is None else text
    leaves: SearchStrategy[JsonValue] = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**70), 2**70),
        st.floats(allow_nan=False, allow_infinity=False),
        strings,
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=4), st.dictionaries(strings, inner, max_size=4)
        ),
        max_leaves=8,
    )


@cache
def json_objects(text: SearchStrategy[str] | None = None) -> SearchStrategy[dict[str, JsonValue]]:
    """Any JSON object."""
    strings = texts() if text is None else text
    return st.dictionaries(strings, json_values(strings), max_size=5)
