"""The agent of the example, and a stand-in for its model that needs no key."""

from __future__ import annotations

import re
from typing import Any, Final

from agentkit_loop import Agent
from agentkit_loop.ports import Model, Reporter
from agentkit_providers.replay import Answer, Request, openai_chat
from agentkit_tools_core import tool

_MAIL: Final = re.compile(r"[\w.]+@[\w.]+\w")
_PACE_S: Final = 0.05


@tool(needs_approval=True)
def send_mail(to: str, text: str) -> str:
    """Send a mail.

    Args:
        to: The address.
        text: What to write.
    """
    return f"sent to {to} (not really: this is an example)"


def mail_agent(model: Model, reporter: Reporter) -> Agent:
    """Make the agent for one request; that costs next to nothing."""
    return Agent(
        model=model,
        tools=[send_mail],
        instructions="You write mails for people. Send one only if you are asked to.",
        reporters=[reporter],
    )


def stand_in(request: Request) -> Answer:
    """Answer as a model might: call the tool if the prompt has an address, else just talk."""
    messages: list[dict[str, Any]] = request.json["messages"]
    last = messages[-1]
    said = str(last.get("content") or "")
    if last["role"] == "tool":
        return openai_chat.text(f"That is what happened: {said}").with_pace(_PACE_S)
    if (address := _MAIL.search(said)) is not None:
        call = ("send_mail", {"to": address[0], "text": "Hello!"})
        return openai_chat.tool_calls(
            [call], said="I have written a mail.", ids=[f"c{len(messages)}"]
        )
    words = (
        "I am no model, but a stand-in. Name a mail address, and I will ask whether to write to it."
    )
    return openai_chat.text(words).with_pace(_PACE_S)
