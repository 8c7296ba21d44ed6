"""The kernel by itself: no event loop, no thread, no network, no clock.

A driver is a loop over effects. This one has a model and a tool that are plain functions. It
saves the session as JSON after every step and continues from what it saved.
"""

from collections.abc import Sequence

from agentkit_core import (
    FinishReason,
    Item,
    ModelResponse,
    SessionId,
    TextOutput,
    ToolCall,
    ToolCallId,
    ToolResult,
)
from agentkit_loop import Finished, decode_state, encode_state
from agentkit_loop.kernel import (
    CallModel,
    Effect,
    Emit,
    Input,
    ModelResponded,
    Preflight,
    PreflightAllowed,
    StartTool,
    State,
    Submit,
    ToolDone,
    Yield,
    start,
    step,
)


def model(transcript: Sequence[Item]) -> Item:
    """Call the tool first, then answer with its result."""
    last = transcript[-1]
    if last.tool_results:
        return Item.assistant(f"It is {last.tool_results[0].text}.")
    return Item.assistant(ToolCall(ToolCallId("c1"), "add", {"a": 17, "b": 4}))


def perform(effect: Effect, state: State) -> Input | None:
    """Perform an effect; return the input that answers it, or None if it needs no answer."""
    match effect:
        case CallModel(id=effect_id):
            item = model(state.transcript)
            reason = FinishReason.TOOL_CALL if item.tool_calls else FinishReason.COMPLETED
            answer = Item(item.kind, item.parts, finish_reason=reason)
            return ModelResponded(effect_id, ModelResponse(answer))
        case Preflight(id=effect_id):
            return PreflightAllowed(effect_id)
        case StartTool(id=effect_id, call=call):
            total = sum(n for n in call.input.values() if isinstance(n, int))
            return ToolDone(effect_id, ToolResult(call.id, TextOutput(str(total))))
        case Emit(event=event):
            print(type(event).__name__)
        case Yield(status=Finished(result=result)):
            print(f"answer: {result.text}")
        case _:
            pass
    return None


state, waiting = start(SessionId("s"), model="plain", now=0)
inbox: list[Input] = [Submit((Item.user("What is 17 + 4?"),), begin=True)]
now = 0
while waiting or inbox:
    if waiting:
        answer = perform(waiting[0], state)
        waiting = waiting[1:]
        inbox += [] if answer is None else [answer]
    else:
        now += 1
        state, effects = step(decode_state(encode_state(state)), inbox.pop(0), now)
        waiting = (*waiting, *effects)
print(f"{len(state.transcript)} items, {len(encode_state(state))} bytes of state")
assert state.transcript[-1].text == "It is 21."
