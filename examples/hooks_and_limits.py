"""Rules that a host sets for an agent: hooks, a mutator, and limits."""

from collections.abc import Sequence
from decimal import Decimal

from msgspec.structs import replace

from agentkit_core import Item, ModelRequest, ModelResponse, TextOutput, ToolResult
from agentkit_loop import Agent, Hook, Limits, LoopConfig, Mutation, RetryAnswer, RunFacts, TurnEnd
from agentkit_loop.events import MutationPoint
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import Block, ToolFacts, ToolInvocation, tool


@tool
def query(sql: str) -> str:
    """Query the database."""
    return f"3 rows, and the password is hunter2, for {sql}"


class Rules(Hook):
    """Is called around every request, answer and tool call. Any method may also be async."""

    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> ModelRequest:
        """Add the date to the request; the transcript does not change."""
        return replace(request, items=(Item.system("It is Monday."), *request.items))

    def before_tool(self, call: ToolInvocation, facts: ToolFacts) -> Block | None:
        """Block queries that would change the database."""
        return Block("only SELECT is allowed") if "DROP" in call.argument("sql", str) else None

    def after_tool(self, call: ToolInvocation, result: ToolResult, facts: ToolFacts) -> ToolResult:
        """Remove the secret before the model sees the result."""
        return replace(result, output=TextOutput(result.text.replace("hunter2", "***")))

    def after_response(self, response: ModelResponse, facts: RunFacts, /) -> RetryAnswer | None:
        """Reject an answer without a source, and ask the model for one."""
        if response.item.tool_calls or "source" in response.item.text:
            return None
        return RetryAnswer((Item.user("Name your source."),))


def newest_question(items: Sequence[Item], mutation: Mutation) -> Sequence[Item] | None:
    """Drop all earlier items when a turn begins; None leaves the transcript as it is."""
    return items[-1:] if mutation.point is MutationPoint.TURN_START else None


model = ScriptedModel(
    call("query", {"sql": "DROP TABLE users"}, "c1"),
    call("query", {"sql": "SELECT * FROM users"}, "c2"),
    say("There are three."),
    say("There are three; source: the database."),
    say("You are welcome, says my source."),
)
agent = Agent(model=model, tools=[query], hooks=[Rules()], mutators=[newest_question])
with agent.session_blocking() as session:
    print(session.prompt("How many users are there?").text)
    blocked, clean = (result for item in session.transcript for result in item.tool_results)
    print(f"blocked: {blocked.text}")
    print(f"cleaned: {clean.text}")
    assert (blocked.started, clean.started) == (False, True)
    assert "hunter2" not in str(session.transcript)
    assert model.requests[0].items[0].text == "It is Monday."
    assert session.transcript[0].text == "How many users are there?"

    session.prompt("Thanks.")
    print(f"left of the conversation: {[item.text for item in session.transcript]}")
    assert session.transcript[0].text == "Thanks."

# A turn that reaches a limit keeps its work, and can be continued.
limits = Limits(max_model_calls=1, max_tokens=10_000, max_duration_s=600)
script = ScriptedModel(call("query", {"sql": "SELECT 1"}), say("One."))
agent = Agent(model=script, tools=[query], config=LoopConfig(limits=limits))
with agent.session_blocking() as session:
    result = session.prompt("Count to one.")
    print(f"{result.end}: {result.limit}, after {result.tool_calls} tool call")
    session.settings.config = LoopConfig(limits=Limits(max_model_calls=5))
    print(session.continue_().text)

# An unknown price is not zero: under a limit on costs, the turn ends instead of spending more.
config = LoopConfig(limits=Limits(max_cost={"USD": Decimal("0.10")}))
script = ScriptedModel(call("query", {"sql": "SELECT 1"}), say("never said"))
result = Agent(model=script, tools=[query], config=config).run_blocking("Count.")
print(f"{result.end}: {result.limit}")
assert (result.end, result.limit) == (TurnEnd.LIMIT, "unknown_cost")
