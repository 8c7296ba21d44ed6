"""An agent: what is assembled once and used for any number of sessions.

It holds nothing of any run, so sessions may run side by side and know nothing of each other.
"""

from __future__ import annotations

import os
import random
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import aclosing, asynccontextmanager, closing, contextmanager, suppress
from typing import Any, cast

from agentkit_core import Item, ModelOptions, SessionId
from agentkit_loop._clock import SystemClock
from agentkit_loop._config import LoopConfig
from agentkit_loop._conversation import OnApproval, Prompt, items_of
from agentkit_loop._errors import ReporterFailed, WrongModelForm
from agentkit_loop._kernel import Effects, start
from agentkit_loop._session import BlockingSession, Session
from agentkit_loop._state import State
from agentkit_loop._teller import Teller, require_reporter
from agentkit_loop.events import Event, TurnResult
from agentkit_loop.ports import BlockingModel, Clock, Model, Reporter
from agentkit_tools_core import Executor, Policy, Tool, ToolRegistry


class Agent:
    """A model with tools, instructions and rules.

    Args:
        model: Answers. For `run_blocking` and `session_blocking` it needs `open_blocking`.
        tools: What the model may call; of a registry later changes are seen.
        instructions: What the agent is to be; a text becomes a system item. It stands before the
            transcript in every request and is no part of it.
        policy: Decides what calls ask permission for: see `permissions` and `needs_approval` of
            `@tool`. A call that asks for nothing is not put to it. None allows all but what
            needs approval.
        options: How the model should answer.
        config: How the loop behaves.
        reporters: Told of everything, in this order.
        on_approval: Answers asks, as `ApprovalDecision` or a plain yes or no. Without it, `run`
            and `prompt` raise `ApprovalNeeded`.
        dependencies: Objects that tools find with `ToolContext.get`, by type.
        clock: Where time comes from; None means the machine.
        jitter: Random numbers between 0 and 1, for the length of waits.

    Raises:
        TypeError: The model is a name, or a tool is none, such as a function without `@tool`, or a
            reporter is async, whose coroutine nobody would run.
        DuplicateTool: Two tools have one name.
        InvalidToolName: A tool's name is not one that every provider takes.
    """

    def __init__(
        self,
        *,
        model: Model | BlockingModel,
        tools: Iterable[Tool] | ToolRegistry = (),
        instructions: Prompt | None = None,
        policy: Policy | None = None,
        options: ModelOptions | None = None,
        config: LoopConfig | None = None,
        reporters: Iterable[Reporter] = (),
        on_approval: OnApproval | None = None,
        dependencies: Mapping[type[Any], object] | None = None,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        if isinstance(model, str):
            raise TypeError(
                f"the model is a name, {model!r}; give an object that answers, such as what "
                f"`agentkit_providers.connect` makes of it"
            )
        self._model = model
        self._executor = Executor(tools, policy=policy)
        self._instructions = _instructions(instructions)
        self._options = options
        self._config = config
        self._reporters = tuple(reporters)
        for reporter in self._reporters:
            require_reporter(reporter)
        self._on_approval = on_approval
        self._dependencies = dict(dependencies or {})
        self._clock: Clock = SystemClock() if clock is None else clock
        self._jitter = jitter

    async def run(self, prompt: Prompt, *, history: Iterable[Item] = ()) -> TurnResult:
        """Say one thing and wait for what comes of it.

        A failure of the model is a result, not an exception; see `TurnResult.end`.

        Args:
            prompt: What to say.
            history: The conversation so far, such as an earlier session's transcript. It is not
                changed.

        Raises:
            ApprovalNeeded: A call waits for approval, and there is no `on_approval`.
            NothingToContinue: The prompt is empty.
            TranscriptError: The history breaks a rule; `repair` makes one that does not.
            ReporterFailed: A reporter wanted the run to stop.
            WrongModelForm: The model has no `open`.
            AgentkitError: The model could not be asked because of a mistake here, such as a
                missing key.
        """
        async with self.session(history=history) as session:
            return await session.prompt(prompt)

    async def stream(
        self, prompt: Prompt, *, history: Iterable[Item] = ()
    ) -> AsyncGenerator[Event, None]:
        """Say one thing and get the events of what comes of it; see `run`.

        Leaving early cancels the run and frees the model's response; under trio, wrap it in
        `contextlib.aclosing` so that this happens at once.

        Raises:
            ApprovalNeeded: A call waits for approval, and there is no `on_approval`.
        """
        async with self.session(history=history) as session:
            async with aclosing(session.stream(prompt)) as events:
                async for event in events:
                    yield event
            session.raise_for_asks()

    def run_blocking(self, prompt: Prompt, *, history: Iterable[Item] = ()) -> TurnResult:
        """Say one thing and wait for what comes of it, without an event loop; see `run`.

        Works in any thread, also inside a running event loop, which it blocks.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
        """
        with self.session_blocking(history=history) as session:
            return session.prompt(prompt)

    def stream_blocking(
        self, prompt: Prompt, *, history: Iterable[Item] = ()
    ) -> Generator[Event, None, None]:
        """Say one thing and get the events of what comes of it; see `stream`."""
        with self.session_blocking(history=history) as session:
            with closing(session.stream(prompt)) as events:
                yield from events
            session.raise_for_asks()

    @asynccontextmanager
    async def session(
        self, *, history: Iterable[Item] = (), session_id: SessionId | None = None
    ) -> AsyncIterator[Session]:
        """Open a conversation, for asyncio and trio; it is closed in the end.

        Args:
            history: The conversation so far; no answer is asked for it.
            session_id: A name for it; None makes one up.

        Raises:
            TranscriptError: The history breaks a rule; `repair` makes one that does not.
            WrongModelForm: The model has no `open`.
        """
        from agentkit_loop.drivers.concurrent import ConcurrentDriver  # brings anyio

        model = self._model
        if not hasattr(model, "open"):
            raise WrongModelForm(model.name, "open")
        state, effects = self._start(session_id, history)
        parts = self._parts(state)
        driver = ConcurrentDriver(cast("Model", model).open(state.session_id), **parts)
        driver.carry_out(effects)
        session = Session(driver, on_approval=self._on_approval)
        try:
            yield session
        except BaseException:
            with suppress(ReporterFailed):  # the first failure is the one to tell
                await session.close()
            raise
        await session.close()

    @contextmanager
    def session_blocking(
        self, *, history: Iterable[Item] = (), session_id: SessionId | None = None
    ) -> Iterator[BlockingSession]:
        """Open a conversation that needs no event loop; see `session`.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
        """
        from agentkit_loop.drivers.blocking import BlockingDriver

        model = self._model
        if not hasattr(model, "open_blocking"):
            raise WrongModelForm(model.name, "open_blocking")
        state, effects = self._start(session_id, history)
        parts = self._parts(state)
        driver = BlockingDriver(
            cast("BlockingModel", model).open_blocking(state.session_id), **parts
        )
        driver.carry_out(effects)
        session = BlockingSession(driver, on_approval=self._on_approval)
        try:
            yield session
        except BaseException:
            with suppress(ReporterFailed):  # the first failure is the one to tell
                session.close()
            raise
        session.close()

    def _start(
        self, session_id: SessionId | None, history: Iterable[Item]
    ) -> tuple[State, Effects]:
        return start(
            session_id or SessionId(f"session-{os.urandom(12).hex()}"),
            model=self._model.name,
            options=self._options,
            instructions=self._instructions,
            history=history,
            config=self._config,
            now=self._clock.now_ms(),
        )

    def _parts(self, state: State) -> dict[str, Any]:
        return {
            "state": state,
            "executor": self._executor,
            "teller": Teller(state.session_id, self._clock.now_ms, self._reporters),
            "clock": self._clock,
            "jitter": self._jitter,
            "dependencies": self._dependencies,
        }


def _instructions(given: Prompt | None) -> tuple[Item, ...]:
    if isinstance(given, str):
        return (Item.system(given),)
    return () if given is None else items_of(given)
