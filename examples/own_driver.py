"""Your own driver, for a host that has no event loop and must not wait, such as a game.

Each call of `tick` does at most one thing, and the driver keeps only the state of the session, as
bytes. So the host may stop after any tick and continue in another process. The usual executor
checks and runs the tools; calls that need approval wait in `state.pending_approvals`.
"""

from collections.abc import Callable

from agentkit_core import Item, ModelRequest, ModelResponse, SessionId, ToolCall, ToolCallId
from agentkit_loop import ApprovalDecision, decode_state, encode_state
from agentkit_loop.kernel import (
    CallModel,
    Effect,
    Emit,
    Input,
    ModelResponded,
    Persist,
    Preflight,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
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
        saved: An earlier value of `saved`, to continue from; None for a new session.
        model: A function that answers at once.
        tools: Checks and runs the tools.
    """

    def __init__(self, saved: bytes | None, model: Model, tools: Executor) -> None:
        self.model, self.tools, self.ticks = model, tools, 0
        new, _ = start(SessionId("npc-7"), model="tiny")
        self.state: State = new if saved is None else decode_state(saved)

    @property
    def saved(self) -> bytes:
        """The session as bytes, from which another process can continue."""
        return encode_state(self.state)

    def post(self, event: Input) -> None:
        """Step the kernel with an input, and print the events of the step."""
        self.ticks += 1
        self.state, effects = step(self.state, event, self.ticks)
        for effect in effects:
            if isinstance(effect, Emit):
                print(" ", type(effect.event).__name__)

    def tick(self) -> bool:
        """Do one pending thing; return whether there was one."""
        for effect in list(self.state.out.values()):
            answer = self.perform(effect)
            if answer is not None:
                self.post(answer)
                return True
        return False

    def perform(self, effect: Effect) -> Input | None:
        """Perform an effect; return the input that answers it, or None."""
        match effect:
            case CallModel():
                item = self.model(model_request(self.state, self.tools.specs()))
                return ModelResponded(effect.id, ModelResponse(item))
            case Preflight():
                verdict = self.tools.preflight(self.request(effect), granted=effect.granted)
                if isinstance(verdict, Allowed):
                    return PreflightAllowed(effect.id)
                if isinstance(verdict, Refused):
                    return PreflightRefused(effect.id, verdict.result)
                return PreflightAsked(effect.id, requests=verdict.requests)
            case StartTool():
                request = self.request(effect)
                outcome = self.tools.run_blocking(request, ToolContext(request))
                assert isinstance(outcome, ToolOutcome), "no tool here asks during its run"
                return ToolDone(effect.id, outcome.result)
            case Persist() | Yield() | Emit():
                return None  # `saved` has all of it
            case _:
                return None  # timers and hooks, which this configuration does not use

    def request(self, effect: Preflight | StartTool) -> ToolInvocation:
        """Describe a call as the executor wants it."""
        return ToolInvocation(effect.call.id, effect.call.name, effect.call.input)


@tool(needs_approval=True)
def open_gate(password: str) -> str:
    """Open the gate."""
    return f"open, by {password!r}"


def gatekeeper(request: ModelRequest) -> Item:
    """Call the tool first, then answer."""
    if request.items[-1].tool_results:
        return Item.assistant("The gate is open.")
    return Item.assistant(ToolCall(ToolCallId("c1"), "open_gate", {"password": "friend"}))


driver = Driver(None, gatekeeper, Executor([open_gate]))
driver.post(Submit((Item.user("Let me in."),), begin=True))
while driver.tick():
    # Each tick could run in another process.
    driver = Driver(driver.saved, gatekeeper, driver.tools)
(request,) = driver.state.pending_approvals
print("approve?", request.summary)
driver.post(Resolve(request.id, ApprovalDecision(approve=True)))
while driver.tick():
    pass
print("answer:", driver.state.transcript[-1].text)
assert driver.state.transcript[-1].text == "The gate is open."
