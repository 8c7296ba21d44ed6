"""Model requests: made from the state when they are needed, stored nowhere."""

from __future__ import annotations

from msgspec.structs import replace

from agentkit_core import ModelOptions, ModelRequest, NamedTool, ToolChoiceMode, ToolSpec
from agentkit_loop.kernel._state import State


def model_request(state: State, tools: tuple[ToolSpec, ...]) -> ModelRequest:
    """Make the request of the model call that is prepared.

    Args:
        state: The session, while it prepares the call.
        tools: What the model is offered.
    """
    turn = state.turn
    return ModelRequest(
        model=state.model,
        items=state.instructions + state.transcript.items,
        tools=tools,
        options=_options(state),
        session_id=state.session_id,
        turn_id=None if turn is None else turn.id,
    )


def _options(state: State) -> ModelOptions:
    options, turn = state.once or state.options, state.turn
    if turn is None:
        return options
    if turn.tools_closed:
        return replace(options, tool_choice=ToolChoiceMode.NONE)
    choice = options.tool_choice
    forced = choice is ToolChoiceMode.REQUIRED or isinstance(choice, NamedTool)
    if forced and state.config.reset_tool_choice and turn.model_calls:
        return replace(options, tool_choice=None)
    return options
