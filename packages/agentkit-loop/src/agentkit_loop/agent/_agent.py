"""An agent: what is assembled once and used for any number of sessions.

It holds nothing of any run, so sessions may run side by side and know nothing of each other.
"""

from __future__ import annotations

from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Mapping,
)
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
    suppress,
)
from typing import Any, TypeVar, cast, overload

from agentkit_core import Item, ModelOptions, SessionId, ToolAnnotations
from agentkit_loop._errors import ReporterFailed, WrongModelForm, WrongStoreForm
from agentkit_loop._result import TurnResult
from agentkit_loop.agent._agent_tool import AgentTool
from agentkit_loop.agent._blocking_session import BlockingSession
from agentkit_loop.agent._conversation import Prompt, instructions_of
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._opening import Assembly, Begun, Inner, chance, new_id
from agentkit_loop.agent._session import Session
from agentkit_loop.drivers._clock import SystemClock
from agentkit_loop.drivers._event_dispatcher import require_reporter
from agentkit_loop.events import Event
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import Hook, Hooks
from agentkit_loop.extensions._mutators import Mutator
from agentkit_loop.extensions._structured import ResultMode, TypedResult
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.persistence._records import BlockingStore, Store
from agentkit_loop.ports import BlockingModel, Clock, Model, Reporter
from agentkit_tools_core import Executor, OutputLimits, Tool, ToolSource
from agentkit_tools_core.permissions import Policy

T = TypeVar("T")


class Agent:
    """A model with tools, instructions and rules.

    Args:
        model: Answers. For `run_blocking` and `session_blocking` it needs `open_blocking`.
        tools: What the model may call; of a registry, or any other source, later changes are
            seen.
        instructions: What the agent is to be; a text becomes a system item. It stands before the
            transcript in every request and is no part of it.
        policy: Decides what calls ask permission for: see `permissions` and `needs_approval` of
            `@tool`. A call that asks for nothing is not put to it. None allows all but what
            needs approval.
        options: How the model should answer.
        config: How the loop behaves.
        output_limits: How much of what tools give a model may get to read, and what becomes of
            the rest.
        reporters: Told of everything, in this order.
        on_approval: Answers asks, as `ApprovalDecision` or a plain yes or no. An async one is asked
            while other calls run, a sync one when nothing else is to be done. Without it, `run`
            and `prompt` raise `ApprovalRequiredError`.
        hooks: Asked around requests, answers, calls and ends of turns, in this order.
        mutators: Shown the transcript before each model call, in this order.
        dependencies: Objects that tools find with `ToolContext.get`, by type.
        clock: Where time comes from; None means the machine.
        jitter: Random numbers between 0 and 1, for the length of waits; None means chance.

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
        tools: Iterable[Tool] | ToolSource = (),
        instructions: Prompt | None = None,
        policy: Policy | None = None,
        options: ModelOptions | None = None,
        config: LoopConfig | None = None,
        hooks: Iterable[Hook] = (),
        mutators: Iterable[Mutator] = (),
        output_limits: OutputLimits | None = None,
        reporters: Iterable[Reporter] = (),
        on_approval: OnApproval | None = None,
        dependencies: Mapping[type[Any], object] | None = None,
        clock: Clock | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        if isinstance(model, str):
            raise TypeError(
                f"the model is a name, {model!r}; give an object that answers, such as what "
                f"`agentkit_providers.connect` makes of it"
            )
        told = tuple(reporters)
        for reporter in told:
            require_reporter(reporter)
        asked, mutating = Hooks(hooks), tuple(mutators)
        self._assembly = Assembly(
            model=model,
            executor=Executor(tools, policy=policy, hooks=asked.all, output_limits=output_limits),
            instructions=instructions_of(instructions),
            options=options,
            config=config or LoopConfig(),
            hooks=asked,
            mutators=mutating,
            reporters=told,
            on_approval=on_approval,
            dependencies=dict(dependencies or {}),
            clock=SystemClock() if clock is None else clock,
            jitter=chance if jitter is None else jitter,
        )

    @overload
    async def run(self, prompt: Prompt, *, history: Iterable[Item] = ...) -> TurnResult: ...
    @overload
    async def run(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = ...,
        result_type: type[T],
        result_mode: ResultMode = ...,
        result_retries: int = ...,
    ) -> TypedResult[T]: ...
    async def run(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        result_type: type[T] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> TurnResult | TypedResult[T]:
        """Say one thing and wait for what comes of it.

        A failure of the model is a result, not an exception; see `TurnResult.end`. Calls in the
        background end with it, unless `LoopConfig.background_done` is `continue`: then they are
        waited for, and the model is told.

        Args:
            prompt: What to say.
            history: The conversation so far, such as an earlier session's transcript. It is not
                changed.
            result_type: What is to come of it, any type that a tool could take; None means text.
            result_mode: How the model is told of the type.
            result_retries: How often it may try again when what it gives does not fit.

        Returns:
            What the turn came to; with `result_type`, that and the value.

        Raises:
            ApprovalRequiredError: A call waits for approval, and there is no `on_approval`.
            NothingToContinue: The prompt is empty.
            TranscriptError: The history breaks a rule; `repair` makes one that does not.
            ReporterFailed: A reporter wanted the run to stop.
            WrongModelForm: The model has no `open`.
            AgentkitError: The model could not be asked because of a mistake here, such as a
                missing key.
        """
        async with self.session(history=history) as session:
            if result_type is None:
                return await session.prompt(prompt)
            return await session.prompt(
                prompt,
                result_type=result_type,
                result_mode=result_mode,
                result_retries=result_retries,
            )

    async def stream(
        self, prompt: Prompt, *, history: Iterable[Item] = ()
    ) -> AsyncGenerator[Event, None]:
        """Say one thing and get the events of what comes of it; see `run`.

        Leaving early cancels the run and frees the model's response; under trio, wrap it in
        `contextlib.aclosing` so that this happens at once.

        Raises:
            ApprovalRequiredError: A call waits for approval, and there is no `on_approval`.
        """
        async with self.session(history=history) as session:
            async with aclosing(session.stream(prompt)) as events:
                async for event in events:
                    yield event
            session.raise_for_approvals()

    @overload
    def run_blocking(self, prompt: Prompt, *, history: Iterable[Item] = ...) -> TurnResult: ...
    @overload
    def run_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = ...,
        result_type: type[T],
        result_mode: ResultMode = ...,
        result_retries: int = ...,
    ) -> TypedResult[T]: ...
    def run_blocking(
        self,
        prompt: Prompt,
        *,
        history: Iterable[Item] = (),
        result_type: type[T] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> TurnResult | TypedResult[T]:
        """Say one thing and wait for what comes of it, without an event loop; see `run`.

        Works in any thread, also inside a running event loop, which it blocks.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
        """
        with self.session_blocking(history=history) as session:
            if result_type is None:
                return session.prompt(prompt)
            return session.prompt(
                prompt,
                result_type=result_type,
                result_mode=result_mode,
                result_retries=result_retries,
            )

    def stream_blocking(
        self, prompt: Prompt, *, history: Iterable[Item] = ()
    ) -> Generator[Event, None, None]:
        """Say one thing and get the events of what comes of it; see `stream`."""
        with self.session_blocking(history=history) as session:
            with closing(session.stream(prompt)) as events:
                yield from events
            session.raise_for_approvals()

    @asynccontextmanager
    async def session(
        self,
        *,
        history: Iterable[Item] = (),
        session_id: SessionId | None = None,
        store: Store | None = None,
    ) -> AsyncIterator[Session]:
        """Open a conversation, for asyncio and trio.

        Without a store it is closed in the end. With one it goes on where it is stored, if it
        is, and everything is saved before anything comes of it; leaving it keeps it there as it
        stands, with what it waits for, and `Session.close` ends it for good.

        Args:
            history: The conversation so far, of a session that is new; no answer is asked for it.
            session_id: A name for it; None makes one up.
            store: Where it is kept.

        Raises:
            TranscriptError: The history breaks a rule; `repair` makes one that does not.
            StaleSave: Somebody else works on the session that is stored; raised by whatever is
                saved first.
            RecordError: What is stored cannot be read.
            WrongModelForm: The model has no `open`.
            WrongStoreForm: The store has no `save`.
        """
        if store is not None and not hasattr(store, "save"):
            raise WrongStoreForm(store, "save")
        session_id = session_id or new_id()
        saved = None if store is None else await store.load(session_id)
        async with self._opened(
            self._assembly.begun(session_id, history=history, saved=saved), store
        ) as session:
            yield session

    @asynccontextmanager
    async def resume(self, snapshot: bytes) -> AsyncIterator[Session]:
        """Go on with a session from `Session.snapshot`; it is closed in the end.

        The snapshot stays what it is: going on from it twice makes two conversations, each of
        which runs what was approved and not begun. A store refuses the second; see `session`.

        Raises:
            RecordError: It is no snapshot, or one of a newer version.
            WrongModelForm: The model has no `open`.
        """
        async with self._opened(self._assembly.resumed(snapshot), None) as session:
            yield session

    def as_tool(
        self,
        name: str,
        description: str,
        *,
        blocking: bool = False,
        annotations: ToolAnnotations | None = None,
    ) -> AgentTool:
        """Make a tool of this agent, for another one; see `AgentTool`.

        Its model calls count for the outer turn, and stop where that may spend no more. What it
        needs approved reaches the outer host, unless it has an `on_approval` of its own.
        """
        return AgentTool(
            self._inner,
            self._inner_blocking,
            name=name,
            description=description,
            blocking=blocking,
            annotations=annotations,
        )

    def _inner(
        self, snapshot: bytes | None, above: TurnBudget | None, hook: Hook
    ) -> AbstractAsyncContextManager[Session]:
        """Open a session for a tool of another run; see `AgentTool`.

        Args:
            snapshot: Where to go on; None begins anew.
            above: The budget of that run.
            hook: Asked before all others.
        """
        begun = (
            self._assembly.begun(new_id()) if snapshot is None else self._assembly.resumed(snapshot)
        )
        return self._opened(begun, None, Inner(above, hook))

    def _inner_blocking(
        self, snapshot: bytes | None, above: TurnBudget | None, hook: Hook
    ) -> AbstractContextManager[BlockingSession]:
        """Open a session for a tool of another run, without an event loop; see `_inner`."""
        begun = (
            self._assembly.begun(new_id()) if snapshot is None else self._assembly.resumed(snapshot)
        )
        return self._opened_blocking(begun, None, Inner(above, hook))

    @asynccontextmanager
    async def _opened(
        self, begun: Begun, store: Store | None, inner: Inner | None = None
    ) -> AsyncIterator[Session]:
        from agentkit_loop.drivers._background_group import home  # brings anyio
        from agentkit_loop.drivers.concurrent import ConcurrentDriver

        model = self._assembly.model
        if not hasattr(model, "open"):
            raise WrongModelForm(model.name, "open")
        parts = self._assembly.parts(begun, store, inner)
        opened = cast("Model", model).open(begun.state.session_id)
        async with home(needed=self._assembly.detaches) as group:
            driver = ConcurrentDriver(opened, parts, home=group)
            session = Session(driver, on_approval=self._assembly.on_approval)
            leave = session.close if store is None else session.suspend
            try:
                begun.begin(driver)
                yield session
            except BaseException:
                with suppress(ReporterFailed):  # the first failure is the one to tell
                    await leave()
                raise
            if not driver.is_over:
                await leave()

    @contextmanager
    def session_blocking(
        self,
        *,
        history: Iterable[Item] = (),
        session_id: SessionId | None = None,
        store: BlockingStore | None = None,
    ) -> Iterator[BlockingSession]:
        """Open a conversation that needs no event loop; see `session`.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
            WrongStoreForm: The store has no `save_blocking`.
        """
        if store is not None and not hasattr(store, "save_blocking"):
            raise WrongStoreForm(store, "save_blocking")
        session_id = session_id or new_id()
        saved = None if store is None else store.load_blocking(session_id)
        with self._opened_blocking(
            self._assembly.begun(session_id, history=history, saved=saved), store
        ) as session:
            yield session

    @contextmanager
    def resume_blocking(self, snapshot: bytes) -> Iterator[BlockingSession]:
        """Go on with a session that needs no event loop; see `resume`."""
        with self._opened_blocking(self._assembly.resumed(snapshot), None) as session:
            yield session

    @contextmanager
    def _opened_blocking(
        self, begun: Begun, store: BlockingStore | None, inner: Inner | None = None
    ) -> Iterator[BlockingSession]:
        from agentkit_loop.drivers.blocking import BlockingDriver

        model = self._assembly.model
        if not hasattr(model, "open_blocking"):
            raise WrongModelForm(model.name, "open_blocking")
        parts = self._assembly.parts(begun, store, inner)
        opened = cast("BlockingModel", model).open_blocking(begun.state.session_id)
        driver = BlockingDriver(opened, parts)
        session = BlockingSession(driver, on_approval=self._assembly.on_approval)
        leave = session.close if store is None else session.suspend
        try:
            begun.begin(driver)
            yield session
        except BaseException:
            with suppress(ReporterFailed):  # the first failure is the one to tell
                leave()
            raise
        if not driver.is_over:
            leave()
