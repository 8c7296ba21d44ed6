"""Docstrings give a description and the texts of parameters, whatever their layout."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_tools_core._functions._docstring import read_docstring

GOOGLE = """Find people.

    Looks in all offices.

    Args:
        name: Who to find,
            by any part of the name.
        limit (int, optional): How many: at most 50.
        kinds (dict[str, tuple[int, ...]]): Which kinds.

    Returns:
        A list of people.
    """
NO_BLANK_BEFORE = """Find people.
    Looks in all offices.
    Args:
        name: Who to find, by any part of the name.
        limit: How many: at most 50.
        kinds: Which kinds.
    Returns:
        A list of people.
    """
BLANK_AFTER_HEADER = """Find people.

    Looks in all offices.

    Args:

        name: Who to find, by any part of the name.

        limit: How many: at most 50.
        kinds: Which kinds.

    Returns:
        A list of people.
    """
PARAMETERS_WORD = GOOGLE.replace("Args:", "Parameters:")
NEXT_LINE = """Find people.

    Looks in all offices.

    Arguments:
        name:
            Who to find, by any part of the name.
        limit (int):
            How many: at most 50.
        kinds: Which
            kinds.

    Returns:
        A list of people.
    """
NUMPY = """Find people.

    Looks in all offices.

    Parameters
    ----------
    name : str
        Who to find,
        by any part of the name.
    limit : int, optional
        How many: at most 50.

    kinds
        Which kinds.

    Returns
    -------
    A list of people.
    """
SPHINX = """Find people.

    Looks in all offices.

    :param name: Who to find,
        by any part of the name.
    :type name: str
    :param int limit: How many: at most 50.
    :param dict[str, int] kinds: Which kinds.
    :returns: A list of people.
    """


@pytest.mark.parametrize(
    "text",
    [GOOGLE, NO_BLANK_BEFORE, BLANK_AFTER_HEADER, PARAMETERS_WORD, NEXT_LINE, NUMPY, SPHINX],
    ids=["google", "no blank before", "blank after", "parameters", "next line", "numpy", "sphinx"],
)
def test_s07_every_layout_gives_the_same_texts(text: str) -> None:
    result = read_docstring(text)

    assert result.parameters == {
        "name": "Who to find, by any part of the name.",
        "limit": "How many: at most 50.",
        "kinds": "Which kinds.",
    }
    assert result.description.startswith("Find people.")
    assert "Looks in all offices." in result.description
    assert "Who to find" not in result.description
    assert "A list of people." in result.description


def test_s07_a_docstring_may_begin_with_its_arguments() -> None:
    result = read_docstring("""
    Args:
        name: Who to find.
    """)

    assert result.parameters == {"name": "Who to find."}
    assert result.description == ""


def test_s07_the_header_may_stand_on_the_first_line() -> None:
    result = read_docstring("""Args:
        name: Who to find.
        limit: How many.
    """)

    assert result.parameters == {"name": "Who to find.", "limit": "How many."}


@pytest.mark.parametrize(
    "text",
    [
        "Pass Args: by name.\n\nThe word Args: in the middle of a line is prose.",
        "It ends with the word\nArgs:\nand goes on.",
        "Parameters\nare not underlined here.",
        "Args:\nThere is no entry in here, only prose.",
        "Do.\nArgs:\n    There is no entry in here, only prose.",
    ],
)
def test_s07_prose_that_speaks_of_args_stays_prose(text: str) -> None:
    result = read_docstring(text)

    assert result.parameters == {}
    assert result.description == text


def test_numpy_names_that_share_a_text_each_have_it() -> None:
    result = read_docstring("Add.\n\nParameters\n----------\na, b : int\n    A number.\n")

    assert result.parameters == {"a": "A number.", "b": "A number."}
    assert result.description == "Add."


def test_the_code_after_a_sphinx_field_is_no_part_of_it() -> None:
    result = read_docstring("Do.\n\n:param x: The x.\n\nMore about it.")

    assert result.parameters == {"x": "The x."}
    assert result.description == "Do.\n\nMore about it."


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    result = read_docstring(text)

    assert (result.description, result.parameters) == ("", {})


LINES = st.sampled_from(
    ["Args:", "    x: y", "x : int", "Parameters", "----------", ":param x: y", "prose", "", "    "]
)


@given(st.lists(LINES).map("\n".join) | st.text())
def test_any_text_can_be_read(text: str) -> None:
    result = read_docstring(text)

    assert all(words.strip() for words in result.parameters.values())
