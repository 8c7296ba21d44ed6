"""Model requests: built from the state when they are needed, and never stored."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from agentkit_core import Item, ModelOptions, ModelRequest, NamedTool, ToolChoiceMode, ToolSpec
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.kernel._refused_media import without_media
from agentkit_loop.kernel._state import State, TurnState


def model_request(
    state: State,
    tools: tuple[ToolSpec, ...],
    leave_out_media: Callable[[Item], Item] = without_media,
) -> ModelRequest:
    """Build the request of the model call that comes next, or is under way.

    Args:
        state: The session.
        tools: The tools that the model is offered.
        leave_out_media: Makes what is sent of an item whose media were refused. A driver returns
            the same object for the same item, because encoders know items by identity.
    """
    turn, options = state.turn, state.once or state.options
    items = state.transcript.items
    if state.refused_media:
        sent = list(items)
        for at in state.refused_media:
            sent[at] = leave_out_media(items[at])
        items = tuple(sent)
    return ModelRequest(
        model=state.model,
        items=state.instructions + items,
        tools=tools,
        options=(options if turn is None else request_options(options, turn, state.config)),
        session_id=state.session_id,
        turn_id=None if turn is None else turn.id,
    )


def request_options(options: ModelOptions, turn: TurnState, config: LoopConfig) -> ModelOptions:
    """Return the options of a turn's next request, before hooks change them.

    Args:
        options: What the session asks for.
        turn: The turn.
        config: How the run behaves.
    """
    if turn.tools_closed:
        return replace(options, tool_choice=ToolChoiceMode.NONE)
    choice = options.tool_choice
    is_forced = choice is ToolChoiceMode.REQUIRED or isinstance(choice, NamedTool)
    if is_forced and config.reset_tool_choice and turn.model_calls:
        return replace(options, tool_choice=None)
    return options
