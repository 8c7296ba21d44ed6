"""Checks that a target accepts a history, rule by rule."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit_core._data_ref import Handle
from agentkit_core._history._target import ReasoningRule, Target, ToolMedia
from agentkit_core._item import Item, ItemKind
from agentkit_core._part import (
    Custom,
    File,
    FilesOutput,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Text,
    TextOutput,
    ToolResult,
)


def check_sendable(items: Sequence[Item], target: Target) -> None:
    """Check that a target accepts these items one by one, as `sendable` promises.

    Raises:
        AssertionError: An item breaks a rule of the target; the message says which.
    """
    call_ids = set[str]()
    for at, item in enumerate(items):
        assert item.kind in target.kinds or item.kind is ItemKind.USER, (
            f"item {at} is of kind {item.kind}, which the target does not accept"
        )
        assert item.parts, f"item {at} has no parts"
        before = items[at - 1] if at else None
        if not target.consecutive_roles and before is not None and item.kind is not ItemKind.TOOL:
            assert before.kind is not item.kind, f"items {at - 1} and {at} are both {item.kind}"
        _check_pairs(items, at, target)
        for call in item.tool_calls:
            assert target.call_ids.accepts(call.id), f"item {at}: call id {call.id!r} is invalid"
            assert target.tool_names.accepts(call.name), f"item {at}: name {call.name!r} is invalid"
            assert call.id not in call_ids, f"item {at}: call id {call.id!r} is used twice"
            call_ids.add(call.id)
        for part in item.parts:
            _check_part(part, item, at, target)
    rest = [item for item in items if item.kind not in (ItemKind.SYSTEM, ItemKind.DEVELOPER)]
    if target.first_user and rest:
        assert rest[0].kind is ItemKind.USER, f"the first item is of kind {rest[0].kind}, not user"
    if not target.late_system:
        kinds = [item.kind for item in items]
        late = kinds[kinds.index(ItemKind.USER) :] if ItemKind.USER in kinds else []
        for kind in (ItemKind.SYSTEM, ItemKind.DEVELOPER):
            assert kind not in late, f"an item of kind {kind} follows the first user item"


def _check_pairs(items: Sequence[Item], at: int, target: Target) -> None:
    item, following = items[at], items[at + 1] if at + 1 < len(items) else None
    calls = [call.id for call in item.tool_calls]
    if calls:
        assert following is not None, f"item {at} at the end has calls without results"
        results = [result.call_id for result in following.tool_results]
        assert results == calls, f"item {at} has calls {calls}, item {at + 1} results of {results}"
    if item.kind is ItemKind.TOOL and not target.orphan_results:
        assert at > 0, "the first item has results without a call"
        assert items[at - 1].tool_calls, f"item {at} has results without a call"


def _check_part(part: Part, item: Item, at: int, target: Target) -> None:
    match part:
        case Text(text=text):
            assert target.empty_text or text.strip(), f"item {at} has a blank text"
            _check_text(text, at)
        case Media(modality=modality, data=data):
            assert modality in target.media, f"item {at} has {modality}, which is not accepted"
            assert not isinstance(data, Handle), f"item {at} has {modality} that was not loaded"
        case File(data=data):
            assert target.files, f"item {at} has a file, which is not accepted"
            assert not isinstance(data, Handle), f"item {at} has a file that was not loaded"
        case Reasoning():
            _check_reasoning(part, item, at, target)
        case Custom(kind=kind):
            kinds = target.custom_kinds
            accepted = kind.startswith(f"{target.api}.") if kinds is None else kind in kinds
            assert accepted, f"item {at} has a custom part {kind!r} of another owner"
        case ToolResult():
            _check_result(part, at, target)
        case _:
            pass


def _check_reasoning(part: Reasoning, item: Item, at: int, target: Target) -> None:
    origin = item.provenance
    assert target.reasoning is not ReasoningRule.NONE, f"item {at} has reasoning"
    assert origin is not None, f"item {at} has reasoning of unknown origin"
    assert origin.same_model(target.provider, target.api, target.model), (
        f"item {at} has reasoning of another model"
    )
    if target.reasoning is ReasoningRule.SIGNED:
        signatures = [part.metadata.get(key) for key in target.signature_keys]
        assert any(signatures), f"item {at} has unsigned reasoning"


def _check_result(result: ToolResult, at: int, target: Target) -> None:
    inside: tuple[Part, ...] = ()
    match result.output:
        case TextOutput(text=text):
            assert target.empty_text or text.strip(), f"item {at} has a blank result"
            _check_text(text, at)
        case PartsOutput(parts=parts):
            inside = parts
        case FilesOutput(files=files):
            inside = files
        case _:
            pass
    inline = target.tool_media_place is ToolMedia.INLINE
    for part in inside:
        if isinstance(part, Media):
            assert inline, f"item {at} has media inside a result"
            assert part.modality in target.tool_media, f"item {at}: {part.modality} not accepted"
        elif isinstance(part, File):
            assert inline, f"item {at} has a file inside a result"
            assert target.files, f"item {at} has a file, which is not accepted"


def _check_text(text: str, at: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise AssertionError(f"item {at} has text that UTF-8 cannot express: {error}") from error
