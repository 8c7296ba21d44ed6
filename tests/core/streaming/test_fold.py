"""The fold: fourteen rules, and what becomes of calls."""

import pytest

from agentkit_core import (
    Custom,
    File,
    InlineBytes,
    InlineText,
    JsonValue,
    Media,
    Modality,
    Part,
    Reasoning,
    Structured,
    Text,
    ToolCall,
    ToolCallId,
    Uri,
)
from agentkit_core.provider import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    DeltaOutOfOrder,
    Fold,
    PartId,
    ReplaceStructured,
    SetMetadata,
    complete_call,
    fold,
)

P, Q = PartId("p"), PartId("q")
CALL = ToolCall(ToolCallId("c1"), "look")
SOUND = Media(Modality.AUDIO, "audio/wav", InlineBytes(b""))
FILE = File(InlineBytes(b""), "text/plain", "a.txt")
TEXT, THOUGHT, VALUE, CUSTOM = Text(""), Reasoning(), Structured(None), Custom("a.b")


def begun(part: Part, *rest: Delta) -> list[Delta]:
    return [BeginPart(P, part), *rest]


# rule, deltas, what a lenient fold makes of them, why a strict one refuses (None: it does not)
RULES: list[tuple[str, list[Delta], tuple[Part, ...], str | None]] = [
    ("F1", [BeginPart(P, TEXT), BeginPart(Q, CALL), AppendText(P, "a")], (Text("a"), CALL), None),
    ("F2 open", begun(TEXT, AppendText(P, "a"), BeginPart(P, CALL)), (Text("a"),), "begun already"),
    (
        "F2 committed",
        begun(TEXT, CommitPart(Text("a"), P), BeginPart(P, CALL)),
        (Text("a"),),
        "begun already",
    ),
    ("F3 text", begun(Text("a"), AppendText(P, "b"), AppendText(P, "c")), (Text("abc"),), None),
    (
        "F3 reasoning",
        begun(THOUGHT, AppendText(P, "a"), AppendText(P, "b")),
        (Reasoning("ab"),),
        None,
    ),
    (
        "F3 call",
        begun(CALL, AppendText(P, '{"x"'), AppendText(P, ":1}")),
        (ToolCall(CALL.id, "look", {"x": 1}),),
        None,
    ),
    ("F4 structured", begun(VALUE, AppendText(P, "a")), (VALUE,), "takes no text"),
    ("F4 media", begun(SOUND, AppendText(P, "a")), (SOUND,), "takes no text"),
    ("F4 file", begun(FILE, AppendText(P, "a")), (FILE,), "takes no text"),
    ("F4 custom", begun(CUSTOM, AppendText(P, "a")), (CUSTOM,), "takes no text"),
    (
        "F5 media",
        begun(SOUND, AppendBytes(P, b"a"), AppendBytes(P, b"b")),
        (Media(Modality.AUDIO, "audio/wav", InlineBytes(b"ab")),),
        None,
    ),
    (
        "F5 file",
        begun(FILE, AppendBytes(P, b"a")),
        (File(InlineBytes(b"a"), "text/plain", "a.txt"),),
        None,
    ),
    (
        "F5 reasoning",
        begun(THOUGHT, AppendBytes(P, b"a")),
        (Reasoning(None, InlineBytes(b"a")),),
        None,
    ),
    (
        "F5 custom",
        begun(CUSTOM, AppendBytes(P, b"a")),
        (Custom("a.b", data=InlineBytes(b"a")),),
        None,
    ),
    (
        "F5 after text",
        begun(File(InlineText("é")), AppendBytes(P, b"a")),
        (File(InlineBytes("éa".encode())),),
        None,
    ),
    (
        "F5 after an address",
        begun(File(Uri("u")), AppendBytes(P, b"a")),
        (File(InlineBytes(b"a")),),
        None,
    ),
    ("F6 text", begun(TEXT, AppendBytes(P, b"a")), (TEXT,), "takes no bytes"),
    ("F6 call", begun(CALL, AppendBytes(P, b"a")), (CALL,), "takes no bytes"),
    ("F6 structured", begun(VALUE, AppendBytes(P, b"a")), (VALUE,), "takes no bytes"),
    (
        "F7 structured",
        begun(VALUE, ReplaceStructured(P, 1), ReplaceStructured(P, [2])),
        (Structured([2]),),
        None,
    ),
    ("F7 custom", begun(CUSTOM, ReplaceStructured(P, 1)), (Custom("a.b", 1),), None),
    (
        "F7 call",
        begun(CALL, AppendText(P, '{"x"'), ReplaceStructured(P, {"y": 2})),
        (ToolCall(CALL.id, "look", {"y": 2}),),
        None,
    ),
    (
        "F7 call, then text",
        begun(CALL, ReplaceStructured(P, {"y": 2}), AppendText(P, "{}")),
        (CALL,),
        None,
    ),
    ("F7 text", begun(TEXT, ReplaceStructured(P, 1)), (TEXT,), "has no value"),
    ("F7 call, no object", begun(CALL, ReplaceStructured(P, [1])), (CALL,), "must be an object"),
    (
        "F8",
        begun(
            Text("", metadata={"a": 1, "b": 1}),
            SetMetadata(P, {"b": 2, "c": 3}),
            SetMetadata(P, {"a": None, "z": None}),
        ),
        (Text("", metadata={"b": 2, "c": 3}),),
        None,
    ),
    ("F9 text", [AppendText(P, "x"), AppendText(P, "y")], (Text("xy"),), "no part with this id"),
    ("F9 bytes", [AppendBytes(P, b"x")], (), "no part with this id"),
    ("F9 value", [ReplaceStructured(P, 1)], (), "no part with this id"),
    ("F9 metadata", [SetMetadata(P, {})], (), "no part with this id"),
    ("F9 commit", [CommitPart(TEXT, P)], (), "no part with this id"),
    (
        "F10",
        [BeginPart(P, TEXT), BeginPart(Q, TEXT), AppendText(P, "x"), CommitPart(Text("a"), P)],
        (Text("a"), TEXT),
        None,
    ),
    ("F10 kind", begun(TEXT, CommitPart(CALL, P)), (CALL,), "cannot end as"),
    (
        "F11",
        [BeginPart(P, TEXT), CommitPart(Text("a")), AppendText(P, "b")],
        (Text("b"), Text("a")),
        None,
    ),
    (
        "F12 text",
        begun(TEXT, CommitPart(Text("a"), P), AppendText(P, "b")),
        (Text("a"),),
        "committed already",
    ),
    (
        "F12 bytes",
        begun(SOUND, CommitPart(SOUND, P), AppendBytes(P, b"b")),
        (SOUND,),
        "committed already",
    ),
    (
        "F12 value",
        begun(VALUE, CommitPart(VALUE, P), ReplaceStructured(P, 1)),
        (VALUE,),
        "committed already",
    ),
    (
        "F12 metadata",
        begun(TEXT, CommitPart(TEXT, P), SetMetadata(P, {"a": 1})),
        (TEXT,),
        "committed already",
    ),
    (
        "F12 commit",
        begun(TEXT, CommitPart(Text("a"), P), CommitPart(Text("b"), P)),
        (Text("a"),),
        "committed already",
    ),
    (
        "F13 unreadable",
        begun(CALL, AppendText(P, "[1]")),
        (ToolCall(CALL.id, "look", {}, "[1]", "not a JSON object but list"),),
        None,
    ),
    ("F14", begun(TEXT, AppendText(P, "a")), (Text("a"),), None),
]

rules = pytest.mark.parametrize(
    ("deltas", "parts", "refusal"), [row[1:] for row in RULES], ids=[row[0] for row in RULES]
)


@rules
def test_a_lenient_fold_keeps_the_rules(
    deltas: list[Delta], parts: tuple[Part, ...], refusal: str | None
) -> None:
    assert fold(deltas, strict=False) == parts


@rules
def test_a_strict_fold_keeps_the_rules_or_says_which_part_breaks_them(
    deltas: list[Delta], parts: tuple[Part, ...], refusal: str | None
) -> None:
    if refusal is None:
        assert fold(deltas) == parts
        return
    with pytest.raises(DeltaOutOfOrder, match=refusal) as caught:
        fold(deltas)
    assert caught.value.part_id == P
    assert repr(P) in str(caught.value)


def test_committed_parts_are_given_in_the_order_in_which_they_began() -> None:
    folding = Fold()
    folding.feed(BeginPart(P, TEXT))
    folding.feed(BeginPart(Q, TEXT))
    folding.feed(CommitPart(Text("q"), Q))
    assert folding.parts() == (Text("q"),)

    folding.feed(CommitPart(Text("p"), P))
    assert folding.parts() == (Text("p"), Text("q"))


def test_the_example_of_the_specification() -> None:
    deltas: list[Delta] = [
        BeginPart(P, TEXT), AppendText(P, "a"), BeginPart(Q, CALL), AppendText(Q, '{"x"'),
        AppendText(P, "b"), AppendText(Q, ":1}"), CommitPart(Text("ab"), P),
    ]  # fmt: skip

    assert fold(deltas) == (Text("ab"), ToolCall(CALL.id, "look", {"x": 1}))


@pytest.mark.parametrize("text", ["", "  \n", "null"])
def test_t07_no_arguments_are_the_empty_object(text: str) -> None:
    assert fold(begun(CALL, AppendText(P, text))) == (CALL,)
    assert fold(begun(CALL)) == (CALL,)


def test_t07_blank_text_does_not_wipe_arguments_that_came_at_once() -> None:
    whole = ToolCall(CALL.id, "look", {"x": 1})
    folding = Fold()
    for delta in begun(whole, AppendText(P, "")):
        folding.feed(delta)

    assert folding.partial() == folding.finish() == (whole,)


@pytest.mark.parametrize(
    "text", ['{"path":"a.txt"', '{"a"', "[]", "3", "NaN", '{"a":1}}', "{'a':1}"]
)
def test_t10_arguments_that_are_no_object_are_kept_raw_and_marked(text: str) -> None:
    (call,) = fold(begun(CALL, AppendText(P, text)))

    assert isinstance(call, ToolCall)
    assert call.input == {}
    assert call.raw_input == text
    assert call.input_error


def test_arguments_too_deep_for_any_tool_are_marked_and_do_not_exhaust_the_stack() -> None:
    text = '{"a":' * 5_000 + "1" + "}" * 5_000
    folding = Fold()
    for delta in begun(CALL, AppendText(P, text)):
        folding.feed(delta)
    folding.partial()
    (call,) = folding.finish()

    assert isinstance(call, ToolCall)
    assert call.raw_input == text
    assert "128" in str(call.input_error)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('{"t":"a\nb"}', {"t": "a\nb"}),
        (r'{"t":"\d+"}', {"t": r"\d+"}),
        (r'{"t":"\ud800"}', {"t": "\ufffd"}),
        ('{"t":"\ud83d\ude48\ud800"}', {"t": "🙈\ufffd"}),
    ],
)
def test_d08_what_models_write_by_mistake_in_strings_is_read_as_meant(
    text: str, arguments: JsonValue
) -> None:
    assert fold(begun(CALL, AppendText(P, text))) == (ToolCall(CALL.id, "look", arguments),)  # type: ignore[arg-type]


def test_t10_a_call_that_was_cut_off_is_marked_even_if_it_can_be_read() -> None:
    (call,) = fold(begun(CALL, AppendText(P, '{"path":"a.txt"}')), cut=True)

    assert isinstance(call, ToolCall)
    assert call.input == {}
    assert call.raw_input == '{"path":"a.txt"}'
    assert "before the arguments were complete" in str(call.input_error)
    assert call.metadata == {"agentkit.incomplete": True}


def test_a_call_that_was_cut_off_keeps_what_came_as_a_value() -> None:
    (call,) = fold(begun(CALL, ReplaceStructured(P, {"x": 1})), cut=True)

    assert isinstance(call, ToolCall)
    assert (call.input, call.raw_input) == ({}, '{"x":1}')


def test_w07_parts_that_were_open_when_the_stream_was_cut_say_so_and_others_do_not() -> None:
    deltas = [CommitPart(Text("whole")), *begun(TEXT, AppendText(P, "half"))]

    assert fold(deltas, cut=True) == (
        Text("whole"), Text("half", metadata={"agentkit.incomplete": True}),
    )  # fmt: skip
    assert fold(deltas) == (Text("whole"), Text("half"))


def test_what_is_worth_keeping_leaves_out_open_reasoning_and_calls_and_empty_text() -> None:
    folding = Fold()
    opened: list[Part] = [TEXT, TEXT, THOUGHT, CALL, SOUND]
    committed: list[Part] = [Reasoning("done"), ToolCall(CALL.id, "look", {"x": 1})]
    for number, part in enumerate(opened):
        folding.feed(BeginPart(PartId(str(number)), part))
    folding.feed(AppendText(PartId("1"), "half"))
    for part in committed:
        folding.feed(CommitPart(part))

    incomplete: dict[str, JsonValue] = {"agentkit.incomplete": True}
    assert folding.keepable() == (
        Text("half", metadata=incomplete),
        Media(Modality.AUDIO, "audio/wav", InlineBytes(b""), metadata=incomplete),
        *committed,
    )


def test_the_arguments_so_far_are_what_can_be_read_of_them() -> None:
    folding = Fold()
    received = list[JsonValue]()
    for delta in begun(
        CALL, *(AppendText(P, value) for value in ['{"a":"h', 'e","b', '":1', "2}"])
    ):
        folding.feed(delta)
        (call,) = folding.partial()
        assert isinstance(call, ToolCall)
        assert (call.raw_input, call.input_error) == (None, None)
        received.append(call.input)

    assert received == [{}, {"a": "h"}, {"a": "he"}, {"a": "he", "b": 1}, {"a": "he", "b": 12}]


def test_the_arguments_so_far_begin_anew_after_they_were_replaced() -> None:
    folding = Fold()
    received = list[JsonValue]()
    for delta in begun(
        CALL, AppendText(P, '{"a":'), ReplaceStructured(P, {"b": 1}), AppendText(P, '{"c":2}')
    ):
        folding.feed(delta)
        (call,) = folding.partial()
        assert isinstance(call, ToolCall)
        received.append(call.input)

    assert received == [{}, {}, {"b": 1}, {"c": 2}]


def test_complete_call_gives_a_call_its_arguments() -> None:
    assert complete_call(CALL, '{"x":1}') == ToolCall(CALL.id, "look", {"x": 1})
    assert complete_call(CALL, "") == CALL
