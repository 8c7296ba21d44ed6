"""Each part as the target can read it: signatures, reasoning, media, files, custom parts."""

import pytest
from msgspec.structs import replace

from agentkit_core import (
    ArtifactId,
    Custom,
    File,
    FilesOutput,
    Handle,
    InlineBytes,
    Item,
    ItemKind,
    Media,
    MetadataMap,
    Modality,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolOutput,
    ToolResult,
)
from agentkit_core.provider import ReasoningRule, Target, ToolMedia, sendable
from support.items import HERE

IMAGE = Media(Modality.IMAGE, "image/png", InlineBytes(b"x"))
SOUND = Media(Modality.AUDIO, "audio/wav", InlineBytes(b"x"))
FILE = File(InlineBytes(b"x"), "text/plain", "a.txt")
SIGNED: MetadataMap = {"an_api.signature": "QUJD"}
WITHHELD = Reasoning("t", redacted=True, metadata=SIGNED)
NOTED = Text("x", metadata={"app.a": 1})
TARGET = Target(
    provider="here", api="an_api", model="a-model",
    reasoning=ReasoningRule.SIGNED, signature_keys=("an_api.signature",),
)  # fmt: skip
SEES = replace(TARGET, media=frozenset({Modality.IMAGE}), tool_media=frozenset({Modality.IMAGE}))
OTHER_MODEL = replace(HERE, model="another-model")
OTHER_API = replace(HERE, provider="there", api="another_api")


def said(target: Target, *parts: Part, origin: Provenance | None = HERE) -> tuple[Part, ...]:
    """What is left of an assistant item of these parts."""
    item = replace(Item.assistant(*parts), provenance=origin)
    return tuple(part for value in sendable([item], target) for part in value.parts)


def told(target: Target, *parts: Part) -> tuple[Part, ...]:
    """What is left of a user item of these parts."""
    return tuple(part for value in sendable([Item.user(*parts)], target) for part in value.parts)


def given(target: Target, output: ToolOutput) -> tuple[Item, ...]:
    """What follows a call whose tool gave that."""
    call = ToolCall(ToolCallId("c1"), "look")
    items = [Item.assistant(call), Item.tool(ToolResult(call.id, output))]
    return sendable(items, target)[1:]


def output_sent(target: Target, output: ToolOutput) -> ToolOutput:
    return given(target, output)[0].tool_results[0].output


# part, what the very model that made it is sent, what another model is sent
@pytest.mark.parametrize(
    ("part", "same", "other"),
    [
        (Reasoning("t", metadata=SIGNED), Reasoning("t", metadata=SIGNED), Text("t")),
        (Reasoning(None, metadata=SIGNED), Reasoning(None, metadata=SIGNED), None),
        (WITHHELD, WITHHELD, None),
        (Reasoning("t"), Text("t"), Text("t")),
        (Reasoning(" "), None, None),
        (Reasoning("t", metadata={"an_api.signature": " "}), Text("t"), Text("t")),
        (Reasoning("t", metadata={**SIGNED, "agentkit.incomplete": True}), Text("t"), Text("t")),
        (Text("x", metadata=SIGNED), Text("x", metadata=SIGNED), Text("x")),
        (NOTED, NOTED, NOTED),
    ],
)  # fmt: skip
def test_d05_what_only_its_maker_understands_goes_to_its_maker_only(
    part: Part, same: Part | None, other: Part | None
) -> None:
    target = replace(TARGET, reasoning_as_text=True)

    assert said(target, part) == (() if same is None else (same,))
    for origin in (OTHER_MODEL, OTHER_API, None):
        assert said(target, part, origin=origin) == (() if other is None else (other,))


def test_d05_a_whole_item_of_another_model() -> None:
    call = ToolCall(ToolCallId("c1"), "look", metadata=SIGNED)
    parts = said(
        replace(TARGET, reasoning_as_text=True),
        Reasoning("t", metadata=SIGNED), Text("x"), call,
        origin=OTHER_MODEL,
    )  # fmt: skip

    assert parts[:3] == (Text("t"), Text("x"), replace(call, metadata={}))


def test_r06_half_finished_reasoning_is_not_sent_as_such() -> None:
    unsigned = Reasoning("hmm", metadata={"an_api.signature": ""})
    unfinished = Reasoning("hmm", metadata={**SIGNED, "agentkit.incomplete": True})

    assert said(TARGET, unsigned, unfinished, Text("x")) == (Text("x"),)


def test_r08_the_signature_of_a_call_goes_back_to_the_model_that_gave_it() -> None:
    calls = (
        ToolCall(ToolCallId("c1"), "f", metadata=SIGNED),
        ToolCall(ToolCallId("c2"), "g"),
    )

    assert said(TARGET, *calls)[:2] == calls


@pytest.mark.parametrize(
    ("rule", "part", "sent"),
    [
        (ReasoningRule.NONE, Reasoning("t", metadata=SIGNED), False),
        (ReasoningRule.SIGNED, Reasoning("t"), False),
        (ReasoningRule.ANY, Reasoning("t"), True),
        (ReasoningRule.ANY, Reasoning(None, InlineBytes(b"x")), True),
        (ReasoningRule.ANY, Reasoning(None, redacted=True, metadata=SIGNED), True),
        (ReasoningRule.ANY, Reasoning(" "), False),
        (ReasoningRule.SIGNED, Reasoning(metadata={"an_api.signature": {"id": 1}}), True),
    ],
)
def test_reasoning_follows_the_rule_of_the_target(
    rule: ReasoningRule, part: Reasoning, sent: bool
) -> None:
    assert said(replace(TARGET, reasoning=rule), part) == ((part,) if sent else ())


def test_reasoning_that_no_model_made_is_not_sent_as_reasoning() -> None:
    assert told(replace(TARGET, reasoning=ReasoningRule.ANY), Reasoning("t")) == ()


@pytest.mark.parametrize(
    ("origin", "remaining"), [(HERE, True), (OTHER_MODEL, True), (None, True), (OTHER_API, False)]
)
def test_custom_parts_go_to_their_owner_only(origin: Provenance | None, remaining: bool) -> None:
    own, stranger = Custom("an_api.search", {"q": 1}), Custom("another_api.search")

    assert said(TARGET, own, stranger, origin=origin) == ((own,) if remaining else ())
    assert said(replace(TARGET, custom_kinds=frozenset()), own, origin=origin) == ()


def test_metadata_of_an_item_that_its_maker_signed_goes_to_its_maker_only() -> None:
    item = replace(Item.assistant("x"), metadata={"an_api.id": "r1", "app.a": 1}, provenance=HERE)

    assert sendable([item], TARGET)[0].metadata == {"an_api.id": "r1", "app.a": 1}
    foreign = replace(item, provenance=OTHER_MODEL)
    assert sendable([foreign], TARGET)[0].metadata == {"app.a": 1}


def test_d05_images_for_a_model_that_sees_none_become_texts_and_runs_collapse() -> None:
    placeholder = Text("(image omitted: model does not support images)")

    assert told(TARGET, IMAGE, IMAGE, Text("x"), IMAGE) == (placeholder, Text("x"), placeholder)
    assert told(SEES, IMAGE, IMAGE) == (IMAGE, IMAGE)


def test_d05_images_of_tools_become_texts_that_name_the_tool() -> None:
    # In the second, a tool may give images but a user, where they would have to go, may not.
    for target in (
        replace(TARGET, tool_media_place=ToolMedia.INLINE),
        replace(TARGET, tool_media=frozenset({Modality.IMAGE})),
    ):
        assert output_sent(target, PartsOutput((IMAGE, IMAGE, Text("x"), IMAGE))) == PartsOutput((
            Text("(tool image omitted: model does not support images)"),
            Text("x"),
            Text("(tool image omitted: model does not support images)"),
        ))  # fmt: skip


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (SOUND, "(audio omitted: model does not support audio)"),
        (FILE, "(file a.txt omitted: model does not support files)"),
        (replace(FILE, name=None), "(file omitted: model does not support files)"),
        (replace(FILE, name="\ud800"), "(file \ufffd omitted: model does not support files)"),
        (
            Media(Modality.BINARY, "", InlineBytes(b"")),
            "(binary omitted: model does not support binary data)",
        ),
    ],
)
def test_what_cannot_be_read_is_named(part: Part, text: str) -> None:
    assert told(TARGET, part) == (Text(text),)


def test_content_that_nobody_loaded_is_named() -> None:
    handle = Handle(ArtifactId("a1"))
    target = replace(SEES, files=True)

    assert told(target, replace(IMAGE, data=handle), replace(FILE, data=handle)) == (
        Text("(image omitted: its content was not loaded)"),
        Text("(file a.txt omitted: its content was not loaded)"),
    )


def test_structured_values_stay_what_they_are() -> None:
    assert told(TARGET, Structured({"a": 1})) == (Structured({"a": 1}),)
    assert output_sent(TARGET, StructuredOutput(None)) == StructuredOutput(None)


@pytest.mark.parametrize(
    "output", [TextOutput(" "), PartsOutput(()), PartsOutput((Text(""),)), FilesOutput(())]
)
def test_r03_an_output_with_nothing_in_it_says_so(output: ToolOutput) -> None:
    target = replace(TARGET, files=True)

    assert output_sent(target, output) == TextOutput("(no tool output)")


def test_r04_images_of_parallel_tools_follow_their_results_each_with_its_call() -> None:
    calls = [ToolCall(ToolCallId(value), "look") for value in "abc"]
    outputs: list[ToolOutput] = [
        PartsOutput((IMAGE,)),
        PartsOutput((Text("here"), IMAGE)),
        TextOutput("seen"),
    ]
    results = [ToolResult(call.id, value) for call, value in zip(calls, outputs, strict=True)]
    items = [Item.assistant(*calls), Item.tool(*results), Item.user("go on")]
    (_, tool, media, _) = sendable(items, SEES)

    assert [tool_result.output for tool_result in tool.tool_results] == [
        TextOutput("(see the attached media)"), PartsOutput((Text("here"),)), TextOutput("seen"),
    ]  # fmt: skip
    assert media == Item.user(
        "Media from the result of tool call a:", IMAGE,
        "Media from the result of tool call b:", IMAGE,
    )  # fmt: skip
    inline = replace(SEES, tool_media_place=ToolMedia.INLINE)
    assert sendable(items, inline)[1:] == tuple(items[1:])


def test_files_of_tools_go_where_files_are_read() -> None:
    inline = replace(TARGET, files=True, tool_media_place=ToolMedia.INLINE)

    assert output_sent(inline, FilesOutput((FILE,))) == FilesOutput((FILE,))
    assert given(replace(TARGET, files=True), FilesOutput((FILE,)))[1] == Item.user(
        "Media from the result of tool call c1:", FILE
    )
    assert output_sent(TARGET, FilesOutput((FILE,))) == PartsOutput(
        (Text("(tool file a.txt omitted: model does not support files)"),)
    )


def test_images_in_a_notification_and_in_a_lost_result_stay() -> None:
    target = replace(SEES, kinds=frozenset({ItemKind.USER, ItemKind.ASSISTANT}))
    lost = Item.tool(ToolResult(ToolCallId("gone"), PartsOutput((Text("here"), IMAGE))))

    assert sendable([Item.notification("done", IMAGE), lost], target) == (
        Item.user("<system-reminder>\ndone\n</system-reminder>", IMAGE),
        Item.user("[Result of an earlier tool call: here]", IMAGE),
    )
    assert given(replace(target, tool_media_place=ToolMedia.INLINE), PartsOutput((IMAGE,))) == (
        Item.user("[The tool answered: (see the attached media)]"),
        Item.user("Media from the result of tool call c1:", IMAGE),
    )
