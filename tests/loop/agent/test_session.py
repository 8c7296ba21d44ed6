"""Sessions: what a host says, is asked and is handed, in either form."""

import pickle
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from agentkit_core import (
    ApprovalRequest,
    FailureKind,
    Item,
    ModelRequest,
    TextOutput,
    TokenUsage,
    ToolCallId,
    ToolFailure,
    Transcript,
    Usage,
    repair,
)
from agentkit_loop import (
    AfterRound,
    Agent,
    ApprovalDecision,
    ApprovalRequiredError,
    AwaitingInput,
    Execution,
    Finished,
    LoopConfig,
    NothingToContinue,
    Prompt,
    QueueMode,
    SessionClosed,
    TurnEnd,
    TurnRunning,
    UnknownApproval,
    WaitingForApproval,
    decode_state,
)
from agentkit_loop.events import (
    Envelope,
    Event,
    ItemsAppended,
    ModelCallFinished,
    ToolExecutionStarted,
    TurnFinished,
)
from agentkit_loop.kernel import Phase
from agentkit_loop.testing import ManualClock, Reply, ScriptedModel, call, fail, say
from agentkit_tools_core import ToolInvocation, tool
from agentkit_tools_core.permissions import Ask, PermissionRequest, PolicyFacts
from agentkit_tools_core.sync import NeedsEventLoop

RAN: list[str] = []


@tool(needs_approval=True)
def write(path: str) -> str:
    """Write a file."""
    RAN.append(path)
    return f"wrote {path}"


@tool
def read() -> str:
    """Read something."""
    return "content"


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


def used(given: int, said: int) -> Usage:
    """What one answer used."""
    return Usage(TokenUsage(input=given, output=said), requests=1, reported_requests=1)


def gated(*more: Reply) -> Agent:
    """An agent whose model writes, and then says that it is done."""
    script = (Reply.of(call("write", {"path": "a"})), *more, say("done"))
    return Agent(model=ScriptedModel(*script), tools=[write, read])


async def test_a_conversation_goes_on_turn_by_turn() -> None:
    model = ScriptedModel(say("one"), say("two"))
    async with Agent(model=model).session() as session:
        assert (await session.prompt("first")).text == "one"
        assert (await session.prompt([Item.user("second")])).text == "two"

        assert [item.text for item in session.transcript] == ["first", "one", "second", "two"]
        assert [item.text for item in model.requests[1].items] == ["first", "one", "second"]


async def test_without_anyone_to_ask_a_prompt_raises_and_the_turn_waits() -> None:
    async with gated().session() as session:
        with pytest.raises(ApprovalRequiredError) as raised:
            await session.prompt("go")
        (ask,) = raised.value.requests
        assert (ask.call.name, ask.call.input) == ("write", {"path": "a"})
        assert "write" in str(raised.value)
        with pytest.raises(TurnRunning):
            await session.prompt("and now?")

        session.approve(ask.id)
        step = await session.next()

        assert isinstance(step, Finished)
        assert step.result.text == "done"
        assert RAN == ["a"]


async def test_t02_tools_that_only_read_may_run_side_by_side_and_all_others_alone() -> None:
    running, most = list[str](), dict[str, int]()

    async def work(name: str) -> str:
        running.append(name)
        await anyio.sleep(0)
        most[name] = max(most.get(name, 0), len(running))
        await anyio.sleep(0)
        running.remove(name)
        return name

    peek = tool(name="peek", read_only=True)(work)
    poke = tool(name="poke")(work)
    calls = [call("peek", {"name": "r1"}, "1"), call("poke", {"name": "w1"}, "2")]
    more = [call("peek", {"name": one}, one) for one in ("r2", "r3")]
    model = ScriptedModel(Reply.of(*calls, *more, call("poke", {"name": "w2"}, "5")), "ok")
    config = LoopConfig(execution=Execution.READS_PARALLEL)
    await Agent(model=model, tools=[peek, poke], config=config).run("go")

    assert most == {"r1": 1, "w1": 1, "r2": 2, "r3": 2, "w2": 1}


async def test_driving_step_by_step() -> None:
    async with gated().session() as session:
        assert await session.next() == AwaitingInput()
        session.submit("go")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        again = await session.next()
        assert again == step
        session.deny(step.requests[0].id, reason="not now")
        step = await session.next()
        assert isinstance(step, Finished)
        assert await session.next() == AwaitingInput()

        (result,) = session.transcript[2].tool_results
        assert result.output == TextOutput("not now")
        assert RAN == []


async def test_the_host_has_the_word_after_a_round_if_it_is_configured_so() -> None:
    model = ScriptedModel(call("read"), say("done"))
    config = LoopConfig(yield_after_round=True)
    async with Agent(model=model, tools=[read], config=config).session() as session:
        session.submit("go")
        assert await session.next() == AfterRound()
        session.steer("quickly")
        assert isinstance(await session.next(), Finished)

        assert [item.text for item in model.requests[1].items][-1] == "quickly"


async def test_a_stream_ends_where_someone_must_be_asked_and_goes_on_afterwards() -> None:
    async with gated().session() as session:
        events: list[Event] = [event async for event in session.stream("go")]
        assert not any(isinstance(one, TurnFinished) for one in events)
        (ask,) = session.pending_approvals
        session.approve(ask.id)

        events = [event async for event in session.stream()]

        assert isinstance(events[-1], TurnFinished)
        assert events[-1].result.text == "done"


def test_a_name_is_no_model_and_the_error_says_what_makes_one_of_it() -> None:
    name: Any = "openai:gpt-5-mini"

    with pytest.raises(TypeError, match=r"openai:gpt-5-mini.*connect"):
        Agent(model=name)


@pytest.mark.parametrize("blocking", [False, True])
async def test_on_approval_is_asked_and_its_answer_counts(blocking: bool) -> None:
    asked: list[ApprovalRequest] = []
    answers: list[bool | ApprovalDecision] = [
        False,
        ApprovalDecision(approve=True, input={"path": "b"}),
        True,
    ]

    def on_approval(ask: ApprovalRequest) -> bool | ApprovalDecision:
        asked.append(ask)
        return answers[len(asked) - 1]

    calls = Reply.of(*(call("write", {"path": f"p{at}"}, f"c{at}") for at in range(3)))
    agent = Agent(model=ScriptedModel(calls, "done"), tools=[write], on_approval=on_approval)
    result = agent.run_blocking("go") if blocking else await agent.run("go")

    assert [ask.call.id for ask in asked] == ["c0", "c1", "c2"]
    assert sorted(RAN) == ["b", "p2"]
    assert [one.is_error for one in result.items[1].tool_results] == [True, False, False]


async def test_o03_a_call_is_denied_when_whoever_must_approve_it_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def on_approval(ask: ApprovalRequest) -> bool:
        raise OSError("no terminal")

    model = ScriptedModel(call("write", {"path": "a"}), "done")
    result = await Agent(model=model, tools=[write], on_approval=on_approval).run("go")

    assert RAN == []
    assert result.items[1].tool_results[0].is_error
    assert "on_approval failed" in caplog.text


async def test_an_async_on_approval_is_awaited() -> None:
    async def asks_later(ask: ApprovalRequest) -> bool:
        await anyio.lowlevel.checkpoint()
        return ask.call.input == {"path": "a"}

    model = ScriptedModel(call("write", {"path": "a"}), call("write", {"path": "b"}, "c2"), "done")
    await Agent(model=model, tools=[write], on_approval=asks_later).run("go")

    assert RAN == ["a"]


def test_vl12_an_async_on_approval_is_a_mistake_where_there_is_no_event_loop() -> None:
    async def asks_later(ask: ApprovalRequest) -> bool:
        await anyio.sleep(0)
        return True

    model = ScriptedModel(call("write", {"path": "a"}), "done")
    with pytest.raises(NeedsEventLoop, match="on_approval"):
        Agent(model=model, tools=[write], on_approval=asks_later).run_blocking("go")

    assert RAN == []


async def test_o03_what_is_no_yes_and_no_decision_does_not_approve_a_call() -> None:
    nonsense: list[Any] = [lambda _: "no", lambda _: 1, lambda _: None]
    for on_approval in nonsense:
        model = ScriptedModel(call("write", {"path": "a"}), "done")
        result = await Agent(model=model, tools=[write], on_approval=on_approval).run("go")

        assert RAN == []
        assert result.items[1].tool_results[0].is_error


async def test_one_no_is_enough_for_a_call_and_nobody_is_asked_the_rest() -> None:
    def propose(request: ToolInvocation) -> list[PermissionRequest]:
        return [PermissionRequest(kind, f"{kind} it") for kind in ("net.send", "fs.write")]

    def always_ask(request: PermissionRequest, facts: PolicyFacts) -> Ask:
        return Ask()

    asked: list[str] = []

    def on_approval(ask: ApprovalRequest) -> bool:
        asked.append(ask.kind)
        return False

    agent = Agent(
        model=ScriptedModel(call("upload"), "done"),
        tools=[tool(name="upload", permissions=propose)(lambda: "sent")],
        policy=always_ask,
        on_approval=on_approval,
    )
    result = await agent.run("go")

    assert asked == ["net.send"]
    assert result.items[1].tool_results[0].is_error


async def test_l07_what_was_approved_once_runs_once_and_is_not_asked_for_again() -> None:
    model = ScriptedModel(call("write", {"path": "a"}), say("done"), say("hello"))
    async with Agent(model=model, tools=[write]).session() as session:
        session.submit("go")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        session.approve(step.requests[0].id)
        with pytest.raises(UnknownApproval):
            session.approve(step.requests[0].id)
        await session.next()
        await session.prompt("more")

    assert RAN == ["a"]


async def test_l23_asks_are_told_at_once_and_handed_over_when_siblings_are_done() -> None:
    @tool
    async def slow() -> str:
        """Take a while."""
        await anyio.sleep(0.01)
        return "slow"

    both = Reply.of(call("write", {"path": "a"}, "w"), call("slow", {}, "s"))
    async with Agent(model=ScriptedModel(both, "ok"), tools=[write, slow]).session() as session:
        told: list[str] = []
        session.subscribe(lambda envelope: told.append(type(envelope.event).__name__))
        session.submit("go")
        step = await session.next()

        assert isinstance(step, WaitingForApproval)
        assert told.index("ApprovalRequired") < told.index("ToolResultReceived")
        assert session.view.pending_calls == ("w",)


async def test_l29_what_an_approver_changed_is_what_runs_and_what_the_model_said_is_kept() -> None:
    async with gated().session() as session:
        session.submit("go")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        session.approve(step.requests[0].id, input={"path": "b"})
        await session.next()

        assert RAN == ["b"]
        assert session.transcript[1].tool_calls[0].input == {"path": "a"}
        assert session.transcript[2].tool_results[0].output == TextOutput("wrote b")


async def test_l29_what_an_approver_changed_is_checked_like_any_arguments() -> None:
    async with gated().session() as session:
        session.submit("go")
        step = await session.next()
        assert isinstance(step, WaitingForApproval)
        session.approve(step.requests[0].id, input={"where": "b"})
        await session.next()

        (result,) = session.transcript[2].tool_results
        assert (result.failure, result.started) == (ToolFailure.INVALID_INPUT, False)
        assert RAN == []


async def test_l19_a_turn_has_all_its_items_and_the_sum_of_its_usage() -> None:
    asks = Reply.of(call("read"), usage=used(10, 2))
    model = ScriptedModel(asks, Reply.of("done", usage=used(20, 3)))
    result = await Agent(model=model, tools=[read]).run("go")

    assert [item.kind for item in result.items] == ["assistant", "tool", "assistant"]
    assert result.usage == used(10, 2) + used(20, 3)
    assert (result.usage.tokens.input, result.usage.tokens.output) == (30, 5)
    assert (result.model_calls, result.tool_calls) == (2, 1)
    assert [item.usage for item in result.items] == [used(10, 2), None, used(20, 3)]


async def test_an_approval_that_nobody_waits_for_is_a_mistake() -> None:
    async with gated().session() as session:
        with pytest.raises(ApprovalRequiredError):
            await session.prompt("go")
        (ask,) = session.pending_approvals
        with pytest.raises(UnknownApproval):
            session.approve(ask.id, call_id=ToolCallId("other"))
        session.cancel()
        with pytest.raises(UnknownApproval):
            session.deny(ask.id)
        assert Transcript(session.transcript).open_calls == ()


async def test_the_result_of_a_turn_that_was_cancelled_between_calls_is_not_the_next_ones() -> None:
    async with gated().session() as session:
        with pytest.raises(ApprovalRequiredError):
            await session.prompt("go")
        session.cancel()

        result = await session.prompt("again")

        assert (result.end, result.text) == (TurnEnd.COMPLETED, "done")


async def test_l11_prompt_runs_what_was_queued_meanwhile_and_each_item_is_there_once() -> None:
    model = ScriptedModel(call("read"), say("one"), say("two"))
    async with Agent(model=model, tools=[read]).session() as session:

        def queue(envelope: Envelope) -> None:
            if isinstance(envelope.event, ToolExecutionStarted):
                session.steer("S1")
                session.submit("F1")
                session.steer("S2")

        session.subscribe(queue)
        result = await session.prompt("go")

        assert result.text == "two"
        texts = [item.text for item in session.transcript if item.kind == "user"]
        assert texts == ["go", "S1", "S2", "F1"]
        assert session.view.queued == ()


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("moment", [ModelCallFinished, ItemsAppended, TurnFinished])
async def test_l11_what_is_said_between_the_last_answer_and_the_end_is_answered_too(
    moment: type[Event], streamed: bool
) -> None:
    model = ScriptedModel("one", "two")
    async with Agent(model=model).session() as session:

        def steer(envelope: Envelope) -> None:
            said = isinstance(envelope.event, ItemsAppended) and not model.requests
            if isinstance(envelope.event, moment) and not said:
                leave()
                session.steer("S3")

        leave = session.subscribe(steer)
        if streamed:
            async for _ in session.stream("go"):
                pass
        else:
            await session.prompt("go")

        assert [item.text for item in session.transcript] == ["go", "one", "S3", "two"]
        assert (session.view.queued, session.view.steering) == ((), ())


async def test_c09_steering_said_in_idle_is_answered_by_continuing_one_at_a_time() -> None:
    model = ScriptedModel("zero", "one", "two")
    async with Agent(model=model, config=LoopConfig(queue_mode=QueueMode.ONE)).session() as session:
        await session.prompt("go")
        session.steer("S1")
        session.steer("S2")
        result = await session.continue_()

        assert result.text == "two"
        assert [one.text for one in session.transcript[2:]] == ["S1", "one", "S2", "two"]


async def test_c09_what_cannot_be_done_while_a_turn_runs_is_told_and_changes_nothing() -> None:
    async with gated().session() as session:
        with pytest.raises(NothingToContinue):
            await session.continue_()
        with pytest.raises(ApprovalRequiredError):
            await session.prompt("go")
        before = session.view

        with pytest.raises(TurnRunning, match=r"`continue_`.*`steer` or `submit`.*`cancel`"):
            await session.prompt("more")
        with pytest.raises(ApprovalRequiredError):
            await session.continue_()
        with pytest.raises(TurnRunning, match="cannot reset"):
            session.reset()
        assert session.view == before


async def test_c10_cancelling_twice_or_in_idle_does_nothing() -> None:
    events: list[Event] = []
    async with gated().session() as session:
        session.cancel()
        with pytest.raises(ApprovalRequiredError):
            await session.prompt("go")
        session.subscribe(lambda envelope: events.append(envelope.event))
        session.cancel()
        once = len(events)
        session.cancel()

        assert len(events) == once
        assert [type(one) for one in events].count(TurnFinished) == 1


async def test_b16_an_item_is_in_the_transcript_before_anyone_is_told_of_it() -> None:
    async with Agent(model=ScriptedModel(call("read"), "ok"), tools=[read]).session() as session:
        told: list[tuple[Item, ...]] = []

        def look(envelope: Envelope) -> None:
            if isinstance(envelope.event, ItemsAppended):
                told.append(envelope.event.items)
                assert session.transcript[-len(envelope.event.items) :] == envelope.event.items

        session.subscribe(look)
        await session.prompt("go")

        assert tuple(item for items in told for item in items) == session.transcript
        assert session.view.reporter_failures == 0


async def test_a_close_that_was_dropped_half_way_can_be_repeated() -> None:
    async with Agent(model=ScriptedModel("ok")).session() as session:
        await session.prompt("go")
        told: list[str] = []
        session.subscribe(lambda envelope: told.append(type(envelope.event).__name__))
        with anyio.CancelScope() as scope:
            scope.cancel()
            await session.close()
        await session.close()

        assert told == ["RunFinished"]
        with pytest.raises(SessionClosed):
            await session.next()


async def test_after_a_cancel_what_is_queued_stays_queued() -> None:
    model = ScriptedModel(Reply.of("Hel", hangs=True), say("two"))
    async with Agent(model=model).session() as session, anyio.create_task_group() as group:

        async def stop() -> None:
            while session.view.answer is None:
                await anyio.lowlevel.checkpoint()
            session.submit("later")
            session.cancel()

        group.start_soon(stop)
        result = await session.prompt("go")
        assert result.end is TurnEnd.CANCELLED
        assert [item.text for item in session.view.queued] == ["later"]

        assert (await session.continue_()).text == "two"


async def test_a_failed_turn_can_be_continued_without_saying_anything() -> None:
    model = ScriptedModel(fail(FailureKind.AUTH, retryable=False), say("hello"))
    async with Agent(model=model).session() as session:
        result = await session.prompt("go")
        assert result.end is TurnEnd.ERROR
        assert result.failure is not None
        assert result.failure.kind is FailureKind.AUTH

        assert (await session.continue_()).text == "hello"
        with pytest.raises(NothingToContinue):
            await session.continue_()


async def test_a_closed_session_takes_nothing_more() -> None:
    async with Agent(model=ScriptedModel()).session() as session:
        await session.close()
        await session.close()
        with pytest.raises(SessionClosed):
            session.submit("hi")
        with pytest.raises(SessionClosed):
            await session.next()
        assert session.view.phase is Phase.CLOSED


async def test_a_view_shows_the_answer_as_it_grows_and_what_waits() -> None:
    model = ScriptedModel(Reply.of("Hello", call("write", {"path": "a"})), say("done"))
    async with Agent(model=model, tools=[write]).session() as session:
        shown: list[str] = []

        def look(envelope: Envelope) -> None:
            answer = session.view.answer
            if answer is not None:
                shown.append(answer.item.text)

        session.subscribe(look)
        with pytest.raises(ApprovalRequiredError):
            await session.prompt("go")
        session.steer("hurry")

        view = session.view
        assert "Hello" in shown
        assert view.answer is None
        assert (view.phase, view.turn_id, view.model) == (Phase.ROUND, "turn-1", "scripted")
        assert view.pending_calls == ("c1",)
        assert [ask.call.name for ask in view.pending_approvals] == ["write"]
        assert [item.text for item in view.steering] == ["hurry"]


async def test_a_sessions_state_is_json_at_every_event() -> None:
    states: list[bytes] = []
    model = ScriptedModel(fail(), Reply.of("so", call("read"), call("read", {}, "c2")), "done")
    agent = Agent(model=model, tools=[read], clock=ManualClock())
    async with agent.session() as one:
        one.subscribe(lambda envelope: states.append(one.snapshot()))
        await one.prompt("go")
        last = one.snapshot()

    assert decode_state(last).transcript.items == one.transcript
    assert all(decode_state(state).session_id == one.id for state in states)


async def test_what_reads_the_whole_request_gets_the_tools_that_there_are() -> None:
    def look(request: ModelRequest) -> str:
        return ",".join(spec.name for spec in request.tools)

    assert (
        await Agent(model=ScriptedModel(look), tools=[read, write]).run("?")
    ).text == "read,write"


async def test_an_agent_that_streams_says_that_it_needs_an_approval() -> None:
    with pytest.raises(ApprovalRequiredError):
        async for _ in gated().stream("go"):
            pass
    with pytest.raises(ApprovalRequiredError):
        for _ in gated().stream_blocking("go"):
            pass


async def test_an_approval_that_nobody_gives_loses_nothing_of_the_conversation() -> None:
    with pytest.raises(ApprovalRequiredError) as raised:
        await gated().run("go")

    needed = pickle.loads(pickle.dumps(raised.value))
    assert [item.kind for item in needed.transcript] == ["user", "assistant"]
    assert needed.usage.requests == 1
    model = ScriptedModel(say("Never mind."))
    result = await Agent(model=model).run("Leave it.", history=repair(needed.transcript))
    assert result.text == "Never mind."
    assert model.requests[0].items[2].tool_results[0].is_error


@pytest.mark.parametrize("nothing", [[], "", " \n"])
async def test_nothing_said_is_nothing_done(nothing: Prompt) -> None:
    with pytest.raises(NothingToContinue):
        await Agent(model=ScriptedModel()).run(nothing)


async def test_blank_text_from_the_host_is_no_item() -> None:
    model = ScriptedModel(say("hello"))
    async with Agent(model=model).session() as session:
        session.steer("")
        session.submit("\t")
        await session.prompt("hi")

        assert [item.kind.value for item in session.transcript] == ["user", "assistant"]
    assert [item.text for item in model.requests[0].items] == ["hi"]


@pytest.mark.parametrize("patient", [False, True])
async def test_an_async_on_approval_is_asked_while_other_calls_run(patient: bool) -> None:
    order: list[str] = []
    asked = anyio.Event()

    @tool
    async def slow() -> str:
        """Run until somebody is asked."""
        with anyio.move_on_after(0.1):
            await asked.wait()
        order.append("slow")
        return "ok"

    async def later(ask: ApprovalRequest) -> bool:
        order.append("asked")
        asked.set()
        await anyio.sleep(0.01)
        return True

    def at_once(ask: ApprovalRequest) -> bool:
        order.append("asked")
        return True

    model = ScriptedModel(Reply.of(call("slow"), call("write", {"path": "a"}, "c2")), "done")
    agent = Agent(model=model, tools=[slow, write], on_approval=at_once if patient else later)
    result = await agent.run("go")

    assert result.text == "done"
    assert RAN == ["a"]
    assert order == (["slow", "asked"] if patient else ["asked", "slow"])


async def test_cancelling_while_somebody_is_asked_beside_running_calls_ends_it_all() -> None:
    ended: list[str] = []

    @tool
    async def slow() -> str:
        """Run for ever."""
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("slow")
        return "never"

    async def never(ask: ApprovalRequest) -> bool:
        await anyio.sleep(0.01)
        session.cancel()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("asked")
        return True

    model = ScriptedModel(Reply.of(call("slow"), call("write", {"path": "a"}, "c2")), "again")
    agent = Agent(model=model, tools=[slow, write], on_approval=never)
    async with agent.session() as session:
        with anyio.fail_after(5):
            result = await session.prompt("go")
        assert result.end is TurnEnd.CANCELLED
        assert sorted(ended) == ["asked", "slow"]
        assert (await session.prompt("and now?")).text == "again"
    assert RAN == []


async def test_what_on_approval_raises_beside_running_calls_denies_the_call() -> None:
    async def broken(ask: ApprovalRequest) -> bool:
        raise OSError("no terminal")

    model = ScriptedModel(Reply.of(call("read"), call("write", {"path": "a"}, "c2")), "done")
    result = await Agent(model=model, tools=[read, write], on_approval=broken).run("go")

    assert result.text == "done"
    assert RAN == []
    assert [one.is_error for one in result.items[1].tool_results] == [False, True]
