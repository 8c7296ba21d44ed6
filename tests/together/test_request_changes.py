"""What is changed of a request is told to the host, once, and stands in the answer."""

from agentkit_core import ModelOptions
from agentkit_core.provider import request_changes
from agentkit_loop import Agent
from agentkit_loop.events import Diagnostic, Envelope
from agentkit_providers import connect
from agentkit_providers.replay import ReplayServer, openai_chat


def test_a_change_of_the_request_is_told_once_as_a_diagnostic() -> None:
    events: list[Envelope] = []
    with ReplayServer([openai_chat.text("one"), openai_chat.text("two")]) as server:
        model = connect("openai:gpt-5-mini", base_url=server.url, api_key="k" * 12)
        agent = Agent(
            model=model, options=ModelOptions(stop_sequences=("END",)), reporters=[events.append]
        )
        with agent.session_blocking() as session:
            session.prompt("one")
            result = session.prompt("two")

    told = [event.event.message for event in events if isinstance(event.event, Diagnostic)]
    assert [message for message in told if "stop_sequences" in message] == [
        "stop_sequences was not sent: the model does not take it"
    ]
    (item,) = result.items
    assert [change.what for change in request_changes(item.metadata)] == ["stop_sequences"]
