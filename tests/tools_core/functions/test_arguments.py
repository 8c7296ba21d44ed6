"""Arguments are decoded, almost fitting ones are mended, others told so that a model can act."""

from __future__ import annotations

import copy
import datetime
import enum
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import JsonValue
from agentkit_tools_core import FunctionTool, InvalidToolFunction, InvalidToolInput, tool


class Edit(msgspec.Struct):
    old: str
    count: int = 1


class Colour(enum.Enum):
    RED = "red"


class Options(TypedDict, total=False):
    deep: bool


class Model:
    """Stands for a class of pydantic's: it brings its schema, and checks by itself."""

    def __init__(self, x: int) -> None:
        self.x = x

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return {
            "type": "object",
            "description": "A class for many uses.",
            "properties": {"x": {"$ref": "#/$defs/X"}},
            "$defs": {"X": {"type": "integer"}},
        }

    @classmethod
    def model_validate(cls, value: Any) -> Model:
        if not isinstance(value, dict) or not isinstance(value.get("x"), int):
            raise ValueError("x must be an integer")
        return cls(value["x"])


def bound(function: FunctionTool[..., Any], value: Mapping[str, JsonValue]) -> dict[str, Any]:
    """Bind, and check that what was given is left as it was."""
    before = copy.deepcopy(value)
    decoded = function.bind(value)
    assert value == before
    return decoded


@tool
def structured(tags: list[str], opt: dict[str, int], note: str, n: int) -> None:
    """Take a bit of everything."""


def test_s06_structures_sent_as_text_are_read_and_real_text_is_left_alone() -> None:
    value = {"tags": '["a"]', "opt": '{"k":1}', "note": "[1]", "n": "7"}

    assert bound(structured, value) == {"tags": ["a"], "opt": {"k": 1}, "note": "[1]", "n": 7}


def test_s06_strict_arguments_are_taken_as_they_are() -> None:
    @tool(strict_arguments=True)
    def strict(tags: list[str], n: int = 1) -> None: ...

    with pytest.raises(InvalidToolInput) as caught:
        strict.bind({"tags": '["a"]', "n": "7"})

    assert caught.value.paths == ("tags", "n")
    assert bound(strict, {"tags": [], "n": None}) == {"tags": []}


@pytest.mark.parametrize(
    ("kind", "argument", "wanted"),
    [
        (int, "7", 7),
        (int, " 7 ", 7),
        (int, 7.0, 7),
        (float, "1.5", 1.5),
        (bool, "true", True),
        (bool, 0, False),
        (str, 12345, "12345"),
        (str, True, "true"),
        (int | None, "null", None),
        (list[int], "[1, 2]", [1, 2]),
        (list[int], ["1", 2], [1, 2]),
        (dict[str, int], {"a": "1", "b": 2}, {"a": 1, "b": 2}),
        (dict[str, list[int]], '{"a": "[1]"}', {"a": [1]}),
        (list[Edit], '[{"old": "x", "count": "2"}]', [Edit("x", 2)]),
        (list[Edit], [{"old": "x", "count": None}], [Edit("x")]),
        (Edit | list[int], "[3]", [3]),
        (set[int], "[1]", {1}),
        (Options, '{"deep": "true"}', {"deep": True}),
    ],
)
def test_s06_what_almost_fits_is_mended_at_any_depth(kind: Any, argument: Any, wanted: Any) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = kind

    assert bound(tool(function), {"value": argument}) == {"value": wanted}


@pytest.mark.parametrize(
    ("kind", "argument"),
    [
        (int, "seven"),
        (int, 7.5),
        (int, "7.5"),
        (float, "nan"),
        (float | None, "-Infinity"),
        (float, "1e999"),
        (Annotated[float, msgspec.Meta(le=100)], "nan"),
        (bool, 2),
        (list[int], "{}"),
        (list[int], "not JSON"),
        (list[str], "a"),
        (list[int], '["a"]'),
        (dict[str, int], '{"a": "b"}'),
        (Edit, {"old": None}),
        (Edit, {}),
        (str, None),
        (str, []),
        (Literal["a", "b"], "c"),
        (Colour, "blue"),
        (datetime.date, "tomorrow"),
        (Annotated[int, msgspec.Meta(ge=1)], 0),
        (Annotated[int, msgspec.Meta(ge=1)], "0"),
    ],
)
def test_s06_what_does_not_fit_is_not_bent(kind: Any, argument: Any) -> None:
    def function(value: Any) -> None: ...

    function.__annotations__["value"] = kind

    with pytest.raises(InvalidToolInput):
        bound(tool(function), {"value": argument})


def test_a_null_that_cannot_be_left_out_is_told_as_the_null_it_is() -> None:
    @tool
    def edit(change: Edit) -> None: ...

    with pytest.raises(InvalidToolInput, match=r"change\.old: Expected `str`, got `null`"):
        edit.bind({"change": {"old": None}})


@tool
def optional(q: str, n: int = 5, unit: Literal["c", "f"] | None = None, deep: bool = False) -> None:
    """Take options."""


def test_s10_null_for_an_optional_parameter_means_not_given() -> None:
    value: dict[str, JsonValue] = {"q": "x", "n": None, "unit": None, "deep": None}

    assert bound(optional, value) == {"q": "x", "unit": None}


def test_s10_null_for_a_required_parameter_names_it() -> None:
    with pytest.raises(InvalidToolInput) as caught:
        optional.bind({"q": None})

    assert caught.value.paths == ("q",)


def test_s10_the_schema_says_nullable_only_where_none_is_allowed() -> None:
    properties: Any = optional.spec.input_schema["properties"]

    assert properties["n"] == {"type": "integer", "default": 5}
    assert properties["deep"] == {"type": "boolean", "default": False}
    assert {"type": "null"} in properties["unit"]["anyOf"] or None in properties["unit"]["enum"]
    assert optional.spec.input_schema["required"] == ["q"]


def test_t20_an_error_lists_every_place_and_shows_what_came() -> None:
    with pytest.raises(InvalidToolInput) as caught:
        structured.bind({"tags": [1, []], "opt": {"k": []}, "extra": 1})

    assert caught.value.paths == ("tags.1", "opt.*", "note", "n", "extra")
    assert str(caught.value) == (
        'Validation failed for tool "structured":\n'
        "  - tags.1: Expected `str`, got `array`\n"
        "  - opt.*: Expected `int`, got `array`\n"
        "  - note: is required\n"
        "  - n: is required\n"
        "  - extra: is not a parameter (there are: tags, opt, note, n)\n"
        "\n"
        "Received arguments:\n"
        '{\n  "tags": [\n    1,\n    []\n  ],\n  "opt": {\n    "k": []\n  },\n  "extra": 1\n}'
    )


class Unit(enum.StrEnum):
    CELSIUS = "c"
    FAHRENHEIT = "f"


Many: Any = enum.Enum("Many", [(f"M{number}", f"m{number}") for number in range(30)])  # type: ignore[misc]
TWENTY = ", ".join(f'"m{number}"' for number in range(20))


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Literal["c", "f"], '; use one of "c", "f"'),
        (Literal["c", 2], '; use one of "c", 2'),
        (Unit, '; use one of "c", "f"'),
        (Unit | None, '; use one of "c", "f"'),
        (Annotated[Unit, "The unit."], '; use one of "c", "f"'),
        (Many, f"; use one of {TWENTY}, …"),
    ],
)
def test_t20_an_error_about_a_word_says_which_words_there_are(kind: Any, words: str) -> None:
    def probe(unit: Any) -> None: ...

    probe.__annotations__["unit"] = kind
    with pytest.raises(InvalidToolInput) as caught:
        tool(probe).bind({"unit": "k"})
    assert str(caught.value).split("\n")[1] == f"  - unit: Invalid enum value 'k'{words}"


def test_t20_at_most_five_places_are_listed() -> None:
    with pytest.raises(InvalidToolInput) as caught:
        structured.bind({f"x{n}": n for n in range(6)})

    lines = str(caught.value).splitlines()
    assert sum(line.startswith("  - ") for line in lines) == 5
    assert "  … and 5 more" in lines
    assert len(caught.value.paths) == 10


def test_c05_a_missing_field_is_named_below_its_parent() -> None:
    @tool
    def edit(edits: list[Edit]) -> None: ...

    with pytest.raises(InvalidToolInput) as caught:
        edit.bind({"edits": [{"old": "x"}, {}]})

    assert caught.value.paths == ("edits.1.old",)


def test_a_long_echo_is_cut() -> None:
    with pytest.raises(InvalidToolInput) as caught:
        structured.bind({"note": "x" * 100_000})

    assert len(str(caught.value)) < 3_000


def test_text_that_utf8_cannot_express_is_told_all_the_same() -> None:
    with pytest.raises(InvalidToolInput) as caught:
        structured.bind({"\ud800": "\udfff"})

    assert str(caught.value).encode()


def test_a_tool_may_change_its_arguments_without_changing_the_call() -> None:
    @tool
    def change(options: dict[str, Any], anything: Any) -> None: ...

    value: dict[str, JsonValue] = {"options": {"a": [1]}, "anything": {"b": [2]}}
    decoded = change.bind(value)
    decoded["options"]["a"].append(2)
    decoded["anything"]["b"].append(3)

    assert value == {"options": {"a": [1]}, "anything": {"b": [2]}}


def test_a_default_that_is_no_json_is_not_shown_but_used() -> None:
    marker = object()

    @tool
    def use(value: Any = marker) -> bool:
        return value is marker

    assert use.spec.input_schema["properties"] == {"value": {}}
    assert use.invoke(use.bind({}), None) is True  # type: ignore[arg-type]


def test_types_of_every_day_are_decoded() -> None:
    @tool
    def many(
        colour: Colour,
        day: datetime.date,
        options: Options,
        edit: Edit | None,
        pair: tuple[int, str] = (1, "a"),
    ) -> None: ...

    value: dict[str, JsonValue] = {
        "colour": "red",
        "day": "2026-01-02",
        "options": {"deep": True},
        "edit": {"old": "x"},
        "pair": [2, "b"],
    }
    assert bound(many, value) == {
        "colour": Colour.RED,
        "day": datetime.date(2026, 1, 2),
        "options": {"deep": True},
        "edit": Edit("x"),
        "pair": (2, "b"),
    }
    properties: Any = many.spec.input_schema["properties"]
    assert properties["pair"]["default"] == [1, "a"]


def test_a_class_that_brings_its_own_schema_is_decoded_by_itself() -> None:
    @tool
    def take(model: Model, more: Model | None = None) -> None:
        """Take.

        Args:
            model: What to take.
        """

    schema: Any = take.spec.input_schema
    assert schema["properties"]["model"]["properties"] == {"x": {"$ref": "#/$defs/X"}}
    assert schema["properties"]["model"]["description"] == "What to take."
    assert schema["$defs"] == {"X": {"type": "integer"}}
    assert bound(take, {"model": {"x": 3}})["model"].x == 3
    assert bound(take, {"model": '{"x": 3}'})["model"].x == 3
    with pytest.raises(InvalidToolInput, match="model: x must be an integer"):
        take.bind({"model": {}})


def test_s03_a_schema_that_refers_to_itself_keeps_its_definitions_at_the_top() -> None:
    schema: Any = walk.spec.input_schema

    assert schema["properties"]["tree"]["$ref"] == "#/$defs/Tree"
    assert schema["$defs"]["Tree"]["properties"]["kids"]["items"] == {"$ref": "#/$defs/Tree"}


class Tree(msgspec.Struct):
    kids: list[Tree] = []


@tool
def walk(tree: Tree) -> None:
    """Walk."""


def test_a_type_that_json_cannot_become_is_refused_with_its_parameter() -> None:
    def function(fine: int, odd: Any) -> None: ...

    function.__annotations__["odd"] = set[complex] | list[int]
    with pytest.raises(InvalidToolFunction) as caught:
        tool(function)

    assert caught.value.parameter == "odd"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@tool
def anything(edits: list[Edit], n: int = 1, names: dict[str, str] | None = None) -> None:
    """Take anything."""


names = st.sampled_from(["edits", "n", "names", "other"])


@given(st.dictionaries(names, json_values))
def test_any_arguments_fit_or_are_told(argument: dict[str, JsonValue]) -> None:
    before = copy.deepcopy(argument)
    paths: tuple[str, ...] = ()
    try:
        decoded = anything.bind(argument)
    except InvalidToolInput as error:
        decoded, paths = {"edits": ()}, error.paths
    assert paths or all(isinstance(value, Edit) for value in decoded["edits"])
    assert ("edits" in paths) >= ("edits" not in argument)
    assert argument == before


def scalars(text: str, count: int, share: float, deep: bool) -> None:
    """Take one of each."""


def fitting(text: Any, count: Any, share: Any, deep: Any) -> dict[str, Any]:
    return {"text": text, "count": count, "share": share, "deep": deep}


SCALARS = [
    fitting("a", 1, 1.5, True),
    fitting("ä\U0001f600", -(2**63), -0.0, False),
    fitting("", 2**63 - 1, 1e308, True),
]
OTHERS = [
    {"count": 1, "text": "a", "share": 1.5, "deep": True},
    fitting("\ud83d", 1, 1.5, True),
    fitting("a", 2**63, 1.5, True),
    fitting("a", 2**70, 1.5, True),
    fitting("a", True, 1.5, True),
    fitting("a", 1, 2, True),
    fitting("a", 1, float("nan"), True),
    fitting("a", 1, float("inf"), True),
    fitting("a", 1, 1.5, 1),
    fitting("a", "1", "1.5", "true"),
    {**fitting("a", 1, 1.5, True), "more": 1},
    {"text": "a"},
]


@pytest.mark.parametrize("arguments", SCALARS, ids=range(len(SCALARS)))
def test_arguments_that_are_what_the_function_takes_are_not_converted(
    arguments: dict[str, Any],
) -> None:
    scalar = tool(scalars)

    assert scalar.normalize(arguments) is arguments
    assert scalar.bind(arguments) == arguments
    assert scalar.bind(arguments) is not arguments


@pytest.mark.parametrize("arguments", SCALARS + OTHERS, ids=range(len(SCALARS + OTHERS)))
def test_arguments_become_the_same_whether_or_not_they_need_a_conversion(
    arguments: dict[str, Any],
) -> None:
    direct, converting = tool(scalars), tool(scalars)
    converting._arguments._scalars = None

    def outcome(of: FunctionTool[..., Any]) -> str:
        try:
            return repr((of.normalize(arguments), of.bind(arguments)))
        except InvalidToolInput as error:
            return error.message

    assert outcome(direct) == outcome(converting)
