"""A driver of one's own, for a host that has no event loop and no time to wait: a game, say.

It does at most one thing each time it is called and keeps nothing but the session's state, as
bytes. So whoever calls it may stop after any call and go on in another process. Tools are checked
and run by the same executor as everywhere; what needs a yes waits in `state.pending_approvals`.
"""

from collections.abc import Callable

from agentkit_core import Item, ModelRequest, ModelResponse, SessionId, ToolCall, ToolCallId
from agentkit_loop import ApprovalDecision, decode_state, encode_state
from agentkit_loop.kernel import (
    CallModel,
    Continue,
    Effect,
    Emit,
    Input,
    ModelResponded,
    Persist,
    Phase,
    Preflight,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepare,
    Prepared,
    Resolve,
    StartTool,
    State,
    Submit,
    ToolDone,
    Yield,
    model_request,
    start,
    step,
)
from agentkit_tools_core import (
    Allowed,
    Executor,
    Refused,
    ToolContext,
    ToolInvocation,
    ToolOutcome,
    tool,
)

Model = Callable[[ModelRequest], Item]


class Driver:
    """Drives one session, one thing at a time.

    Args:
        saved: What `saved` was before; None for a new session.
        model: Answers at once.
        tools: The tools there are.
    """

    def __init__(self, saved: bytes | None, model: Model, tools: Executor) -> None:
        self.model, self.tools, self.ticks = model, tools, 0
        new, _ = start(SessionId("npc-7"), model="tiny")
        self.state: State = new if saved is None else decode_state(saved)

    @property
    def saved(self) -> bytes:
        """The session, to go on with elsewhere."""
        return encode_state(self.state)

    def give(self, given: Input) -> None:
        """Take an input, and carry out what needs no waiting."""
        self.ticks += 1
        self.state, effects = step(self.state, given, self.ticks)
        for effect in effects:
            if isinstance(effect, Emit):
                print(" ", type(effect.event).__name__)

    def tick(self) -> bool:
        """Do one thing that is to be done; whether there was one."""
        for effect in list(self.state.out.values()):
            answer = self.perform(effect)
            if answer is not None:
                self.give(answer)
                return True
        if self.state.phase is Phase.IDLE and self.state.inputs:
            self.give(Continue())
            return True
        return False

    def perform(self, effect: Effect) -> Input | None:
        """Do what the kernel asks for, and say what came of it."""
        match effect:
            case Prepare():
                return Prepared(effect.id)
            case CallModel():
                item = self.model(model_request(self.state, self.tools.specs()))
                return ModelResponded(effect.id, ModelResponse(item))
            case Preflight():
                verdict = self.tools.preflight(self.request(effect), granted=effect.granted)
                if isinstance(verdict, Allowed):
                    return PreflightAllowed(effect.id)
                if isinstance(verdict, Refused):
                    return PreflightRefused(effect.id, verdict.result)
                return PreflightAsked(effect.id, verdict.requests)
            case StartTool():
                request = self.request(effect)
                outcome = self.tools.run_blocking(request, ToolContext(request))
                assert isinstance(outcome, ToolOutcome), "no tool here asks in the middle"
                return ToolDone(effect.id, outcome.result)
            case Persist() | Yield() | Emit():
                return None  # the state has it all
            case _:
                return None  # timers and hooks: none are asked for with this configuration

    def request(self, effect: Preflight | StartTool) -> ToolInvocation:
        """Make the executor's view of a call."""
        return ToolInvocation(effect.call_id, effect.name, effect.input)


@tool(needs_approval=True)
def open_gate(password: str) -> str:
    """Open the gate."""
    return f"open, by {password!r}"


def gatekeeper(request: ModelRequest) -> Item:
    """Call the tool first, then say what came of it."""
    if request.items[-1].tool_results:
        return Item.assistant("The gate is open.")
    return Item.assistant(ToolCall(ToolCallId("c1"), "open_gate", {"password": "friend"}))


driver = Driver(None, gatekeeper, Executor([open_gate]))
driver.give(Submit((Item.user("Let me in."),)))
while driver.tick():
    # Every tick is another process, for all that the session knows.
    driver = Driver(driver.saved, gatekeeper, driver.tools)
(request,) = driver.state.pending_approvals
print("asked:", request.summary)
driver.give(Resolve(request.id, ApprovalDecision(approve=True)))
while driver.tick():
    pass
print("said:", driver.state.transcript[-1].text)
assert driver.state.transcript[-1].text == "The gate is open."
