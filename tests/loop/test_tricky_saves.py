"""Tricky cases of sessions that are saved, lost by their driver, changed or forgotten."""

from pathlib import Path

import pytest

from agentkit_core import (
    FailureKind,
    FinishReason,
    Item,
    ModelOptions,
    ModelResponse,
    ProviderFailure,
    TextOutput,
    ThinkingLevel,
    TokenUsage,
    ToolCallId,
    ToolFailure,
    ToolResult,
)
from agentkit_loop import (
    CallModel,
    Close,
    Configure,
    Continue,
    EffectLost,
    GrantScope,
    InputWithdrawn,
    Lane,
    LoopConfig,
    LostTool,
    ModelCallStarted,
    ModelFailed,
    MutatorFailure,
    MutatorsDone,
    Phase,
    Prepare,
    Prepared,
    Reset,
    RunFinished,
    RunMutators,
    SettingsChanged,
    StartTimer,
    StartTool,
    State,
    Submit,
    TimerKind,
    TurnEnd,
    Unqueue,
    decode_state,
    encode_state,
    model_request,
    step,
)
from agentkit_loop.persistence._records import LogEntry, Saved
from agentkit_loop.persistence._snapshot import decode_head, encode_head
from support.rig import Rig

STATES = Path(__file__).with_name("states")


def stored(name: str) -> State:
    return decode_state((STATES / f"{name}.json").read_bytes())


# states of version 1


def test_an_idle_state_of_version_1_goes_on() -> None:
    rig = Rig(state=stored("v1_idle"))
    assert rig.state.config.max_parallel == 2

    rig.go_on().answer("a")

    assert rig.kinds == "user assistant tool assistant user assistant"
    # The ids that it had seen are known still.
    assert rig.last.tool_calls[0].id != "a"


def test_a_state_of_version_1_in_the_middle_of_a_round_goes_on_to_the_end_of_its_turn() -> None:
    rig = Rig(state=stored("v1_round"))
    assert [ask.id for ask in rig.state.asks] == ["write:x"]
    assert rig.turn.tool_calls == 5

    rig.resolve("write:x").done("b", "c", "d").answer()

    assert rig.kinds == "user assistant tool assistant tool user assistant"
    assert [one.call_id for one in rig.state.transcript[4].tool_results] == list("abcd")
    result = rig.result
    assert (result.end, result.model_calls, result.tool_calls) == (TurnEnd.COMPLETED, 3, 5)
    kinds = [item.kind.value for item in result.items]
    assert kinds == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert result.usage.tokens == TokenUsage(input=11, output=2)


def test_a_tool_that_a_state_of_version_1_had_asked_for_is_not_begun_a_second_time() -> None:
    rig = Rig(state=stored("v1_round")).crash()

    assert not any(isinstance(one, StartTool) for one in rig.effects)
    rig.cancel()
    assert rig.told("b").failure is ToolFailure.OUTCOME_UNKNOWN
    assert rig.told("a").output == TextOutput("r")


def test_a_retry_of_version_1_makes_its_request_first() -> None:
    rig = Rig(state=stored("v1_backoff"), prepares=False).ring()

    assert rig.trace == "!prepare"
    rig.give(Prepared(rig.out(Prepare).id))
    assert any(isinstance(one, ModelCallStarted) and one.attempt == 2 for one in rig.events)


def test_a_model_call_of_version_1_that_was_lost_is_made_again() -> None:
    rig = Rig(state=stored("v1_calling")).crash().answer()

    assert rig.kinds == "user assistant tool assistant"
    assert rig.result.usage.requests == 3


@pytest.mark.parametrize("path", sorted(STATES.glob("*.json")), ids=lambda path: path.stem)
def test_an_upgraded_state_is_one_of_today(path: Path) -> None:
    state = decode_state(path.read_bytes())

    assert decode_state(encode_state(state)) == state
    for given in (Close(), Continue(), Submit((Item.user("x"),))):
        after, _ = step(state, given, 0)
        assert decode_state(encode_state(after)) == after
    closed, _ = step(state, Close(), 0)
    assert (closed.phase, closed.out, closed.transcript.open_calls) == (Phase.CLOSED, {}, ())


# what was lost


def test_mutators_that_were_lost_are_asked_again_and_told_of_once() -> None:
    rig = Rig(LoopConfig(mutate=True)).ask().forget()
    late = rig.out(RunMutators).id

    rig.crash().give(MutatorsDone(late, (Item.user("late"),))).mutated(Item.user("new"))

    assert rig.trace.startswith("run_started !run_mutators diagnostic =rewrite mutation_finished")
    assert rig.state.transcript[0].text == "new"


def test_a_request_that_was_lost_is_prepared_again() -> None:
    rig = Rig(prepares=False).ask().forget().crash()

    assert rig.trace == "run_started !prepare"
    assert rig.turn.attempt == 1


def test_a_model_call_that_was_lost_is_another_attempt_with_a_request_of_its_own() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id)).forget().crash()

    assert rig.trace == "run_started model_call_finished attempt_superseded !prepare"
    assert rig.turn.attempt == 2


def test_a_check_that_was_lost_is_made_again() -> None:
    rig = Rig().ask().answer("a").forget().crash()

    assert rig.trace == "run_started !preflight:a"
    assert rig.allow("a").done("a").state.phase is Phase.CALLING


@pytest.mark.parametrize("why", [TimerKind.TIMEOUT, TimerKind.DETACH])
def test_the_timer_of_a_call_that_was_lost_keeps_its_time(why: TimerKind) -> None:
    rig = Rig().ask().answer("a").allow("a", timeout_s=3.0, detach_after_s=2.0)
    before = {one.why: one.at for one in rig.state.out.values() if isinstance(one, StartTimer)}
    rig.now = 60_000
    rig.crash()

    after = {one.why: one.at for one in rig.state.out.values() if isinstance(one, StartTimer)}
    assert after == before
    assert rig.ring(why).state.phase is Phase.CALLING


def test_a_wait_that_was_lost_ends_when_it_would_have_and_its_request_is_made_anew() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id)).fail()
    timer = rig.out(StartTimer)
    assert isinstance(timer, StartTimer)

    again = rig.forget().crash().out(StartTimer)

    assert isinstance(again, StartTimer)
    assert again.at == timer.at
    assert again.id != timer.id
    assert rig.forget().ring().trace == "!prepare"


def test_hooks_that_were_lost_are_asked_again() -> None:
    rig = Rig(LoopConfig(check_finish=True)).ask().answer().forget().crash()

    assert rig.trace == "run_started !check_finish"
    assert rig.checked().result.end is TurnEnd.COMPLETED


@pytest.mark.parametrize("approve", [True, False])
@pytest.mark.parametrize("aside", [True, False])
def test_someone_is_asked_whether_a_lost_tool_may_run_again(approve: bool, aside: bool) -> None:
    rig = Rig(LoopConfig(lost_tool=LostTool.ASK)).ask().answer("a")
    rig.allow("a", detach_after_s=0 if aside else None, timeout_s=9.0)
    if aside:
        rig.answer()
    rig.begin("a").forget().crash()
    (ask,) = rig.state.asks
    assert (ask.kind, ask.background, ask.name) == ("tool.lost", aside, "tool_a")
    assert "<approval_requested>" in rig.trace

    rig.resolve(ask.id, approve=approve, reason="too dangerous")

    if approve:
        assert rig.out(StartTool, "a")
        # It is lost again, and asked about again.
        rig.begin("a").crash()
        assert [one.kind for one in rig.state.asks] == ["tool.lost"]
        assert rig.state.asks[0].id != ask.id
        return
    if aside:
        rig.go_on()
        assert "The outcome of tool_a is unknown" in rig.last.text
    else:
        assert rig.told("a").failure is ToolFailure.OUTCOME_UNKNOWN


def test_a_lost_tool_takes_its_timers_with_it_while_it_is_asked_about() -> None:
    rig = Rig(LoopConfig(lost_tool=LostTool.ASK)).ask().answer("a", "b")
    rig.allow("a", timeout_s=9.0, detach_after_s=3.0).allow("b").begin("a")
    rig.lose(StartTool, "a")

    assert list(map(type, rig.state.out.values())) == [StartTool]


def test_a_lost_tool_that_may_be_repeated_keeps_its_answers_and_its_token() -> None:
    rig = Rig().ask().answer("a").allow("a", repeatable=True).stop_to_ask("a", "which", token=7)
    rig.resolve("which").begin("a").crash()

    effect = rig.out(StartTool)
    assert isinstance(effect, StartTool)
    assert (effect.token, effect.granted, effect.started) == (7, ("which",), False)


def test_asks_queues_and_notices_need_nothing_after_a_crash() -> None:
    rig = Rig().ask().answer("a", "b").allow("a", detach_after_s=0).ask_for("b", "w")
    rig.done("a")
    rig.steer("S").say("F")
    before = (rig.state.asks, rig.state.steer, rig.state.inputs, rig.state.notices)

    rig.forget().crash().go_on()

    assert (rig.state.asks, rig.state.steer, rig.state.inputs, rig.state.notices) == before
    assert rig.trace == "run_started <approval_requested>"


def test_an_answer_of_whoever_was_lost_comes_too_late() -> None:
    rig = Rig().ask().answer("a").allow("a", repeatable=True).begin("a")
    late = rig.out(StartTool).id
    rig.crash().forget()

    rig.give(EffectLost(late))

    assert rig.trace == "diagnostic"


def test_a_head_and_its_log_make_the_whole_state() -> None:
    rig = Rig(LoopConfig(mutate=True)).ask().mutated().answer("a").allow("a").done("a")
    rig.mutated(Item.user("summary")).answer("b")
    log: list[LogEntry] = []
    for effect in rig.effects:
        if type(effect).__name__ == "Persist":
            log.append(LogEntry(effect.revision, effect.items, effect.rewrite))  # type: ignore[union-attr]
    first = LogEntry(1, (Item.user("hi"),))

    saved = Saved(1, encode_head(rig.state, (), 9), (first, *log))
    loaded = decode_head(saved)

    assert loaded.state == rig.state
    assert loaded.state.retired_calls == {"a"}
    assert loaded.seq == 9


# settings


def test_settings_count_from_the_next_model_call_on() -> None:
    rig = Rig().ask().give(Configure(model="n", options=ModelOptions(seed=1)))
    rig.answer("a").allow("a").done("a")

    assert [one.model for one in rig.events if isinstance(one, ModelCallStarted)] == ["n"]
    assert model_request(rig.state, ()).options.seed == 1


def test_what_is_not_named_stays_as_it_is() -> None:
    rig = Rig(options=ModelOptions(seed=1)).give(Configure(model="n")).give(Configure())

    assert (rig.state.model, rig.state.options.seed) == ("n", 1)
    assert rig.events == [
        SettingsChanged("n", ModelOptions(seed=1)),
        SettingsChanged("n", ModelOptions(seed=1)),
    ]


def test_options_for_once_are_those_of_one_turn_however_it_ends() -> None:
    once = ModelOptions(thinking=ThinkingLevel.HIGH)
    rig = Rig().give(Configure(once=once)).ask()
    assert model_request(rig.state, ()).options == once
    rig.answer("a").allow("a").done("a")
    assert model_request(rig.state, ()).options == once

    rig.cancel().ask()
    assert model_request(rig.state, ()).options == ModelOptions()


def test_other_settings_while_a_retry_waits_are_those_of_the_retry() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id)).fail().forget()

    rig.give(Configure(model="other")).ring()

    assert rig.trace == "settings_changed !prepare"
    assert model_request(rig.state, ()).model == "other"


def test_instructions_may_be_changed_and_are_no_part_of_the_transcript() -> None:
    rig = Rig().give(Configure(instructions=(Item.system("Be brief."),))).ask()

    assert [item.text for item in model_request(rig.state, ()).items] == ["Be brief.", "hi"]
    assert rig.kinds == "user"


# what a host takes back


def test_queued_input_can_be_taken_back_until_it_reaches_the_transcript() -> None:
    rig = Rig().ask().say("F").steer("S").forget().give(Unqueue(Lane.STEER))
    assert rig.trace == "input_withdrawn:steer"
    rig.steer("S2").forget().give(Unqueue())

    assert rig.trace == "input_withdrawn:steer input_withdrawn:next"
    withdrawn = [one for one in rig.events if isinstance(one, InputWithdrawn)]
    assert [[item.text for item in one.items] for one in withdrawn] == [["S2"], ["F"]]
    assert rig.answer().forget().go_on().trace == "<awaiting_input>"


def test_taking_back_what_is_not_there_does_nothing() -> None:
    assert Rig().ask().give(Unqueue()).trace == ""


def test_forgetting_the_conversation_leaves_the_settings_and_no_trace_of_the_rest() -> None:
    rig = Rig(options=ModelOptions(seed=1)).ask().answer("a").ask_for("a", "write")
    rig.resolve("write", scope=GrantScope.SESSION).done("a", added_tools=("more",)).answer()
    rig.say("F").give(Configure(once=ModelOptions(seed=2))).forget()

    rig.give(Reset())

    assert rig.trace == "input_withdrawn:next =rewrite"
    assert len(rig.state.transcript) == 0
    assert (rig.state.grants, rig.state.inputs, rig.state.added_tools) == ((), (), ())
    assert (rig.state.once, rig.state.options.seed) == (None, 1)
    assert rig.ask().answer().kinds == "user assistant"


def test_nothing_is_forgotten_while_a_turn_runs() -> None:
    rig = Rig().ask().forget().give(Reset())

    assert rig.trace == "diagnostic"
    assert rig.kinds == "user"


def test_after_closing_everything_is_a_diagnostic() -> None:
    rig = Rig().give(Close())
    assert isinstance(rig.events[-1], RunFinished)
    before = rig.forget().state

    rig.say().go_on().cancel().give(Close()).give(Reset()).give(Unqueue())

    assert rig.trace == " ".join(["diagnostic"] * 6)
    assert (rig.state.inputs, rig.state.transcript) == (before.inputs, before.transcript)


# hooks


def test_a_hook_may_end_the_turn_instead_of_asking_the_model() -> None:
    rig = Rig(prepares=False).ask()
    rig.give(Prepared(rig.out(Prepare).id, stop=True))

    assert rig.result.end is TurnEnd.COMPLETED
    assert rig.result.model_calls == 0
    assert rig.kinds == "user"


def test_hooks_that_have_more_to_say_keep_the_turn_going_and_speak_after_steering() -> None:
    rig = Rig(LoopConfig(check_finish=True)).ask().answer().steer("S")
    rig.checked(Item.user("more"), Item.assistant("not this"))

    assert [item.text for item in rig.state.transcript] == ["hi", "t", "S", "more"]
    assert "diagnostic" in rig.trace
    assert rig.answer().checked().result.model_calls == 2


@pytest.mark.parametrize("reason", [FinishReason.MAX_TOKENS, FinishReason.BLOCKED])
def test_hooks_are_asked_only_of_a_turn_that_completes(reason: FinishReason) -> None:
    rig = Rig(LoopConfig(check_finish=True)).ask().answer(reason=reason)

    assert rig.state.phase is Phase.IDLE


def test_where_a_tool_ends_the_turn_no_hook_is_asked_for_more() -> None:
    rig = Rig(LoopConfig(check_finish=True)).ask().answer("a").steer()
    rig.allow("a").done("a", stop=True)

    assert rig.result.end is TurnEnd.COMPLETED
    assert len(rig.state.inputs) == 1, "what steered a turn that is over is the next one's input"


def test_cancelling_while_hooks_are_asked_keeps_the_answer() -> None:
    rig = Rig(LoopConfig(check_finish=True)).ask().answer().forget().cancel()

    assert rig.trace == "!abort turn_finished:cancelled <finished>"
    assert rig.kinds == "user assistant"


@pytest.mark.parametrize("policy", MutatorFailure)
@pytest.mark.parametrize("broken", ["error", "orphan", "open"])
def test_a_mutation_that_fails_changes_nothing(policy: MutatorFailure, broken: str) -> None:
    rig = Rig(LoopConfig(mutate=True, on_mutator_error=policy)).ask().mutated().answer("a")
    rig.allow("a").done("a").forget()
    kept = rig.state.transcript
    orphan = Item.tool(ToolResult(call_id=ToolCallId("zz"), output=TextOutput("r")))
    match broken:
        case "error":
            rig.mutated(error="it failed")
        case "orphan":
            rig.mutated(Item.user("x"), orphan)
        case _:
            rig.mutated(*kept[:2])

    assert rig.state.transcript == kept
    skips = policy is MutatorFailure.SKIP
    assert rig.state.phase is (Phase.CALLING if skips else Phase.IDLE)
    if not skips:
        assert rig.result.end is TurnEnd.ERROR
        assert rig.result.error


def test_what_is_kept_of_a_failed_answer_is_only_ever_the_models_own() -> None:
    rig = Rig(LoopConfig(keep_failed=True)).ask()
    failure = ProviderFailure(kind=FailureKind.SERVER, message="down")
    odd = ModelResponse(Item.user("I am no answer"), failure)

    rig.give(ModelFailed(rig.out(CallModel).id, odd))

    assert rig.kinds == "user"
    assert rig.result.end is TurnEnd.ERROR
