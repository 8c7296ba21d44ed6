"""Hooks: what a host says around the model's and the tools' work. The kernel sees the outcome.

    before_request   the request that would be sent: change it, or end the turn instead
    after_response   the answer that came: annotate it, or say why it will not do
    before_finish    the turn that would end: give the model more to do
    before_tool, after_tool   a call: block it, change its arguments, change its result

Each may be a plain function or async; async ones need an event loop. They are asked in the order
in which they were given, each is shown what the last one made, and one that nobody overrides
costs nothing. What a hook raises ends the turn as an error; around a tool, the call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from agentkit_core import Item, ModelRequest, ModelResponse, SessionId, TurnId, Usage
from agentkit_loop.kernel._state import State
from agentkit_tools_core import ToolHook
from agentkit_tools_core.sync import await_if_needed


class RunFacts(Struct, frozen=True, kw_only=True):
    """Where a run stands when a hook or a mutator is asked.

    Attributes:
        model_calls: How many answers the turn has had.
        attempt: The attempt at the model call that is under way, from 1; 0 when none is.
        usage: What the turn has used so far.
    """

    session_id: SessionId
    turn_id: TurnId | None
    model_calls: int
    attempt: int
    usage: Usage

    @classmethod
    def of(cls, state: State) -> RunFacts:
        """Read them from a state."""
        turn = state.turn
        return cls(
            session_id=state.session_id,
            turn_id=None if turn is None else turn.id,
            model_calls=0 if turn is None else turn.model_calls,
            attempt=0 if turn is None else turn.attempt,
            usage=Usage() if turn is None else turn.usage,
        )


class EndTurn(Struct, frozen=True):
    """End the turn here, as completed, without asking the model again."""


class RetryAnswer(Struct, frozen=True):
    """The answer will not do: it stays in the transcript, and the model is told this.

    Attributes:
        items: At least one, such as a user item that says what is wrong.
    """

    items: tuple[Item, ...]


class Hook(ToolHook):
    """What a host says around the work; override what you need."""

    def before_request(
        self, request: ModelRequest, facts: RunFacts, /
    ) -> ModelRequest | EndTurn | Awaitable[ModelRequest | EndTurn | None] | None:
        """Look at a request before it is sent; what is changed is changed for this one only.

        The place for a context that is cut or enriched for the model's eyes (`items`), other
        `options`, `tools` taken away, another `model` of the same provider. Asked for once per
        model call, and again for an attempt that goes on after a crash.

        Returns:
            The request to send, `EndTurn`, or None to leave it as it is.
        """
        return None

    def after_response(
        self, response: ModelResponse, facts: RunFacts, /
    ) -> ModelResponse | RetryAnswer | Awaitable[ModelResponse | RetryAnswer | None] | None:
        """Look at an answer before it is appended and its calls are run.

        Returns:
            The answer to take (its calls and their ids must be those that came), `RetryAnswer` for
            an answer without calls, or None to leave it as it is.
        """
        return None

    def before_finish(
        self, answer: Item, facts: RunFacts, /
    ) -> Sequence[Item] | Awaitable[Sequence[Item] | None] | None:
        """Look at a turn that would end because the model has nothing more to do.

        Not asked where it ends for another reason: a tool or a hook said stop, a limit, a failure.

        Args:
            answer: The last answer, without calls.
            facts: Where the run stands.

        Returns:
            Items that the model gets to read instead; empty or None to let it end.
        """
        return None


class Hooks:
    """The hooks of a session, by what they override.

    Args:
        hooks: Asked in this order.
    """

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self.all = tuple(hooks)
        self.request = _overriding(self.all, "before_request")
        self.response = _overriding(self.all, "after_response")
        self.finish = _overriding(self.all, "before_finish")

    def with_first(self, hook: Hook) -> Hooks:
        """The same, with one more that is asked before all others."""
        return Hooks((hook, *self.all))

    def with_last(self, hook: Hook) -> Hooks:
        """The same, with one more that is asked after all others."""
        return Hooks((*self.all, hook))

    async def before_request(
        self, request: ModelRequest, facts: RunFacts
    ) -> ModelRequest | EndTurn:
        """Ask about a request."""
        for ask in self.request:
            answer = await await_if_needed(ask(request, facts))
            if isinstance(answer, EndTurn):
                return answer
            if answer is not None:
                request = _checked(answer, ModelRequest)
        return request

    async def after_response(
        self, response: ModelResponse, facts: RunFacts
    ) -> tuple[ModelResponse, tuple[Item, ...]]:
        """Ask about an answer.

        Returns:
            The answer to take, and what the model is told if it will not do.

        Raises:
            ValueError: A hook changed which tools are called.
        """
        calls = [(call.id, call.name) for call in response.item.tool_calls]
        for ask in self.response:
            answer = await await_if_needed(ask(response, facts))
            if isinstance(answer, RetryAnswer):
                return response, answer.items
            if answer is not None:
                response = _checked(answer, ModelResponse)
        if [(call.id, call.name) for call in response.item.tool_calls] != calls:
            raise ValueError("a response hook changed which tools are called")
        return response, ()

    async def before_finish(self, answer: Item, facts: RunFacts) -> tuple[Item, ...]:
        """Ask whether a turn may end."""
        said: list[Item] = []
        for ask in self.finish:
            said += await await_if_needed(ask(answer, facts)) or ()
        return tuple(said)


def _overriding(hooks: Iterable[Hook], name: str) -> tuple[Callable[..., Any], ...]:
    own = getattr(Hook, name)
    return tuple(getattr(hook, name) for hook in hooks if getattr(type(hook), name) is not own)


def _checked(answer: Any, kind: type) -> Any:
    if not isinstance(answer, kind):
        raise TypeError(f"a hook answered {type(answer).__name__}, not {kind.__name__} or None")
    return answer
