"""The ways to run an agent once: each opens a session, sends a prompt and closes the session."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, closing
from typing import TypeVar, overload

from agentkit_core import Item
from agentkit_core.settings import member_of
from agentkit_loop._result import TurnResult
from agentkit_loop.agent._answer_text import AnswerText
from agentkit_loop.agent._blocking_session import BlockingSession
from agentkit_loop.agent._conversation import require_no_approvals
from agentkit_loop.agent._opening import Dependencies
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.agent._session import Session
from agentkit_loop.events import Event
from agentkit_loop.extensions._structured import ResultMode, TypedResult

T = TypeVar("T")


class AgentRuns(ABC):
    """The ways to run an agent once; `Agent` says how a session is opened."""

    __slots__ = ()

    @abstractmethod
    def session(
        self, *, history: Iterable[Item] = (), dependencies: Dependencies | None = None
    ) -> AbstractAsyncContextManager[Session]:
        """Open a session; see `Agent.session`."""

    @abstractmethod
    def session_blocking(
        self, *, history: Iterable[Item] = (), dependencies: Dependencies | None = None
    ) -> AbstractContextManager[BlockingSession]:
        """Open a session without an event loop; see `Agent.session_blocking`."""

    @overload
    async def run(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = ...,
        dependencies: Dependencies | None = ...,
    ) -> TurnResult: ...
    @overload
    async def run(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = ...,
        dependencies: Dependencies | None = ...,
        result_type: type[T],
        result_mode: ResultMode = ...,
        result_retries: int = ...,
    ) -> TypedResult[T]: ...
    async def run(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        dependencies: Dependencies | None = None,
        result_type: type[T] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> TurnResult | TypedResult[T]:
        """Send a prompt and wait for the turn's result.

        A failure of the model is a result, not an exception; see `TurnResult.end`. Background calls
        end with the run, unless `LoopConfig.background_done` is `continue`: then the run waits for
        them, and the model gets their results.

        Args:
            prompt: What to say to the model.
            history: The conversation so far, such as the `conversation` of an earlier result or
                another session's transcript; it is copied.
            dependencies: Objects that tools get with `ToolContext.get`, by type, beside those of
                the agent, which they replace where they have the same type.
            result_type: The type of the result, any type that a tool could take; None means text.
            result_mode: How the model is told the type.
            result_retries: How often the model may try again when its result is not valid.

        Returns:
            The turn's result; with `result_type`, a `TypedResult` that has the value.

        Raises:
            ApprovalRequiredError: A call needs approval, and there is no `on_approval`.
            NothingToContinue: The prompt is empty.
            InvalidResultType: Values of the type cannot be read from JSON.
            TranscriptError: The history breaks a rule; `repair` returns one that does not.
            ReporterFailed: A reporter wants the run to stop.
            WrongModelForm: The model has no `open`.
            AgentkitError: The model could not be called because of a mistake of the caller, such
                as a missing key.
        """
        async with self.session(history=history, dependencies=dependencies) as session:
            if result_type is None:
                member_of(ResultMode, result_mode, "result_mode")
                return await session.prompt(prompt)
            return await session.prompt(
                prompt,
                result_type=result_type,
                result_mode=result_mode,
                result_retries=result_retries,
            )

    async def stream(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        dependencies: Dependencies | None = None,
    ) -> AsyncGenerator[Event, None]:
        """Send a prompt and iterate over the events of the run; see `run`.

        Leaving early cancels the run and closes the model's response; under trio, wrap it in
        `contextlib.aclosing` so that this happens at once.

        Raises:
            ApprovalRequiredError: A call needs approval, and there is no `on_approval`.
        """
        async with self.session(history=history, dependencies=dependencies) as session:
            async with session._work.events(prompt) as events:
                async for event in events:
                    yield event
            require_no_approvals(session)

    async def stream_text(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        dependencies: Dependencies | None = None,
    ) -> AsyncGenerator[str, None]:
        """Send a prompt and iterate over the text of the answers as it comes; see `run`.

        Yields:
            Pieces of text in order, never empty: of all answers of the run, without reasoning and
            without the arguments of calls. If an attempt fails and the model is called again, the
            text of the next attempt follows that of the failed one; `stream` shows where.

        Raises:
            ApprovalRequiredError: A call needs approval, and there is no `on_approval`.
            TurnNotCompleted: The turn was not completed, so the text is not all of the answer;
                raised after its last piece.
        """
        answer = AnswerText()
        async with self.session(history=history, dependencies=dependencies) as session:
            async with session._work.events(prompt) as events:
                async for event in events:
                    if piece := answer.take(event):
                        yield piece
            require_no_approvals(session)
            answer.require_completed()

    @overload
    def run_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = ...,
        dependencies: Dependencies | None = ...,
    ) -> TurnResult: ...
    @overload
    def run_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = ...,
        dependencies: Dependencies | None = ...,
        result_type: type[T],
        result_mode: ResultMode = ...,
        result_retries: int = ...,
    ) -> TypedResult[T]: ...
    def run_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        dependencies: Dependencies | None = None,
        result_type: type[T] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> TurnResult | TypedResult[T]:
        """Send a prompt and wait for the turn's result, without an event loop; see `run`.

        Works in any thread, also inside a running event loop, which it blocks.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
        """
        with self.session_blocking(history=history, dependencies=dependencies) as session:
            if result_type is None:
                member_of(ResultMode, result_mode, "result_mode")
                return session.prompt(prompt)
            return session.prompt(
                prompt,
                result_type=result_type,
                result_mode=result_mode,
                result_retries=result_retries,
            )

    def stream_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        dependencies: Dependencies | None = None,
    ) -> Generator[Event, None, None]:
        """Send a prompt and iterate over the events, without an event loop; see `stream`."""
        with self.session_blocking(history=history, dependencies=dependencies) as session:
            with closing(session.stream(prompt)) as events:
                yield from events
            require_no_approvals(session)

    def stream_text_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        dependencies: Dependencies | None = None,
    ) -> Generator[str, None, None]:
        """Send a prompt and iterate over the text, without an event loop; see `stream_text`."""
        with (
            self.session_blocking(history=history, dependencies=dependencies) as session,
            closing(session.stream_text(prompt)) as pieces,
        ):
            yield from pieces
