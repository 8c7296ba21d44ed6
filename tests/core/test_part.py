"""Parts: eight kinds, one spelling in JSON, frozen."""

from typing import get_args

import msgspec
import pytest

from agentkit_core import (
    ArtifactId,
    Custom,
    File,
    FilesOutput,
    Handle,
    InlineBytes,
    InlineText,
    Media,
    MisplacedPart,
    Modality,
    Part,
    PartsOutput,
    Reasoning,
    RecordError,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolFailure,
    ToolOutput,
    ToolResult,
    Uri,
    from_json,
    to_json,
)
from agentkit_core._part import PartKind

CALL_ID = ToolCallId("c1")
IMAGE = Media(Modality.IMAGE, "image/png", InlineBytes(b"\x00"))
NOTES = File(InlineText("notes"))
SPELLED: list[tuple[Part, str]] = [
    (Text("hi"), '{"type":"text","text":"hi"}'),
    (Text("hi", metadata={"a.b": 1}), '{"type":"text","text":"hi","metadata":{"a.b":1}}'),
    (
        Media(Modality.IMAGE, "image/png", InlineBytes(b"\x00\xff")),
        ('{"type":"media","modality":"image","mime_type":"image/png",'
        '"data":{"type":"bytes","data":"AP8="}}'),
    ),
    (File(Uri("https://a/b")), '{"type":"file","data":{"type":"uri","uri":"https://a/b"}}'),
    (
        File(Handle(ArtifactId("a1")), name="a.txt"),
        '{"type":"file","data":{"type":"handle","artifact_id":"a1"},"name":"a.txt"}',
    ),
    (Structured(None), '{"type":"structured","value":null}'),
    (Structured([1], {"type": "array"}),
     '{"type":"structured","value":[1],"schema":{"type":"array"}}'),
    (Reasoning(), '{"type":"reasoning"}'),
    (Reasoning("hm", InlineText("x"), redacted=True),
     '{"type":"reasoning","summary":"hm","data":{"type":"text","text":"x"},"redacted":true}'),
    (ToolCall(CALL_ID, "f"), '{"type":"tool_call","id":"c1","name":"f"}'),
    (ToolCall(CALL_ID, "f", {"a": None}),
     '{"type":"tool_call","id":"c1","name":"f","input":{"a":null}}'),
    (
        ToolResult(CALL_ID, TextOutput("ok")),
        '{"type":"tool_result","call_id":"c1","output":{"type":"text","text":"ok"}}',
    ),
    (
        ToolResult(CALL_ID, StructuredOutput([]), True, ToolFailure.TIMED_OUT, started=False),
        ('{"type":"tool_result","call_id":"c1","output":{"type":"structured","value":[]},'
        '"is_error":true,"failure":"timed_out","started":false}'),
    ),
    (Custom("a.b", {"c": 1}), '{"type":"custom","kind":"a.b","value":{"c":1}}'),
]  # fmt: skip


@pytest.mark.parametrize(("part", "spelled"), SPELLED, ids=lambda value: type(value).__name__)
def test_a_part_has_one_spelling_and_reads_back_equal(part: Part, spelled: str) -> None:
    assert to_json(part).decode() == spelled
    assert from_json(spelled, Part) == part


def test_every_kind_of_part_is_tagged_by_its_kind() -> None:
    tags = {part.__struct_config__.tag for part in get_args(Part)}

    assert tags == {kind.value for kind in PartKind}
    assert {type(part) for part, _ in SPELLED} == set(get_args(Part))


@pytest.mark.parametrize(
    "part", [part for part, _ in SPELLED], ids=lambda value: type(value).__name__
)
def test_a_part_cannot_be_changed(part: Part) -> None:
    with pytest.raises(AttributeError):
        part.metadata = {}  # type: ignore[misc]


def test_parts_do_not_share_the_metadata_that_nobody_gave() -> None:
    assert Text("a").metadata is not Text("b").metadata


@pytest.mark.parametrize(
    "inside", [ToolCall(CALL_ID, "f"), ToolResult(CALL_ID, TextOutput("x"))], ids=["call", "result"]
)
def test_the_output_of_a_tool_holds_no_calls_and_no_results(inside: Part) -> None:
    with pytest.raises(MisplacedPart) as caught:
        PartsOutput((Text("a"), inside))

    assert caught.value.kind == "tool output"
    stored = b'{"type":"parts","parts":[' + to_json(inside) + b"]}"
    with pytest.raises(RecordError):
        from_json(stored, ToolOutput)


@pytest.mark.parametrize(
    "output",
    [
        TextOutput(""),
        StructuredOutput(None),
        PartsOutput((Text("a"), Media(Modality.IMAGE, "", Uri("u")), Structured(1))),
        FilesOutput((File(InlineBytes(b"x"), "text/plain", "a.txt"),)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_any_form_of_output_reads_back_equal(output: ToolOutput) -> None:
    assert from_json(to_json(output), ToolOutput) == output


def test_a_part_of_an_unknown_type_is_refused_unless_asked_for() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"type":"hologram"}', type=Part)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (TextOutput("a\nb"), "a\nb"),
        (StructuredOutput({"a": [1, "é"]}), '{"a":[1,"é"]}'),
        (
            PartsOutput((Text("a"), Text(""), IMAGE, Structured({"b": 1}), NOTES)),
            'a\n{"b":1}\nnotes',
        ),
        (PartsOutput((IMAGE,)), ""),
        (PartsOutput(()), ""),
        (FilesOutput((NOTES, File(Uri("https://x")), NOTES)), "notes\nnotes"),
        (FilesOutput(()), ""),
    ],
)
def test_the_text_of_a_result_is_what_a_model_reads_of_it(output: ToolOutput, text: str) -> None:
    assert output.text == text
    assert ToolResult(ToolCallId("c1"), output).text == text


def test_the_text_of_media_and_files_is_what_they_hold_inline() -> None:
    svg = Media(Modality.IMAGE, "image/svg+xml", InlineText("<svg/>"))

    assert (NOTES.text, svg.text, IMAGE.text) == ("notes", "<svg/>", None)
