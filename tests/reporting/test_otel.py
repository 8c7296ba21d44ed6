"""What OpenTelemetry is told of runs.

Run this file to write the agreed spans anew: `python tests/reporting/test_otel.py --write`.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import aclosing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("opentelemetry.sdk")

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from opentelemetry import trace
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    FailureKind,
    File,
    FinishReason,
    InlineBytes,
    Item,
    Media,
    Modality,
    RetryPolicy,
    SessionId,
    TextOutput,
    TokenUsage,
    ToolCall,
    ToolCallId,
    ToolResult,
    TurnId,
    Usage,
)
from agentkit_loop import Agent, LoopConfig
from agentkit_loop.events import (
    ApprovalRequired,
    Diagnostic,
    Envelope,
    Event,
    ItemsAppended,
    ModelCallFinished,
    ModelCallStarted,
    RunFinished,
    RunStarted,
    RunSuspended,
    ToolProgress,
    TranscriptRewritten,
    TurnStarted,
)
from agentkit_loop.stores import MemoryStore
from agentkit_loop.testing import Reply, Scripted, ScriptedModel, call, fail, say
from agentkit_reporting._otel._attributes import identity_of
from agentkit_reporting._otel._conversations import Conversations
from agentkit_reporting._spans import ModelCallSpan
from agentkit_reporting.otel import SEMANTIC_CONVENTIONS, MessageCapture, OtelReporter
from agentkit_tools_core import tool
from loop.kernel.test_golden_traces import SCENARIOS
from support.examples import examples
from support.rig import Rig
from support.runs import emitted, walked

AGREED = Path(__file__).with_name("otel_spans.txt")
SHOWN = ("agentkit.status", "error.type", "gen_ai.response.finish_reasons")


class Collected:
    """A reporter whose spans, metrics and log records are kept in memory."""

    def __init__(self, **options: Any) -> None:
        self.exporter = InMemorySpanExporter()
        self.begun: list[Any] = []
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self.tracers.add_span_processor(_Begun(self.begun))
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.metrics = InMemoryMetricReader()
        self.logs = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
        loggers = LoggerProvider(shutdown_on_exit=False)
        loggers.add_log_record_processor(SimpleLogRecordProcessor(self.logs))
        self.reporter = OtelReporter(
            tracer_provider=self.tracers,
            meter_provider=MeterProvider([self.metrics], shutdown_on_exit=False),
            logger_provider=loggers,
            **options,
        )

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span

    def points(self) -> Iterator[tuple[str, Any]]:
        data = self.metrics.get_metrics_data()
        for resource in data.resource_metrics if data else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points:
                        yield metric.name, point


class _Begun(SpanProcessor):
    def __init__(self, begun: list[Any]) -> None:
        self.begun = begun

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        self.begun.append(span)


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


@tool
def trip() -> str:
    """Fail."""
    raise RuntimeError("it broke")


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


def told_of(envelopes: list[Envelope]) -> Collected:
    collected = Collected()
    with collected.reporter:
        for envelope in envelopes:
            collected.reporter(envelope)
    return collected


def outline(spans: list[ReadableSpan]) -> list[str]:
    """The spans as indented lines, each before those in it, in the order in which they began."""
    children: dict[int | None, list[ReadableSpan]] = {}
    for span in spans:
        children.setdefault(span.parent.span_id if span.parent else None, []).append(span)

    def lines(parent: int | None, indent: str) -> Iterator[str]:
        for span in sorted(children.get(parent, ()), key=lambda span: (span.start_time, span.name)):
            attributes = span.attributes or {}
            facts = [str(attributes[name]) for name in SHOWN if name in attributes]
            yield f"{indent}{span.name}: {' '.join(facts)}"
            yield from lines(span.context.span_id, indent + "  ")

    return list(lines(None, ""))


def outlines() -> str:
    """The spans of each golden event trace of the loop, and of an agent in an agent."""
    blocks = []
    for name, play in SCENARIOS.items():
        if isinstance(played := play(), Rig):
            blocks.append("\n".join([name, *outline(told_of(emitted(played.effects)).spans)]))
    inner_answers: dict[str, Scripted] = {"inner_agent": "Filed.", "inner_agent_fails": fail()}
    for name, inner in inner_answers.items():
        collected = Collected(agent_name="manager")
        clerk = Agent(
            model=ScriptedModel(inner, name="small"),
            config=LoopConfig(retry=RetryPolicy(max_attempts=1)),
            reporters=[collected.reporter],
        )
        manager = Agent(
            model=ScriptedModel(call("clerk", {"task": "File it."}), "It is filed."),
            tools=[clerk.as_tool("clerk", "Does paperwork.", blocking=True)],
            reporters=[collected.reporter],
        )
        manager.run_blocking("File this.")
        blocks.append("\n".join([name, *outline(collected.spans)]))
    return "\n\n".join(blocks) + "\n"


def test_the_golden_event_traces_have_these_spans() -> None:
    agreed = AGREED.read_text(encoding="utf-8")

    assert outlines() == agreed, f"if you mean it: python {__file__} --write"


def test_a_run_has_a_span_each_for_turn_model_calls_and_tools() -> None:
    collected = Collected(agent_name="clerk")
    model = ScriptedModel(call("add", {"a": 1, "b": 2}), say("3.", input=30, output=2))
    agent = Agent(model=model, tools=[add], reporters=[collected.reporter])
    with agent.session_blocking(session_id=SessionId("sums")) as session:
        session.prompt("1 + 2?")

    turn = collected.one("invoke_agent clerk")
    assert turn.kind is trace.SpanKind.INTERNAL
    assert turn.attributes is not None
    assert turn.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert turn.attributes["gen_ai.conversation.id"] == "sums"
    assert turn.attributes["gen_ai.agent.name"] == "clerk"
    assert turn.status.status_code is trace.StatusCode.UNSET
    _, chat = collected.named("chat scripted")
    assert chat.kind is trace.SpanKind.CLIENT
    assert chat.attributes is not None
    assert chat.attributes["gen_ai.request.model"] == "scripted"
    assert chat.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    assert chat.attributes["gen_ai.usage.input_tokens"] == 30
    executed = collected.one("execute_tool add")
    assert executed.attributes is not None
    assert executed.attributes["gen_ai.tool.name"] == "add"
    assert {span.parent and span.parent.span_id for span in (chat, executed)} == {
        turn.context.span_id
    }
    scope = turn.instrumentation_scope
    assert scope is not None
    assert scope.schema_url == f"https://opentelemetry.io/schemas/gen-ai/{SEMANTIC_CONVENTIONS}"


def test_o04_the_tokens_of_all_spans_add_up_to_those_of_the_run() -> None:
    collected = Collected()
    first = Usage(TokenUsage(input=50, cache_read=6, output=5), requests=1, reported_requests=1)
    model = ScriptedModel(
        Reply.of(call("add", {"a": 1, "b": 2}), usage=first), say("3.", input=57, output=6)
    )
    result = Agent(model=model, tools=[add], reporters=[collected.reporter]).run_blocking("1 + 2?")

    def total(name: str) -> Any:
        return sum((span.attributes or {}).get(name, 0) for span in collected.spans)

    assert total("gen_ai.usage.input_tokens") == result.usage.tokens.prompt == 113
    assert total("gen_ai.usage.output_tokens") == result.usage.tokens.output == 11
    assert total("gen_ai.usage.cache_read.input_tokens") == 6
    counted = {name: point.value for name, point in collected.points() if "usage" in name}
    assert counted["gen_ai.client.inference.usage.output_tokens"] == 11


@examples(20)
@given(st.integers(0, 2**32), st.integers(1, 60))
def test_o02_however_a_run_ends_each_span_begins_once_and_ends_once(seed: int, length: int) -> None:
    collected = told_of(walked(seed, length=length))

    begun = sorted(span.context.span_id for span in collected.begun)
    assert begun == sorted(span.context.span_id for span in collected.spans)
    for span in collected.spans:
        assert span.attributes is not None
        assert span.attributes["agentkit.status"] != "running"
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.start_time <= span.end_time


def test_events_that_are_reported_again_make_no_second_span() -> None:
    envelopes = walked(7)
    again = [each for each in envelopes for _ in range(1 if each.number is None else 2)]

    assert outline(told_of(envelopes).spans) == outline(told_of(again).spans)


async def test_o01_leaving_a_stream_in_another_task_disturbs_no_context(
    caplog: pytest.LogCaptureFixture,
) -> None:
    collected = Collected()
    agent = Agent(model=ScriptedModel("Hello."), reporters=[collected.reporter])
    own = collected.tracers.get_tracer("host").start_span("host")
    stream = agent.stream("Hi")
    with trace.use_span(own), caplog.at_level(logging.DEBUG, "opentelemetry"):
        await anext(stream)
        assert trace.get_current_span() is own
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stream.aclose)
        assert trace.get_current_span() is own

        async with aclosing(agent.stream("Hi")) as other:
            async for _ in other:
                assert trace.get_current_span() is own
                break
        with anyio.CancelScope() as scope:
            scope.cancel()
            await agent.run("Hi")
        assert trace.get_current_span() is own
    own.end()

    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")]
    assert len(collected.begun) == len(collected.spans)
    for span in collected.spans:
        assert span.context.trace_id == own.get_span_context().trace_id


def test_attempts_that_failed_are_spans_and_exception_events_of_their_own() -> None:
    collected = Collected()
    model = ScriptedModel(fail(FailureKind.RATE_LIMIT, retry_after_s=0), call("trip"), "Done.")
    Agent(model=model, tools=[trip], reporters=[collected.reporter]).run_blocking("Go")

    first, second, _ = sorted(
        collected.named("chat scripted"), key=lambda span: span.start_time or 0
    )
    assert first.attributes is not None
    assert second.attributes is not None
    assert first.attributes["error.type"] == "rate_limit"
    assert first.status.status_code is trace.StatusCode.ERROR
    assert (first.attributes["agentkit.attempt"], second.attributes["agentkit.attempt"]) == (1, 2)
    executed = collected.one("execute_tool trip")
    assert executed.status.status_code is trace.StatusCode.ERROR
    told = [entry.log_record for entry in collected.logs.get_finished_logs()]
    assert [(record.event_name, record.span_id) for record in told] == [
        ("gen_ai.client.inference.exception", first.context.span_id),
        ("gen_ai.execute_tool.exception", executed.context.span_id),
    ]
    failed = [point for name, point in collected.points() if name.endswith("inference.duration")]
    assert {"rate_limit", None} == {point.attributes.get("error.type") for point in failed}


def test_a_turn_that_goes_on_links_to_the_one_that_paused() -> None:
    collected = Collected()
    store = MemoryStore()
    agent = Agent(
        model=ScriptedModel(call("pay"), "Paid."), tools=[pay], reporters=[collected.reporter]
    )
    with agent.session_blocking(session_id=SessionId("s"), store=store) as session:
        session.submit("Pay.")
        session.next()
    with agent.session_blocking(session_id=SessionId("s"), store=store) as session:
        session.approve(session.pending_approvals[0].id)
        session.next()

    paused, resumed = collected.named("invoke_agent")
    assert (paused.attributes or {})["agentkit.status"] == "paused"
    assert (resumed.attributes or {})["agentkit.continues"] is True
    (link,) = resumed.links
    assert link.context.span_id == paused.context.span_id


SECRET = "the launch code is 12345"


def conversation(capture: MessageCapture | None) -> Collected:
    collected = Collected(capture=capture)
    model = ScriptedModel(call("add", {"a": 1, "b": 2}), f"Yes, {SECRET}.")
    agent = Agent(model=model, tools=[add], reporters=[collected.reporter])
    agent.run_blocking(SECRET)
    return collected


def test_nothing_that_is_said_is_recorded_unless_it_is_wanted() -> None:
    told = json.dumps([json.loads(span.to_json()) for span in conversation(None).spans])

    assert SECRET not in told
    assert "gen_ai.input.messages" not in told


def test_what_is_said_is_recorded_if_it_is_wanted() -> None:
    first, second = conversation(MessageCapture()).named("chat scripted")

    def messages(span: ReadableSpan, name: str) -> Any:
        return json.loads(str((span.attributes or {})[name]))

    asked = {"role": "user", "parts": [{"type": "text", "content": SECRET}]}
    assert messages(first, "gen_ai.input.messages") == [asked]
    (called,) = messages(first, "gen_ai.output.messages")
    assert called["finish_reason"] == "tool_call"
    assert called["parts"][0]["arguments"] == {"left_out_bytes": len('{"a":1,"b":2}')}
    assert [message["role"] for message in messages(second, "gen_ai.input.messages")] == [
        "user",
        "assistant",
        "tool",
    ]
    (answer,) = messages(second, "gen_ai.output.messages")
    assert answer["parts"] == [{"type": "text", "content": f"Yes, {SECRET}."}]


def input_of(capture: MessageCapture, items: list[Item]) -> str:
    return capture.input([capture.message(item) for item in items])


@examples(50)
@given(st.lists(st.text(max_size=40), max_size=8), st.integers(2, 300), st.integers(1, 6))
def test_no_more_is_recorded_than_is_wanted(texts: list[str], max_bytes: int, most: int) -> None:
    capture = MessageCapture(max_messages=most, max_bytes=max_bytes)
    items = [Item.user(text or "-") for text in texts]

    for written in (input_of(capture, items), capture.output(items, None)):
        assert len(written.encode()) <= max_bytes
        assert len(json.loads(written)) <= most
    newest = json.loads(input_of(MessageCapture(max_messages=2), items))
    said = [message["parts"][0]["content"] for message in newest]
    assert said == [item.text for item in items[-2:]]


def test_what_does_not_fit_is_replaced_by_its_size() -> None:
    capture = MessageCapture(max_bytes=150)
    items = [Item.user("x" * 500), Item.user("short")]

    big, small = json.loads(input_of(capture, items))
    assert big["role"] == "user"
    assert big["parts"][0]["type"] == "truncated"
    assert big["parts"][0]["original_bytes"] > 500
    assert small["parts"][0]["content"] == "short"


def test_payloads_are_described_and_parts_are_counted() -> None:
    picture = Media(Modality.IMAGE, "image/png", InlineBytes(b"secret" * 100))
    (message,) = json.loads(input_of(MessageCapture(), [Item.user("look", *[picture] * 300)]))

    assert len(message["parts"]) == 256
    assert message["parts"][1] == {"type": "media", "modality": "image", "mime_type": "image/png"}


@pytest.mark.parametrize("name", ["max_messages", "max_bytes"])
def test_a_capture_of_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        MessageCapture(**{name: 0})


def held(event: Event, *, seq: int, session: str = "s", turn: str | None = "turn-1") -> Envelope:
    turn_id = None if turn is None else TurnId(turn)
    return Envelope(
        seq=seq, session_id=SessionId(session), at=seq, event=event, turn_id=turn_id, number=seq
    )


def answered(*between: Event) -> list[Event]:
    return [
        RunStarted(),
        ItemsAppended((Item.user("Hi"),), 1),
        ModelCallStarted(1, 1, "small"),
        ModelCallFinished(call=1, attempt=1, finish_reason=FinishReason.COMPLETED, usage=Usage()),
        *between,
        ItemsAppended((Item.assistant("Hello."),), 2),
    ]


@pytest.mark.parametrize(
    "between", [(), (Diagnostic("odd"),), (ToolProgress(ToolCallId("c"), "50 %"), Diagnostic("x"))]
)
def test_an_answer_is_recorded_whatever_is_reported_before_it(between: tuple[Event, ...]) -> None:
    collected = Collected(capture=MessageCapture())
    for seq, event in enumerate(answered(*between), start=1):
        collected.reporter(held(event, seq=seq))

    (chat,) = collected.named("chat small")
    assert "Hello." in str((chat.attributes or {})["gen_ai.output.messages"])
    assert chat.end_time == 4_000_000


def asked_after(*changes: tuple[Event, int]) -> list[str]:
    """What a model is asked after events with these numbers."""
    collected = Collected(capture=MessageCapture())
    for event, seq in changes:
        collected.reporter(held(event, seq=seq))
    collected.reporter(held(ModelCallStarted(1, 1, "small"), seq=99))
    collected.reporter.close()
    written = (collected.one("chat small").attributes or {})["gen_ai.input.messages"]
    return [message["parts"][0]["content"] for message in json.loads(str(written))]


def test_what_is_reported_again_after_a_crash_is_said_once() -> None:
    first = ItemsAppended((Item.user("a"),), 1)
    again = RunStarted(resumed=True)

    assert asked_after((RunStarted(), 1), (first, 2), (again, 3), (first, 2)) == ["a"]


def test_what_was_said_after_a_snapshot_is_no_part_of_what_goes_on_from_it() -> None:
    before = [(ItemsAppended((Item.user(text),), at), at + 1) for at, text in enumerate("ab", 1)]
    other = ItemsAppended((Item.user("c"),), 2)

    assert asked_after(*before, (RunStarted(resumed=True), 1), (other, 2)) == ["c"]
    assert asked_after(*before, (RunStarted(), 1), (ItemsAppended(other.items, 1), 2)) == ["c"]
    assert asked_after(*before, (TranscriptRewritten(other.items, 3), 4)) == ["c"]
    assert asked_after(*before, (TranscriptRewritten((), 3), 4)) == []


def test_what_sessions_leave_behind_is_limited() -> None:
    capture = MessageCapture(max_messages=5, max_bytes=200)
    conversations = Conversations(capture)
    for session in range(1_100):
        for at in range(1, 12):
            appended = ItemsAppended((Item.user("x" * (session % 250)),), at)
            conversations.take(held(appended, seq=at, session=str(session)))

    assert conversations.newest(SessionId("99")) == []
    for session in range(100, 1_100, 7):
        messages = conversations.newest(SessionId(str(session)))
        assert sum(len(message.json) for message in messages[1:]) <= 200
        assert 1 <= len(messages) <= 5
        assert len(capture.input(messages)) <= 200


class _Failing(SpanProcessor):
    """Fails at every span, as no processor should."""

    def on_start(self, span: Any, parent_context: Any = None) -> None:
        if "odd" in span.name:
            raise RuntimeError("begins badly")

    def on_end(self, span: ReadableSpan) -> None:
        raise RuntimeError("ends badly")


def test_a_processor_that_fails_loses_no_other_span() -> None:
    collected = Collected()
    collected.tracers.add_span_processor(_Failing())
    call_that_runs = ModelCallStarted(1, 1, "small")
    events: list[Event] = [RunStarted(), TurnStarted(), call_that_runs, RunFinished()]
    envelopes = [held(event, seq=seq) for seq, event in enumerate(events, start=1)]
    for envelope in envelopes[:-1]:
        collected.reporter(envelope)
    with pytest.raises(RuntimeError, match="ends badly"):
        collected.reporter(envelopes[-1])

    assert [span.name for span in collected.spans] == ["chat small", "invoke_agent"]


class _Calling(SpanProcessor):
    """Runs an agent when a span ends: a host may do anything there."""

    def __init__(self) -> None:
        self.agent: Agent | None = None

    def on_end(self, span: ReadableSpan) -> None:
        agent, self.agent = self.agent, None
        if agent is not None:
            agent.run_blocking("And you?")


def test_a_processor_may_run_an_agent_of_the_same_reporter() -> None:
    collected, calling = Collected(), _Calling()
    collected.tracers.add_span_processor(calling)
    model = ScriptedModel("One.", "Two.", name="small")
    agent = calling.agent = Agent(model=model, reporters=[collected.reporter])
    agent.run_blocking("Hi")

    assert len(collected.named("chat small")) == len(collected.named("invoke_agent")) == 2


def test_sessions_on_several_threads_share_a_reporter() -> None:
    collected = Collected()

    def run() -> None:
        model = ScriptedModel(call("add", {"a": 1, "b": 2}), "3.", name="small")
        Agent(model=model, tools=[add], reporters=[collected.reporter]).run_blocking("1 + 2?")

    threads = [Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    turns = {span.context.span_id for span in collected.named("invoke_agent")}
    assert len(turns) == 8
    inside = [*collected.named("chat small"), *collected.named("execute_tool add")]
    assert len(inside) == 24
    assert {span.parent and span.parent.span_id for span in inside} == turns


def test_metrics_count_what_is_not_sampled_too() -> None:
    metrics = InMemoryMetricReader()
    reporter = OtelReporter(
        capture=MessageCapture(),
        tracer_provider=TracerProvider(sampler=ALWAYS_OFF, shutdown_on_exit=False),
        meter_provider=MeterProvider([metrics], shutdown_on_exit=False),
    )
    Agent(model=ScriptedModel("Hi."), reporters=[reporter]).run_blocking("Hi")

    assert "gen_ai.client.inference.duration" in str(metrics.get_metrics_data())


def test_metrics_have_the_names_and_attributes_of_the_conventions() -> None:
    collected = Collected(agent_name="clerk")
    used = Usage(TokenUsage(input=50, output=5, reasoning=2), requests=1, reported_requests=1)
    model = ScriptedModel(call("add", {"a": 1, "b": 2}), Reply.of("3.", usage=used), name="small")
    Agent(model=model, tools=[add], reporters=[collected.reporter]).run_blocking("1 + 2?")

    found = dict(collected.points())
    usage = "gen_ai.client.inference.usage"
    operation = "gen_ai.client.inference.operation"
    model_call = {"gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"}
    assert {
        name: set(point.attributes) - {"gen_ai.response.model"} for name, point in found.items()
    } == {
        "gen_ai.client.inference.duration": model_call,
        "gen_ai.client.inference.time_to_first_chunk": model_call,
        f"{usage}.input_tokens": {*model_call, "gen_ai.token.modality"},
        f"{usage}.output_tokens": {*model_call, "gen_ai.token.modality"},
        f"{usage}.reasoning.output_tokens": {*model_call, "gen_ai.token.modality"},
        f"{operation}.input_tokens": model_call,
        f"{operation}.output_tokens": model_call,
        "gen_ai.execute_tool.duration": {
            "gen_ai.operation.name", "gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.agent.name",
        },
        "gen_ai.invoke_agent.duration": {"gen_ai.operation.name", "gen_ai.agent.name"},
    }  # fmt: skip
    assert found[f"{usage}.input_tokens"].attributes["gen_ai.token.modality"] == "unknown"
    assert found[f"{operation}.input_tokens"].explicit_bounds[:3] == (1, 4, 16)
    assert found["gen_ai.execute_tool.duration"].explicit_bounds[-1] == 81.92


def test_a_turn_that_another_process_ended_is_not_linked_to_the_next_one() -> None:
    collected = Collected()
    request = ApprovalRequest(
        id=ApprovalId("a"),
        call=ToolCall(id=ToolCallId("c"), name="pay", input={}),
        kind="tool",
        summary="Pay?",
    )
    left: list[Event] = [RunStarted(), TurnStarted(), ApprovalRequired(request), RunSuspended()]
    for seq, event in enumerate(left, start=1):
        collected.reporter(held(event, seq=seq))
    goes_on: list[Event] = [RunStarted(resumed=True), TurnStarted()]
    for seq, event in enumerate(goes_on, start=9):
        collected.reporter(held(event, seq=seq, turn="turn-2"))
    collected.reporter.close()

    first, second = collected.named("invoke_agent")
    assert (first.attributes or {})["agentkit.status"] == "paused"
    assert second.links == ()


def test_the_tools_of_an_inner_agent_are_its_own() -> None:
    collected = Collected(agent_name="manager")
    clerk = Agent(
        model=ScriptedModel(call("add", {"a": 1, "b": 2}), "3."),
        tools=[add],
        reporters=[collected.reporter],
    )
    manager = Agent(
        model=ScriptedModel(call("clerk", {"task": "Add."}), "3."),
        tools=[clerk.as_tool("clerk", "Adds.", blocking=True)],
        reporters=[collected.reporter],
    )
    manager.run_blocking("1 + 2?")

    names = {
        span.name: (span.attributes or {})["gen_ai.agent.name"]
        for span in collected.spans
        if span.name.startswith("execute_tool")
    }
    assert names == {"execute_tool add": "clerk", "execute_tool clerk": "manager"}


def test_messages_fit_the_schema_of_the_conventions() -> None:
    result = ToolResult(ToolCallId("c"), TextOutput("18"))
    picture = Media(Modality.IMAGE, "image/png", InlineBytes(b"x"))
    paper = File(InlineBytes(b"x"), "application/pdf", "a.pdf")
    items = [Item.user("look", picture, paper), Item.tool(result)]
    said, answer = json.loads(input_of(MessageCapture(), items))

    assert set(answer["parts"][0]) == {"type", "id", "response"}
    # These types have contents or ids, which are left out here.
    assert not {"blob", "file", "uri"} & {part["type"] for part in said["parts"]}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [("google", "gcp.gemini"), ("google-openai", "gcp.gemini"), ("anthropic-oauth", "anthropic"),
     ("azure", "azure.ai.openai"), ("xai", "x_ai"), ("groq", "groq"), (None, "unknown")],
)  # fmt: skip
def test_providers_have_the_names_of_the_conventions(ours: str | None, theirs: str) -> None:
    span = ModelCallSpan(session_id=SessionId("s"), started_ms=0, call=1, attempt=1, provider=ours)

    assert identity_of(span)["gen_ai.provider.name"] == theirs


class _Collector(BaseHTTPRequestHandler):
    bodies: list[bytes]

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
        pass


def test_a_collector_gets_the_same_spans_over_the_wire() -> None:
    otlp = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    wire = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
    handler = type("Collector", (_Collector,), {"bodies": []})
    server = HTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    collected = Collected()
    exporter = otlp.OTLPSpanExporter(f"http://127.0.0.1:{server.server_port}/v1/traces")
    collected.tracers.add_span_processor(SimpleSpanProcessor(exporter))
    model = ScriptedModel(call("add", {"a": 1, "b": 2}), "3.")
    Agent(model=model, tools=[add], reporters=[collected.reporter]).run_blocking("1 + 2?")
    exporter.shutdown()
    server.shutdown()
    server.server_close()

    received = []
    for body in handler.bodies:  # type: ignore[attr-defined]
        request = wire.ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                assert scope.schema_url.endswith(SEMANTIC_CONVENTIONS)
                received += scope.spans
    sent = collected.spans
    assert [
        (span.name, span.start_time_unix_nano, span.end_time_unix_nano) for span in received
    ] == [(span.name, span.start_time, span.end_time) for span in sent]
    assert [int.from_bytes(span.parent_span_id) for span in received] == [
        span.parent.span_id if span.parent else 0 for span in sent
    ]
    assert [{pair.key for pair in span.attributes} for span in received] == [
        set(span.attributes or ()) for span in sent
    ]


def test_the_front_door_does_not_load_opentelemetry() -> None:
    program = "import sys, agentkit_reporting; sys.exit('opentelemetry' in sys.modules)"

    assert subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode == 0


if __name__ == "__main__" and "--write" in sys.argv:
    AGREED.write_text(outlines(), encoding="utf-8")
