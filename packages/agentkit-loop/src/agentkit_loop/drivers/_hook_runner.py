"""Runs hooks and mutators, and keeps the request that was prepared for the model.

Everything that may wait is a coroutine, for both drivers; the blocking one runs it with
`run_at_once`. An exception of a hook becomes an answer that ends the turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, assert_never

from msgspec.structs import replace

from agentkit_core import FailureKind, Item, ModelRequest, ProviderFailure, ToolSpec
from agentkit_loop.drivers._call_checks import callable_tools
from agentkit_loop.extensions._hooks import EndTurn, Hooks, RunFacts
from agentkit_loop.extensions._mutators import Mutator, mutate
from agentkit_loop.kernel._effects import CallModel, CheckFinish, EffectId, Prepare, RunMutators
from agentkit_loop.kernel._inputs import (
    FinishChecked,
    Input,
    ModelFailed,
    ModelResponded,
    Prepared,
    ToolsOffered,
)
from agentkit_loop.kernel._model_request import model_request
from agentkit_loop.kernel._refused_media import without_media
from agentkit_loop.kernel._state import HookPoints, State
from agentkit_tools_core import Executor, spec_digests

WorkOutInstructions = Callable[[RunFacts], Awaitable[tuple[Item, ...]]]
"""Works out the instructions of one request."""


class HookRunner:
    """The hooks and mutators of a session, and the request that was prepared last.

    Args:
        hooks: Called around requests, responses and ends of turns.
        mutators: Shown the transcript before each model call.
        instructions: Works out the instructions of each request; None if the state has them.

    Attributes:
        hooks: The hooks that are called now; may be replaced at any time.
    """

    __slots__ = (
        "_built_for",
        "_digests",
        "_instructions",
        "_left_out",
        "_mutators",
        "_request",
        "_specs",
        "hooks",
    )

    def __init__(
        self,
        hooks: Hooks,
        mutators: Sequence[Mutator],
        instructions: WorkOutInstructions | None = None,
    ) -> None:
        self.hooks = hooks
        self._instructions = instructions
        self._mutators = tuple(mutators)
        self._request: ModelRequest | None = None
        self._built_for: EffectId | None = None
        self._specs: tuple[ToolSpec, ...] = ()
        self._digests: dict[str, str] = {}
        self._left_out: dict[int, tuple[Item, Item]] = {}  # by the id of the item itself

    @property
    def has_request_hooks(self) -> bool:
        """Whether code of the host is called before each request; it may wait."""
        return bool(self.hooks.request) or self._instructions is not None

    def with_points(self, state: State) -> State:
        """Return a state that says where the kernel has to stop for these hooks and mutators."""
        points = HookPoints(
            mutators=bool(self._mutators),
            request=self.has_request_hooks,
            finish=bool(self.hooks.finish),
        )
        return state if state.hooks == points else replace(state, hooks=points)

    @property
    def has_response_hooks(self) -> bool:
        """Whether a hook is called after each response; it may wait."""
        return bool(self.hooks.response)

    def request(self, state: State, executor: Executor) -> ModelRequest:
        """Return the request that was prepared; build it again if it is gone, after a crash."""
        return self._request or self._build_request(state, executor)

    def forget_request(self) -> None:
        """Drop the request: its model call succeeded, so no attempt will need it again."""
        self._request = self._built_for = None

    def prepare(self, effect: Prepare, state: State, executor: Executor) -> Prepared:
        """Build the next request when no hook is called before it."""
        self._request = self._build_request(state, executor)
        return self._prepared(effect, self._request, state, executor)

    def offer_tools(
        self, effect: CallModel, state: State, executor: Executor
    ) -> ToolsOffered | None:
        """Build the request of a model call for which there was no `Prepare`, once.

        Returns:
            The tools that it offers; None if the last request offered the same, or if the request
            was built before: with a store, the engine comes here again after the save.
        """
        if self._built_for == effect.id:
            return None
        self._request, self._built_for = self._build_request(state, executor), effect.id
        digests = self._digests_of(self._request)
        names = callable_tools(self._request, self._request.tools)
        if (digests, names) == (state.tools, state.callable_tools):
            return None
        return ToolsOffered(digests, names)

    async def run(
        self, effect: RunMutators | Prepare | CheckFinish, state: State, executor: Executor
    ) -> Input:
        """Run the hooks or mutators that an effect asks for, and return its answer."""
        match effect:
            case RunMutators():
                items, facts = state.transcript.items, RunFacts.of(state)
                return await mutate(self._mutators, items, effect, facts, self.hooks.report)
            case Prepare():
                return await self._prepare_with_hooks(effect, state, executor)
            case CheckFinish():
                return await self._check_finish(effect, state)
            case _:
                assert_never(effect)

    async def review_response(
        self, answer: ModelResponded | ModelFailed, state: State
    ) -> ModelResponded | ModelFailed:
        """Run the hooks that follow a response; a failed response is returned as it is."""
        if isinstance(answer, ModelFailed):
            return answer
        try:
            response, items = await self.hooks.after_response(answer.response, RunFacts.of(state))
        except Exception as error:
            failure = ProviderFailure(
                kind=FailureKind.PROTOCOL,
                message=self._report("a hook after the response", error),
                retryable=False,
            )
            failed = replace(answer.response, failure=failure)
            return ModelFailed(answer.effect_id, failed, is_rejected=True)
        return ModelResponded(answer.effect_id, response, items)

    async def _prepare_with_hooks(
        self, effect: Prepare, state: State, executor: Executor
    ) -> Prepared:
        try:
            if self._instructions is not None and "instructions" not in state.changed:
                state = replace(state, instructions=await self._instructions(RunFacts.of(state)))
            request = self._build_request(state, executor)
            outcome = await self.hooks.before_request(request, RunFacts.of(state))
        except Exception as error:
            return Prepared(effect.id, error=self._report("a hook before the request", error))
        if isinstance(outcome, EndTurn):
            return Prepared(effect.id, stop=True)
        self._request = outcome
        return replace(
            self._prepared(effect, outcome, state, executor),
            model=None if outcome.model == request.model else outcome.model,
            options=None if outcome.options == request.options else outcome.options,
        )

    def _prepared(
        self, effect: Prepare, request: ModelRequest, state: State, executor: Executor
    ) -> Prepared:
        return Prepared(
            effect.id,
            tools=self._digests_of(request),
            callable_tools=callable_tools(request, executor.specs(state.added_tools)),
        )

    async def _check_finish(self, effect: CheckFinish, state: State) -> FinishChecked:
        answer, facts = state.transcript[-1], RunFacts.of(state)
        try:
            return FinishChecked(effect.id, await self.hooks.before_finish(answer, facts))
        except Exception as error:
            text = self._report("a hook before the end of the turn", error)
            return FinishChecked(effect.id, error=text)

    def _report(self, where: str, error: Exception) -> str:
        self.hooks.report(error, where)
        return f"{where} failed: {type(error).__name__}: {error}"

    def _digests_of(self, request: ModelRequest) -> dict[str, str]:
        # The executor returns the same specs until something changes, and digests are costly.
        if request.tools is not self._specs:
            self._specs, self._digests = request.tools, _digests_of(request.tools)
        return self._digests

    def _build_request(self, state: State, executor: Executor) -> ModelRequest:
        return model_request(state, executor.specs(state.added_tools), self._leave_out_media)

    def _leave_out_media(self, item: Item) -> Item:
        # Encoders know the items of a history by identity, so each has to stay the same object.
        known = self._left_out.get(id(item))
        if known is None or known[0] is not item:
            known = self._left_out[id(item)] = (item, without_media(item))
        return known[1]


_MOST_DIGESTS: Final = 64
_DIGESTS: Final[dict[int, tuple[tuple[ToolSpec, ...], dict[str, str]]]] = {}
"""Digests of the specs that were offered last, by the identity of the tuple: the sessions of an
agent offer the same, and need not compute and hold them for each."""


def _digests_of(specs: tuple[ToolSpec, ...]) -> dict[str, str]:
    if type(specs) is not tuple:
        return spec_digests(specs)  # a hook may have made a list, which could change
    known = _DIGESTS.get(id(specs))
    if known is None or known[0] is not specs:
        if len(_DIGESTS) >= _MOST_DIGESTS:
            _DIGESTS.clear()
        known = _DIGESTS[id(specs)] = (specs, spec_digests(specs))
    return known[1]
