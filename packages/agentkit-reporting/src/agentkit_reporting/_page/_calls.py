"""A tool call on a page: one line, and below it everything that belongs to the call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from agentkit_core import ApprovalRequest, ToolCall, ToolFailure, ToolResult
from agentkit_loop.events import ApprovalResolved
from agentkit_reporting._format import brief_json, describe_usage
from agentkit_reporting._page._markup import NOTHING, Markup, element, joined
from agentkit_reporting._page._parts import arguments_block, output_block
from agentkit_reporting._page._sessions import CallRecord
from agentkit_reporting._page._times import duration
from agentkit_reporting._page._values import (
    argument_list,
    fact_list,
    json_block,
    metadata_block,
    prose,
)

_BRIEF_WIDTH: Final = 100


def call_block(call: ToolCall, record: CallRecord, inner: Markup) -> Markup:
    """Show a call.

    Args:
        call: The call, as it is in the transcript.
        record: What happened to it.
        inner: The sessions that it began; empty for most calls.
    """
    waits = record.result is None and any(end is None for _, end in record.approvals)
    state, words = _state(record, waits)
    summary = element(
        "summary",
        element("span", call.name or "(no name)", class_="name", dir="auto"),
        " ",
        element("span", _brief_input(call), class_="brief", dir="auto"),
        " ",
        element("span", words, class_="status"),
    )
    content = joined(_content(call, record, inner))
    return element(
        "details",
        summary,
        element("div", content, class_="body"),
        class_=f"call {state}",
        open=waits or None,
    )


def result_block(result: ToolResult) -> Markup:
    """Show a result, with what is known of it."""
    failed = None
    if result.is_error:
        failed = element("p", _failure(result).capitalize(), class_="problem")
    usage = describe_usage(result.usage) if result.usage is not None else None
    facts = fact_list(
        [("Used of models", usage), ("New tools", ", ".join(result.added_tools) or None)]
    )
    details = NOTHING
    if result.details is not None:
        details = joined([_label("Details, which no model reads"), json_block(result.details)])
    return joined(
        filter(
            None,
            [failed, output_block(result.output), facts, details, metadata_block(result.metadata)],
        )
    )


def _state(record: CallRecord, waits: bool) -> tuple[str, str]:
    """Return the state of a call as the name of a style, and in words."""
    result = record.result or record.reply
    took = ""
    if record.started_at is not None and record.ended_at is not None:
        took = f", {duration(record.ended_at - record.started_at)}"
    if waits:
        return "waiting", "waits for a person"
    if record.detached and record.result is None:
        return "waiting", "in the background, no result yet"
    if result is None:
        return "waiting", "no result yet"
    where = " in the background" if record.detached else ""
    if result.is_error:
        return "failed", f"{_failure(result)}{where}{took}"
    return "done", f"done{where}{took}"


def _content(call: ToolCall, record: CallRecord, inner: Markup) -> Iterable[Markup]:
    yield _label("Arguments")
    yield arguments_block(call)
    yield metadata_block(call.metadata)
    for request, end in record.approvals:
        yield _approval(request, end)
    if record.input is not None and record.input != call.input:
        yield _label("Ran with other arguments")
        yield argument_list(record.input)
    if record.progress:
        yield _label("Progress")
        lines = [element("li", message, dir="auto") for message in record.progress]
        yield element("ul", *lines, class_="progress")
    if inner:
        yield inner
    result, reply = record.result or record.reply, record.reply
    if result is None:
        return
    yield _label("Result")
    yield result_block(result)
    if reply is not None and reply.output != result.output:
        yield _label("What the model was told")
        yield output_block(reply.output)


def _approval(request: ApprovalRequest, end: ApprovalResolved | None) -> Markup:
    if end is None:
        outcome = "no answer yet"
    else:
        outcome = end.outcome.value + (", with other arguments" if end.patched else "")
    facts = fact_list([("Reason", request.reason), ("Permission", request.kind)])
    schema = NOTHING
    if request.schema is not None:
        schema = joined([_label("Schema of the answer"), json_block(request.schema)])
    return element(
        "div",
        _label(f"Asked a person ({request.want.value}): {outcome}"),
        prose(request.summary),
        facts,
        schema,
        metadata_block(request.metadata),
        class_="approval",
    )


def _brief_input(call: ToolCall) -> str:
    if call.raw_input is not None:
        return call.raw_input[:_BRIEF_WIDTH]
    if len(call.input) == 1:
        (value,) = call.input.values()
        if isinstance(value, str):
            return " ".join(value[: 2 * _BRIEF_WIDTH].split())[:_BRIEF_WIDTH]
    return brief_json(call.input, _BRIEF_WIDTH) if call.input else ""


def _failure(result: ToolResult) -> str:
    if result.failure in {None, ToolFailure.EXECUTION_FAILED}:
        return "failed"
    return f"failed: {str(result.failure).replace('_', ' ')}"


def _label(text: str) -> Markup:
    return element("p", text, class_="label")
