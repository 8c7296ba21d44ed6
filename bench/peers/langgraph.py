"""LangGraph: the graph that LangChain's `create_agent` makes, with `stream_mode` for messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from answers import Dialect
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from tools import Tally, counted_tools
from worker import TIMEOUT_S, Conversing, Work

NO_LIMITS = {"recursion_limit": 10_000}


class LangGraph(Conversing[list[Any]]):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.tally = Tally()
        self.tools = [tool(function) for function in counted_tools(self.tally)]
        self.agents: dict[str, Any] = {}

    def chat(self, model: str) -> Any:
        settings: dict[str, Any] = {
            "model": model,
            "api_key": "bench-key",
            "max_retries": 0,
            "timeout": TIMEOUT_S,
        }
        if self.dialect == "openai":
            from langchain_openai import ChatOpenAI
            from openai import DefaultAsyncHttpxClient

            # Its own client opens a hundred connections at most.
            client = DefaultAsyncHttpxClient(timeout=TIMEOUT_S)
            settings |= {"base_url": self.base_url, "http_async_client": client}
            settings["use_responses_api"] = False
            return ChatOpenAI(**settings, streaming=True)
        from langchain_anthropic import ChatAnthropic

        settings |= {"base_url": self.base_url.removesuffix("/v1"), "max_tokens": 1024}
        return ChatAnthropic(**settings, streaming=True)

    def new_history(self, texts: Sequence[str]) -> list[Any]:
        return [
            AIMessage(text) if number % 2 else HumanMessage(text)
            for number, text in enumerate(texts)
        ]

    async def converse(self, model: str, prompt: str, history: list[Any]) -> tuple[Work, list[Any]]:
        self.tally.reset()
        if model not in self.agents:
            self.agents[model] = create_agent(self.chat(model), tools=self.tools)
        messages = [*history, HumanMessage(prompt)]
        texts: list[str] = []
        running = self.agents[model].astream(
            {"messages": messages}, stream_mode=["messages", "values"], config=NO_LIMITS
        )
        async for mode, data in running:
            if mode == "values":
                messages = data["messages"]
            elif isinstance(data[0], AIMessageChunk) and data[0].text:
                texts.append(data[0].text)
        work = Work("".join(texts), len(texts), self.tally.written, self.tally.calls)
        return work, messages

    async def close(self) -> None:
        pass  # its clients are its own affair
