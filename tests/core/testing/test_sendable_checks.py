"""The check of what a target can be sent passes what is good and catches what is not."""

import pytest
from msgspec.structs import replace

from agentkit_core import (
    Custom,
    File,
    Handle,
    InlineBytes,
    Item,
    ItemKind,
    Media,
    Modality,
    Part,
    PartsOutput,
    Provenance,
    Reasoning,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentkit_core.provider import (
    ReasoningRule,
    Target,
    ToolMedia,
)
from agentkit_core.testing import (
    check_sendable,
    hard_transcripts,
)
from support.items import HERE

TARGET = Target(provider="here", api="an_api", model="a-model")
CALL, RESULT = ToolCall(ToolCallId("c1"), "look"), ToolResult(ToolCallId("c1"), TextOutput("x"))
IMAGE = Media(Modality.IMAGE, "image/png", InlineBytes(b"x"))
UNLOADED = Handle("a1")  # type: ignore[arg-type]
ALTERNATE = replace(TARGET, consecutive_roles=False)
SEES = replace(TARGET, media=frozenset({Modality.IMAGE}))
READS = replace(TARGET, files=True)
THINKS = replace(TARGET, reasoning=ReasoningRule.ANY)
SIGNS = replace(TARGET, reasoning=ReasoningRule.SIGNED, signature_keys=("an_api.signature",))
INLINE = replace(TARGET, tool_media_place=ToolMedia.INLINE)


def thought(part: Part, *, origin: Provenance | None = HERE) -> list[Item]:
    return [replace(Item.assistant(part), provenance=origin)]


def answered(*parts: Part) -> list[Item]:
    return [Item.assistant(CALL), Item.tool(replace(RESULT, output=PartsOutput(parts)))]


@pytest.mark.parametrize(
    ("items", "target", "law"),
    [
        ([Item.context("x")], TARGET, "kind context"),
        ([Item.user()], TARGET, "has no parts"),
        ([Item.user("a"), Item.user("b")], ALTERNATE, "are both user"),
        ([Item.assistant(CALL)], TARGET, "calls without results"),
        ([Item.assistant(CALL), Item.user("x")], TARGET, "results of \\[\\]"),
        ([Item.tool(RESULT)], TARGET, "the first item has results without a call"),
        ([Item.user("x"), Item.tool(RESULT)], TARGET, "results without a call"),
        ([Item.assistant(CALL), Item.tool(RESULT)] * 2, TARGET, "used twice"),
        ([Item.assistant(replace(CALL, id=ToolCallId("a|b"))),
          Item.tool(replace(RESULT, call_id=ToolCallId("a|b")))], TARGET, "id 'a|b' is invalid"),
        ([Item.assistant(replace(CALL, name="a b")), Item.tool(RESULT)], TARGET, "name 'a b'"),
        ([Item.user(" ")], TARGET, "blank text"),
        ([Item.user("a\ud800")], TARGET, "UTF-8 cannot express"),
        ([Item.user(IMAGE)], TARGET, "image, which is not accepted"),
        ([Item.user(replace(IMAGE, data=UNLOADED))], SEES, "was not loaded"),
        ([Item.user(File(InlineBytes(b"")))], TARGET, "a file, which is not accepted"),
        ([Item.user(File(UNLOADED))], READS, "was not loaded"),
        ([Item.user(Custom("another_api.x"))], TARGET, "another owner"),
        (thought(Reasoning("t")), TARGET, "has reasoning"),
        (thought(Reasoning("t"), origin=None), THINKS, "unknown origin"),
        (thought(Reasoning("t"), origin=replace(HERE, model="b")), THINKS, "another model"),
        (thought(Reasoning("t")), SIGNS, "unsigned"),
        ([Item.assistant(CALL), Item.tool(replace(RESULT, output=TextOutput("")))], TARGET,
         "blank result"),
        (answered(IMAGE), SEES, "media inside a result"),
        (answered(IMAGE), INLINE, "image not accepted"),
        (answered(File(InlineBytes(b""))), READS, "a file inside a result"),
        (answered(File(InlineBytes(b""))), INLINE, "a file, which is not accepted"),
        ([Item.assistant("a")], replace(TARGET, first_user=True), "not user"),
        (
            [Item.user("u"), Item.system("s")],
            replace(TARGET, late_system=False),
            "follows the first user item",
        ),
    ],
)  # fmt: skip
def test_what_a_target_would_refuse_is_caught(items: list[Item], target: Target, law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_sendable(items, target)


def test_what_a_target_takes_passes() -> None:
    check_sendable([], TARGET)
    check_sendable([Item.user("hi"), Item.assistant("x", CALL), Item.tool(RESULT)], ALTERNATE)
    check_sendable([Item.tool(RESULT)], replace(TARGET, orphan_results=True))


def test_hard_histories_are_made_anew_and_cover_every_kind() -> None:
    first, second = hard_transcripts(), hard_transcripts()

    assert first == second
    kinds = {item.kind for items in first.values() for item in items}
    assert kinds == set(ItemKind)
    for name in first:
        for left, right in zip(first[name], second[name], strict=True):
            assert left is not right
