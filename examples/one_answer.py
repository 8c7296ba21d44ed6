"""One answer of a model over real HTTP, from a replay server: no key, no network."""

import anyio

from agentkit_loop import Agent
from agentkit_providers import connect
from agentkit_providers.replay import ReplayServer, openai_chat

with ReplayServer([openai_chat.text("Rome is sunny, as ever.")]) as server:
    # With a key in OPENAI_API_KEY, use connect("openai:gpt-5-mini") instead.
    model = connect("compatible:replayed", base_url=server.url)
    agent = Agent(model=model, instructions="Be brief.")

    result = anyio.run(agent.run, "What is it like in Rome?")

print(result.text)
print(f"{result.end}: {result.usage.tokens.prompt} tokens in, {result.usage.tokens.output} out")
