"""Golden traces: what a run does and tells, in order, one line of tokens a scenario.

The order of events is part of the public API; here it is written down. The pieces of an answer
that is being streamed pass the kernel by, so `content_delta` is in none of them. What the tokens
mean is said in `support/traces.py`.

Run this file to write them anew: `python tests/loop/kernel/test_golden_traces.py --write`.
"""

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from agentkit_core import ApprovalKind, FinishReason, Item, Text, TextOutput, ToolCallId, ToolResult
from agentkit_loop import (
    Agent,
    BackgroundDone,
    Execution,
    LoopConfig,
    LostTool,
    QueueMode,
    SteerPolicy,
)
from agentkit_loop.events import ContentDelta, Event
from agentkit_loop.kernel import (
    Close,
    HookPoints,
    Prepare,
    Prepared,
    StartTool,
    Submit,
    ToolProgressed,
)
from agentkit_loop.testing import ScriptedModel, call, fail
from agentkit_tools_core import tool
from support.answers import model_answer
from support.rig import Rig
from support.traces import event_trace, trace

FOLDER = Path(__file__).with_name("traces")

Scenario = Callable[[], Rig | str]
"""Plays it, and gives the rig, or the trace itself."""

SCENARIOS: dict[str, Scenario] = {}


def scenario(name: str) -> Callable[[Scenario], Scenario]:
    def keep(play: Scenario) -> Scenario:
        assert name not in SCENARIOS
        SCENARIOS[name] = play
        return play

    return keep


def written(name: str) -> str:
    """The file of a scenario: what it shows, and the trace."""
    play = SCENARIOS[name]
    about = " ".join((inspect.getdoc(play) or "").split())
    played = play()
    line = played if isinstance(played, str) else trace(played.effects)
    return f"# {about}\n{line}\n"


def asked(hooks: HookPoints | None = None, **changes: Any) -> Rig:
    """A rig with these hooks and this configuration, whose model was asked."""
    return Rig(LoopConfig(**changes), hooks=hooks).say().go_on()


# a prompt


@scenario("B01_simple_prompt")
def _() -> Rig:
    """One prompt, one answer."""
    return asked().answer()


@scenario("B01_several_prompts")
def _() -> Rig:
    """Several items at once are appended together, in front of one model call."""
    items = (Item.context("notes"), Item.user("a"), Item.user("b"))
    return Rig().give(Submit(items)).go_on().answer()


@scenario("B01_steering_while_idle")
def _() -> Rig:
    """What steers while no turn runs is ordinary input: it joins the same first model call."""
    return Rig().say("a").steer("b").go_on().answer()


# tools


@scenario("B02_one_tool_round")
def _() -> Rig:
    """The answer is in the transcript before any of its calls is looked at."""
    return asked().answer("t1").allow("t1").done("t1").answer()


@scenario("B03_parallel_tools")
def _() -> Rig:
    """No call starts before all are checked; results are told as they come, t2 first, and make
    one tool item in call order."""
    return asked().answer("t1", "t2").allow("t1", "t2").done("t2", "t1").answer()


@scenario("B03_a_call_that_may_not_run")
def _() -> Rig:
    """A call that fails its check has its result at once, and was never started."""
    return asked().answer("bad", "good").refuse("bad").allow("good").done("good").answer()


@scenario("B04_sequential")
def _() -> Rig:
    """One after another: each call is checked when the one before has its result."""
    rig = asked(execution=Execution.SEQUENTIAL).answer("t1", "t2")
    return rig.allow("t1").done("t1").allow("t2").done("t2").answer()


@scenario("B04_reads_parallel")
def _() -> Rig:
    """Calls that only read run side by side, and those that write one after another."""
    rig = asked(execution=Execution.READS_PARALLEL).answer("r1", "r2", "w1", "w2")
    rig.allow("r1", "r2", read_only=True).allow("w1", "w2")
    return rig.done("r2", "r1").done("w1").done("w2").answer()


@scenario("B04_an_exclusive_tool")
def _() -> Rig:
    """A tool that must run alone waits for those before it, and those behind it wait for it; the
    rest of the round stays parallel."""
    rig = asked().answer("t1", "x", "t2").allow("t1").allow("x", exclusive=True).allow("t2")
    return rig.done("t1").done("x").done("t2").answer()


@scenario("B05_progress")
def _() -> Rig:
    """Progress of two calls interleaves; what comes after a result is not told."""
    rig = asked().answer("t1", "t2").allow("t1", "t2")
    one, two = rig.out(StartTool, "t1").id, rig.out(StartTool, "t2").id
    for effect_id in (one, two, one):
        rig.give(ToolProgressed(effect_id, "more"))
    rig.done("t1").give(ToolProgressed(one, "late"))
    return rig.done("t2").answer()


# steering, follow-ups


@scenario("B06_steering_during_tools")
def _() -> Rig:
    """The whole round completes; then the model reads what was said, in the same turn."""
    rig = asked().answer("t1", "t2").allow("t1", "t2").steer()
    return rig.done("t1", "t2").answer()


@scenario("B06_steering_skips_what_has_not_begun")
def _() -> Rig:
    """As an option: calls that do not run yet are answered as skipped."""
    rig = asked(max_parallel=1, steer_policy=SteerPolicy.SKIP_UNSTARTED)
    return rig.answer("t1", "t2").allow("t1", "t2").steer().done("t1").answer()


@scenario("B06_one_at_a_time")
def _() -> Rig:
    """Two submissions, one at each safe point: two more model calls."""
    rig = asked(queue_mode=QueueMode.ONE).steer("S1").steer("S2")
    return rig.answer().answer().answer()


@scenario("B07_follow_up")
def _() -> Rig:
    """A follow-up has a turn of its own, with a result of its own; `continue` begins it."""
    return asked().say("more").answer().go_on().answer()


@scenario("B07_steering_goes_before_a_follow_up")
def _() -> Rig:
    """Both are queued when the answer comes: steering in this turn, the follow-up in the next."""
    return asked().say("F").steer("S").answer().answer().go_on().answer()


# cancelling


@scenario("B08_cancel_mid_stream")
def _() -> Rig:
    """What came is kept, marked as interrupted; cancelling is idle in one step."""
    return asked().cancel(model_answer(text="Hel"))


@scenario("B08_cancel_before_anything_came")
def _() -> Rig:
    """No empty answer is left behind."""
    return asked().cancel()


@scenario("B08_cancel_with_a_whole_call_in_the_stream")
def _() -> Rig:
    """A call that had come whole is not run, and has a result that says so."""
    return asked().cancel(model_answer("t1"))


@scenario("B08b_cancel_during_tools")
def _() -> Rig:
    """Finished results are kept, the others say that they were interrupted; every call has one,
    and no further model call is pretended."""
    rig = asked().answer("t1", "t2").allow("t1", "t2").done("t2")
    return rig.cancel()


@scenario("B08b_cancel_during_sequential_tools")
def _() -> Rig:
    """Calls that were not begun have a result too, which says that nothing was executed."""
    rig = asked(execution=Execution.SEQUENTIAL).answer("t1", "t2").allow("t1")
    return rig.cancel()


# failures


@scenario("B09_provider_error")
def _() -> Rig:
    """A failure is data: the turn ends with `error`, and is paired like any other."""
    return asked().fail(Text(text="Hel"), retryable=False)


@scenario("B09_request_that_cannot_be_made")
def _() -> Rig:
    """A hook that raises, or a tool source that fails, ends the turn before the model is asked."""
    rig = Rig(prepares=False).say().go_on()
    return rig.give(Prepared(rig.out(Prepare).id, error="provider exploded"))


@scenario("B11_continue_after_an_error")
def _() -> Rig:
    """A turn without new input, because the last item still asks for an answer."""
    return asked().fail(retryable=False).forget().go_on(redrive=True).answer()


@scenario("B11_continue_with_an_answer_last")
def _() -> Rig:
    """What is queued is the input; with nothing queued the host is told that input is awaited."""
    rig = asked().answer().forget().go_on(redrive=True)
    return rig.say("a").go_on(redrive=True).answer()


# ends


@scenario("B10_a_tool_ends_the_turn")
def _() -> Rig:
    """One call of the round is enough, where others want all; no further model call is made."""
    return asked().answer("t1", "t2").allow("t1", "t2").done("t1", stop=True).done("t2")


@scenario("B10_a_tool_ends_the_turn_with_a_follow_up_queued")
def _() -> Rig:
    """Queued input begins the next turn."""
    rig = asked().answer("t1").allow("t1").say("F").done("t1", stop=True)
    return rig.go_on().answer()


@scenario("B12_a_hook_stops_after_a_round")
def _() -> Rig:
    """The request hook says stop instead of asking the model again; what is queued stays."""
    rig = asked(HookPoints(request=True)).answer("t1").allow("t1").say("F")
    rig.prepares = False
    rig.done("t1")
    return rig.give(Prepared(rig.out(Prepare).id, stop=True))


@scenario("B12_a_hook_gives_the_model_more_to_do")
def _() -> Rig:
    """Before a turn ends as completed its hooks are asked."""
    rig = asked(HookPoints(finish=True)).answer()
    return rig.checked(Item.user("and the tests?")).answer().checked()


@scenario("B13_output_limit_while_calling_tools")
def _() -> Rig:
    """Only the last call may be cut, so only that one is answered as such; the others are run."""
    return asked().answer("t1", "t2", reason=FinishReason.MAX_TOKENS).allow("t1").done("t1")


@scenario("B13_output_limit_in_the_only_call")
def _() -> Rig:
    """Nothing is checked or run, and the model is asked again."""
    return asked().answer("t1", reason=FinishReason.MAX_TOKENS).answer()


# an agent as a tool


def outside(*inner: Any) -> str:
    """What is told of a turn whose model gives a task to an agent that answers so."""

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    told: list[Event] = []
    clerk = Agent(model=ScriptedModel(*inner), tools=[look])
    agent = Agent(
        model=ScriptedModel(call("clerk", {"task": "t"}, "c1"), "ok"),
        tools=[clerk.as_tool("clerk", "Does paperwork.", blocking=True)],
        reporters=[lambda envelope: told.append(envelope.event)],
    )
    agent.run_blocking("go")
    return event_trace(event for event in told if not isinstance(event, ContentDelta))


@scenario("B14_inner_agent")
def _() -> str:
    """What happens inside is told inside; outside, it is a tool that says how far it is."""
    return outside(call("look"), "done")


@scenario("B14_inner_agent_fails")
def _() -> str:
    """A failure inside is an error result, and the outer turn goes on."""
    return outside(fail(retryable=False))


# background, asks, losses


@scenario("detach_after_a_while")
def _() -> Rig:
    """The model is told that the call goes on, and of its end in a notification."""
    rig = asked().answer("t1").allow("t1", detach_after_s=1.0).ring()
    return rig.answer().done("t1").go_on().answer()


@scenario("background_done_continues")
def _() -> Rig:
    """As an option, the end of a background call begins a turn by itself."""
    rig = asked(background_done=BackgroundDone.CONTINUE).answer("t1")
    return rig.allow("t1", detach_after_s=0).answer().done("t1").answer()


@scenario("a_tool_asks_in_the_middle")
def _() -> Rig:
    """It stops, and is started again with the answer; it is told as started once."""
    rig = asked().answer("t1").allow("t1")
    rig.stop_to_ask("t1", "which", want=ApprovalKind.QUESTION).resolve("which", answer="that one")
    return rig.done("t1").answer()


@scenario("a_lost_tool_is_asked_about")
def _() -> Rig:
    """Whoever ran it is gone; someone says whether it may run again."""
    rig = asked(lost_tool=LostTool.ASK).answer("t1").allow("t1").begin("t1").crash()
    return rig.resolve("tool.lost:t1:0").done("t1").answer()


@scenario("close_in_the_middle_of_a_round")
def _() -> Rig:
    """Everything is ended: the turn first, then what goes on in the background."""
    rig = asked().answer("a", "b").allow("a").allow("b", detach_after_s=0)
    return rig.give(Close())


# the traces of the kernel's design


@scenario("7_12_two_parallel_tools")
def _() -> Rig:
    """Two tools side by side, b first; the host has the word after the round."""
    rig = asked(yield_after_round=True).answer("a", "b").allow("a", "b")
    return rig.done("b", "a").go_on().answer()


@scenario("7_12_cancel_mid_round")
def _() -> Rig:
    """While a runs, b goes on in the background and c asks; then b is done, and a turn tells the
    model."""
    rig = asked().answer("a", "b", "c").allow("a").allow("b", detach_after_s=0)
    rig.ask_for("c", "write").cancel().done("b")
    return rig.go_on()


@scenario("7_12_retry")
def _() -> Rig:
    """What was shown of the failed attempt is superseded, and the request is not made anew."""
    return asked().fail(Text(text="Hel")).ring().answer(text="Hello")


@scenario("7_12_mutator_rollback")
def _() -> Rig:
    """A mutator makes a transcript that breaks a rule: nothing of it is taken."""
    rig = asked(HookPoints(mutators=True))
    orphan = ToolResult(call_id=ToolCallId("zz"), output=TextOutput("r"))
    rig.mutated(Item.tool(orphan))
    assert rig.kinds == "user"
    return rig


@scenario("7_12_two_approvals_in_one_call")
def _() -> Rig:
    """Its sibling runs meanwhile; after the second yes the call starts, once."""
    rig = asked().answer("a", "b").ask_for("a", "write", "send").allow("b").done("b")
    return rig.resolve("send").resolve("write").done("a").answer()


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_does_and_tells_what_was_agreed(name: str) -> None:
    agreed = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")

    assert written(name) == agreed, f"if you mean it: python {__file__} --write"


def test_every_trace_has_its_scenario() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == SCENARIOS.keys()


if __name__ == "__main__" and "--write" in sys.argv:
    FOLDER.mkdir(exist_ok=True)
    for path in FOLDER.glob("*.txt"):
        path.unlink()
    for each in SCENARIOS:
        (FOLDER / f"{each}.txt").write_text(written(each), encoding="utf-8")
