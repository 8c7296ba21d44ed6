"""A tool whose calls a person must approve, in a session that is driven step by step."""

import anyio

from agentkit_loop import Agent, AwaitingInput, Finished, GrantScope, WaitingForApproval
from agentkit_loop.testing import ScriptedModel, call, say
from agentkit_tools_core import tool


@tool(destructive=True, needs_approval=True)
def delete_file(path: str) -> str:
    """Delete a file."""
    return f"{path} was deleted"


async def main() -> None:
    """Approve one call and deny another."""
    model = ScriptedModel(
        call("delete_file", {"path": "old.log"}, "c1"),
        call("delete_file", {"path": "thesis.tex"}, "c2"),
        say("I deleted old.log and left thesis.tex alone."),
    )
    agent = Agent(model=model, tools=[delete_file])
    async with agent.session() as session:
        session.submit("Tidy up.")
        while True:
            match await session.next():
                case WaitingForApproval(requests=requests):
                    for request in requests:
                        print(f"approve? {request.summary}")
                        if request.call.input["path"] == "old.log":
                            # ONCE: this call; SESSION: these arguments in this session;
                            # KIND: all requests of this kind of this tool in this session.
                            session.approve(request.id, scope=GrantScope.ONCE)
                        else:
                            session.deny(request.id, reason="keep it")
                case Finished(result=result):
                    print(result.text)
                case AwaitingInput():
                    break
                case _:
                    pass


anyio.run(main)
