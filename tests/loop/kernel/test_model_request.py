"""Requests: what a model is asked, made from the state."""

from agentkit_core import (
    Item,
    ModelOptions,
    NamedTool,
    SessionId,
    ToolChoice,
    ToolChoiceMode,
    ToolSpec,
)
from agentkit_loop import LoopConfig
from agentkit_loop.kernel import Continue, Submit, model_request, start, step
from support.rig import Rig

TOOLS = (ToolSpec(name="read"),)


def choices(choice: ToolChoice, config: LoopConfig | None = None) -> list[ToolChoice | None]:
    """The tool choice of the first and the second request of a turn."""
    rig = Rig(config)
    rig.state, _ = start(
        SessionId("s"), model="m", options=ModelOptions(tool_choice=choice), config=config
    )
    rig.ask()
    first = model_request(rig.state, TOOLS)
    rig.answer("a").allow("a").done("a")
    second = model_request(rig.state, TOOLS)
    return [first.options.tool_choice, second.options.tool_choice]


def test_instructions_stand_before_the_transcript_and_are_no_part_of_it() -> None:
    state, _ = start(
        SessionId("s"),
        model="m",
        instructions=[Item.system("Be brief.")],
        history=[Item.user("old"), Item.assistant("ok")],
    )
    state, _ = step(state, Submit((Item.user("new"),)), 0)
    state, _ = step(state, Continue(), 0)

    request = model_request(state, TOOLS)

    assert [item.text for item in request.items] == ["Be brief.", "old", "ok", "new"]
    assert [item.text for item in state.transcript] == ["old", "ok", "new"]
    assert (request.model, request.tools) == ("m", TOOLS)
    assert (request.session_id, request.turn_id) == ("s", "turn-1")


def test_l03_a_forced_tool_choice_applies_to_the_first_call_of_a_turn_only() -> None:
    assert choices(ToolChoiceMode.REQUIRED) == [ToolChoiceMode.REQUIRED, None]
    assert choices(NamedTool("read")) == [NamedTool("read"), None]


def test_l03_a_choice_that_forces_nothing_stays_and_the_reset_can_be_switched_off() -> None:
    assert choices(ToolChoiceMode.NONE) == [ToolChoiceMode.NONE, ToolChoiceMode.NONE]
    always = LoopConfig(reset_tool_choice=False)
    assert choices(ToolChoiceMode.REQUIRED, always) == [ToolChoiceMode.REQUIRED] * 2


def test_l03_the_next_turn_is_forced_again() -> None:
    rig = Rig()
    rig.state, _ = start(
        SessionId("s"), model="m", options=ModelOptions(tool_choice=ToolChoiceMode.REQUIRED)
    )
    rig.ask().answer().ask("again")

    assert model_request(rig.state, TOOLS).options.tool_choice is ToolChoiceMode.REQUIRED
