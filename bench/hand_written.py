"""A loop of tool calls as people write it around a client: ask, run the calls, ask again.

The columns that are clients share it, so that they differ in how they ask only. It checks nothing,
and runs the calls of a round one after the other.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from answers import Dialect
from tools import Tally, counted_tools, declarations
from worker import Conversing, Work

History = list[dict[str, Any]]
"""The messages as a request has them."""


class Call:
    """A tool call, whose arguments come in pieces."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self, call_id: str, name: str) -> None:
        self.id, self.name = call_id, name
        self.arguments: list[str] = []


class Answer:
    """The texts and calls of an answer, as far as it has come."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.calls: dict[int, Call] = {}


class HandWritten(Conversing[History]):
    """A column that asks for one answer at a time; the rest is this loop."""

    parse: Callable[[str], Any] = staticmethod(json.loads)

    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.tools = declarations(dialect)
        self.tally = Tally()
        self.run: dict[str, Callable[..., Awaitable[str]]] = dict(
            zip(("write", "add"), counted_tools(self.tally), strict=True)
        )

    @abstractmethod
    async def ask(self, model: str, conversation: History) -> Answer:
        """Send the conversation and `self.tools`; read the whole answer, delta by delta."""

    def new_history(self, texts: Sequence[str]) -> History:
        return [
            {"role": "assistant" if number % 2 else "user", "content": text}
            for number, text in enumerate(texts)
        ]

    async def converse(self, model: str, prompt: str, history: History) -> tuple[Work, History]:
        self.tally.reset()
        conversation = [*history, {"role": "user", "content": prompt}]
        while True:
            answer = await self.ask(model, conversation)
            if not answer.calls:
                text = "".join(answer.texts)
                conversation.append({"role": "assistant", "content": text})
                work = Work(text, len(answer.texts), self.tally.written, self.tally.calls)
                return work, conversation
            await self.run_round(conversation, list(answer.calls.values()))

    async def run_round(self, conversation: History, calls: list[Call]) -> None:
        """Run the calls of an answer, and append them and their results."""
        texts = ["".join(call.arguments) for call in calls]
        arguments = [self.parse(text) for text in texts]
        results = [
            await self.run[call.name](**given) for call, given in zip(calls, arguments, strict=True)
        ]
        if self.dialect == "anthropic":
            used = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": given}
                for call, given in zip(calls, arguments, strict=True)
            ]
            answered = [
                {"type": "tool_result", "tool_use_id": call.id, "content": result}
                for call, result in zip(calls, results, strict=True)
            ]
            conversation.append({"role": "assistant", "content": used})
            conversation.append({"role": "user", "content": answered})
            return
        called = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}
            for call, text in zip(calls, texts, strict=True)
        ]
        conversation.append({"role": "assistant", "content": None, "tool_calls": called})
        conversation += [
            {"role": "tool", "tool_call_id": call.id, "content": result}
            for call, result in zip(calls, results, strict=True)
        ]
