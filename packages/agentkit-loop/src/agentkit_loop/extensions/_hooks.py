"""Hooks: code of the host that runs around model calls, tool calls and ends of turns.

    before_request   sees the request before it is sent; may change it, or end the turn
    after_response   sees the response; may change it, or reject it
    before_finish    sees that the turn would end; may give the model more to do
    before_tool, after_tool   see a tool call; may block it, or change its arguments or its result
    on_error         sees each exception of the host's code that becomes a result or an end

Each may be a plain function or async; async hooks need an event loop. Hooks run in the order in
which they were given, each on what the one before it returned. An exception of a hook ends the
turn as an error; around a tool, it fails the call. The kernel sees only the outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from agentkit_core import Item, ItemKind, ModelRequest, ModelResponse, SessionId, TurnId, Usage
from agentkit_core.values import Record
from agentkit_loop._log import logger
from agentkit_loop.kernel._state import State
from agentkit_tools_core import ToolHook
from agentkit_tools_core.sync import await_if_needed


class RunFacts(Record, frozen=True, kw_only=True):
    """Where a run stands when a hook or a mutator is called.

    Attributes:
        session_id: The session.
        turn_id: The running turn; None if none runs.
        model_calls: How many responses the turn has had.
        attempt: The number of the present attempt at a model call, from 1; 0 if none is made.
        usage: What the turn has used so far.
    """

    session_id: SessionId
    turn_id: TurnId | None
    model_calls: int
    attempt: int
    usage: Usage

    @classmethod
    def of(cls, state: State) -> RunFacts:
        """Take them from a state."""
        turn = state.turn
        return cls(
            session_id=state.session_id,
            turn_id=None if turn is None else turn.id,
            model_calls=0 if turn is None else turn.model_calls,
            attempt=0 if turn is None else turn.attempt,
            usage=Usage() if turn is None else turn.usage,
        )


class EndTurn(Record, frozen=True):
    """Returned by a hook: end the turn here, as completed, without calling the model."""


class RetryAnswer(Record, frozen=True):
    """Returned by a hook: reject the response. It stays in the transcript; the model tries again.

    Attributes:
        items: What the model is told, such as a user item that says what is wrong; at least one.
    """

    items: tuple[Item, ...]


class Hook(ToolHook):
    """Code of the host around the work of a run; override the methods that you need.

    A method that is not overridden costs nothing.
    """

    __slots__ = ()

    def before_request(
        self, request: ModelRequest, facts: RunFacts, /
    ) -> ModelRequest | EndTurn | Awaitable[ModelRequest | EndTurn | None] | None:
        """Look at a request before it is sent. A change applies to this request only.

        The place to shorten or enrich the context (`items`), to set other `options`, to leave out
        `tools`, or to call another `model` of the same provider. Called once for each model call,
        and again if the call is repeated after a crash.

        Returns:
            The request to send; `EndTurn` to send none; or None to send it as it is.
        """
        return None

    def after_response(
        self, response: ModelResponse, facts: RunFacts, /
    ) -> ModelResponse | RetryAnswer | Awaitable[ModelResponse | RetryAnswer | None] | None:
        """Look at a response before it is appended and its tools are run.

        Returns:
            The response to use, which must have the same tool calls with the same ids;
            `RetryAnswer` to reject one without tool calls; or None to use it as it is.
        """
        return None

    def before_finish(
        self, answer: Item, facts: RunFacts, /
    ) -> Sequence[Item] | Awaitable[Sequence[Item] | None] | None:
        """Look at a turn that would end because the model has nothing more to do.

        Not called when the turn ends for another reason: a tool or a hook stopped it, a limit was
        reached, or something failed.

        Args:
            answer: The model's last item; it has no tool calls.
            facts: Where the run stands.

        Returns:
            Items for the model, so that the turn goes on; empty or None to let it end.
        """
        return None


class Hooks:
    """The hooks of a session, sorted by the methods that they override.

    Args:
        hooks: Called in this order.

    Attributes:
        all: All hooks, in order.
        request: The `before_request` methods that hooks override, in order.
        response: The `after_response` methods that hooks override, in order.
        finish: The `before_finish` methods that hooks override, in order.
        error: The `on_error` methods that hooks override, in order.
    """

    def __init__(self, hooks: Iterable[Hook] = ()) -> None:
        self.all = tuple(hooks)
        for hook in self.all:
            if not isinstance(hook, Hook):
                raise TypeError(f"{hook!r} is not a hook; use an object of a subclass of `Hook`")
        self.request = _overridden(self.all, "before_request")
        self.response = _overridden(self.all, "after_response")
        self.finish = _overridden(self.all, "before_finish")
        self.error = _overridden(self.all, "on_error")

    def with_first(self, hook: Hook) -> Hooks:
        """Return these hooks and one more that is called before all others."""
        return Hooks((hook, *self.all))

    def with_last(self, hook: Hook) -> Hooks:
        """Return these hooks and one more that is called after all others."""
        return Hooks((*self.all, hook))

    def report(self, error: Exception, where: str) -> None:
        """Show an exception of the host's code to the hooks; one that fails is logged."""
        for hook in self.error:
            try:
                hook(error, where)
            except Exception as failure:
                logger().error("`on_error` of a hook failed", exc_info=failure)

    async def before_request(
        self, request: ModelRequest, facts: RunFacts
    ) -> ModelRequest | EndTurn:
        """Call the hooks before a request, until one ends the turn.

        Raises:
            TypeError: A hook returned something else than a request, `EndTurn` or None.
            Exception: What a hook raised.
        """
        for hook in self.request:
            answer = await await_if_needed(hook(request, facts))
            if isinstance(answer, EndTurn):
                return answer
            if answer is not None:
                request = _require(answer, ModelRequest)
        return request

    async def after_response(
        self, response: ModelResponse, facts: RunFacts
    ) -> tuple[ModelResponse, tuple[Item, ...]]:
        """Call the hooks after a response, until one rejects it.

        Returns:
            The response to use, and what the model is told if it was rejected; empty otherwise.

        Raises:
            ValueError: A hook changed which tools are called.
            TypeError: A hook returned something else than a response, `RetryAnswer` with items for
                the model, or None.
            Exception: What a hook raised.
        """
        calls = [(call.id, call.name) for call in response.item.tool_calls]
        for hook in self.response:
            answer = await await_if_needed(hook(response, facts))
            if isinstance(answer, RetryAnswer):
                return response, _require_items(answer.items, "RetryAnswer", at_least=1)
            if answer is not None:
                response = _require(answer, ModelResponse)
        if [(call.id, call.name) for call in response.item.tool_calls] != calls:
            raise ValueError(
                "a hook changed which tools a response calls; return a response with the same "
                "tool calls, ids and names, and change arguments in `before_tool`"
            )
        return response, ()

    async def before_finish(self, answer: Item, facts: RunFacts) -> tuple[Item, ...]:
        """Call the hooks before the end of a turn, and return the items of all of them.

        Raises:
            TypeError: A hook returned something else than items or None.
            Exception: What a hook raised.
        """
        items: list[Item] = []
        for hook in self.finish:
            answer_of_hook: Any = await await_if_needed(hook(answer, facts))
            if answer_of_hook is not None:
                items += _require_items(answer_of_hook, "before_finish")
        return tuple(items)


def _overridden(hooks: Iterable[Hook], name: str) -> tuple[Callable[..., Any], ...]:
    default = getattr(Hook, name)
    return tuple(getattr(hook, name) for hook in hooks if getattr(type(hook), name) is not default)


def _require(answer: Any, kind: type) -> Any:
    if not isinstance(answer, kind):
        raise TypeError(
            f"a hook returned {type(answer).__name__}; it has to return {kind.__name__} or None"
        )
    return answer


def _require_items(answer: Any, what: str, *, at_least: int = 0) -> tuple[Item, ...]:
    items = answer if isinstance(answer, (list, tuple)) else None
    if items is None or len(items) < at_least or not all(map(_is_for_models, items)):
        raise TypeError(
            f"{what} got {answer!r}; use a list of items for the model, such as "
            f'[Item.user("Say why.")]'
        )
    return tuple(items)


def _is_for_models(item: Any) -> bool:
    # A model answers neither its own answers nor a tool item that belongs to no call.
    return isinstance(item, Item) and item.kind not in (ItemKind.ASSISTANT, ItemKind.TOOL)
