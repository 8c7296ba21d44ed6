"""What hosts have a say in: requests, answers, ends of turns, the transcript.

Everything is written once, for drivers that await and for those that cannot wait (see
`_at_once`). What a hook raises becomes an answer that ends the turn.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentkit_core import FailureKind, ModelRequest, ProviderFailure, ToolSpec
from agentkit_loop.extensions._hooks import EndTurn, Hooks, RunFacts
from agentkit_loop.extensions._mutators import Mutator, mutate
from agentkit_loop.kernel._effects import CheckFinish, Prepare, RunMutators
from agentkit_loop.kernel._inputs import (
    FinishChecked,
    Input,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    Prepared,
)
from agentkit_loop.kernel._model_request import model_request
from agentkit_loop.kernel._state import State
from agentkit_tools_core import Executor, spec_digests


class Hooked:
    """The hooks and mutators of a session, and the request that was prepared last.

    Args:
        hooks: Asked around requests, answers and ends of turns.
        mutators: Shown the transcript before each model call.
    """

    def __init__(self, hooks: Hooks, mutators: Sequence[Mutator]) -> None:
        self.hooks = hooks
        self._mutators = tuple(mutators)
        self._request: ModelRequest | None = None
        self._specs: tuple[ToolSpec, ...] = ()
        self._digests: dict[str, str] = {}

    @property
    def requests(self) -> bool:
        """Whether there are hooks that may wait before a request."""
        return bool(self.hooks.request)

    @property
    def responses(self) -> bool:
        """Whether there are hooks that look at answers."""
        return bool(self.hooks.response)

    def use(self, hooks: Hooks) -> Hooks:
        """Ask other hooks from now on; returns those that were asked so far."""
        before, self.hooks = self.hooks, hooks
        return before

    def request(self, state: State, executor: Executor) -> ModelRequest:
        """Give the request that was prepared; it is made anew where it got lost."""
        return self._request or _request_of(state, executor)

    def forget_request(self) -> None:
        """Keep the request no longer: no other attempt is made with it."""
        self._request = None

    def prepare(self, effect: Prepare, state: State, executor: Executor) -> Input:
        """Make a request that no hook looks at."""
        self._request = _request_of(state, executor)
        return Prepared(effect.id, self._offered(self._request))

    async def prepare_hooked(self, effect: Prepare, state: State, executor: Executor) -> Input:
        """Make a request and ask the hooks about it."""
        try:
            request = _request_of(state, executor)
            found = await self.hooks.before_request(request, RunFacts.of(state))
        except Exception as error:
            return Prepared(effect.id, error=_told("a hook before the request", error))
        if isinstance(found, EndTurn):
            return Prepared(effect.id, stop=True)
        self._request = found
        return Prepared(effect.id, self._offered(found))

    async def look_at(
        self, answer: ModelResponded | ModelFailed, state: State
    ) -> ModelResponded | ModelFailed:
        """Ask the hooks about an answer; one that failed is none of their business."""
        if isinstance(answer, ModelFailed):
            return answer
        try:
            response, items = await self.hooks.after_response(answer.response, RunFacts.of(state))
        except Exception as error:
            failure = ProviderFailure(
                kind=FailureKind.PROTOCOL,
                message=_told("a hook after the response", error),
                retryable=False,
            )
            failed = replace(answer.response, failure=failure)
            return ModelFailed(answer.effect_id, failed)
        return ModelResponded(answer.effect_id, response, items)

    async def check_finish(self, effect: CheckFinish, state: State) -> FinishChecked:
        """Ask the hooks whether the turn may end; one that fails lets it."""
        answer, facts = state.transcript[-1], RunFacts.of(state)
        try:
            return FinishChecked(effect.id, await self.hooks.before_finish(answer, facts))
        except Exception as error:
            import logging  # takes long to load, and a run without a fault needs none

            logging.getLogger("agentkit_loop").error(
                "a hook before the end of a turn failed; the turn ends", exc_info=error
            )
            return FinishChecked(effect.id)

    async def mutate(self, effect: RunMutators, state: State) -> MutatorsDone:
        """Show the transcript to the mutators."""
        return await mutate(self._mutators, state.transcript.items, effect, RunFacts.of(state))

    def _offered(self, request: ModelRequest) -> dict[str, str]:
        # Specs are the same object until something changes, and digests cost more than they.
        if request.tools is not self._specs:
            self._specs, self._digests = request.tools, spec_digests(request.tools)
        return self._digests


def _request_of(state: State, executor: Executor) -> ModelRequest:
    return model_request(state, executor.specs(state.added_tools))


def _told(where: str, error: Exception) -> str:
    return f"{where} failed: {type(error).__name__}: {error}"
