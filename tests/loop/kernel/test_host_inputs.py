"""Inputs of the host between turns: settings, withdrawing input, reset and close."""

from agentkit_core import Item, ModelOptions, ThinkingLevel
from agentkit_loop import GrantScope, Lane
from agentkit_loop.events import InputWithdrawn, ModelCallStarted, RunFinished, SettingsChanged
from agentkit_loop.kernel import Close, Configure, Prepare, Prepared, Reset, Unqueue, model_request
from support.rig import Rig


def test_settings_count_from_the_next_model_call_on() -> None:
    rig = Rig().ask().give(Configure(model="n", options=ModelOptions(seed=1)))
    rig.answer("a").allow("a").done("a")

    assert [one.model for one in rig.events if isinstance(one, ModelCallStarted)] == ["n"]
    assert model_request(rig.state, ()).options.seed == 1


def test_what_is_not_named_stays_as_it_is() -> None:
    rig = Rig(options=ModelOptions(seed=1)).give(Configure(model="n")).give(Configure())

    assert (rig.state.model, rig.state.options.seed) == ("n", 1)
    assert rig.events == [
        SettingsChanged("n", ModelOptions(seed=1), ("model",)),
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
