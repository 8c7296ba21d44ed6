"""The agent: a model with tools, instructions and rules, for any number of sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import partial
from typing import Any

from msgspec.structs import replace

from agentkit_core import Item, ModelOptions, SessionId, ToolAnnotations
from agentkit_core.settings import instance_of
from agentkit_loop.agent._agent_runs import AgentRuns
from agentkit_loop.agent._agent_tool import AgentTool, ToolResultType
from agentkit_loop.agent._blocking_session import BlockingSession
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._open_session import (
    OpenSession,
    leased,
    load_saved,
    load_saved_blocking,
    open_inner_session,
    open_inner_session_blocking,
    open_session_blocking,
)
from agentkit_loop.agent._opening import (
    AgentParts,
    Dependencies,
    SessionStart,
    new_session_id,
    random_jitter,
)
from agentkit_loop.agent._prompt import Instructions, instructions_of
from agentkit_loop.agent._session import Session
from agentkit_loop.drivers._clock import SystemClock
from agentkit_loop.drivers._event_dispatcher import require_reporters
from agentkit_loop.extensions._hooks import Hook, Hooks
from agentkit_loop.extensions._mutators import Mutator
from agentkit_loop.extensions._structured import ResultMode
from agentkit_loop.kernel._config import LoopConfig
from agentkit_loop.ports import BlockingModel, BlockingStore, Clock, Model, Reporter, Store
from agentkit_tools_core import Executor, OutputLimits, Tool, ToolSource
from agentkit_tools_core.permissions import Policy


class Agent(AgentRuns):
    """A model with tools, instructions and rules.

    It holds nothing of any run: its sessions may run at the same time and do not affect each other.

    Args:
        model: The language model. For `run_blocking` and `session_blocking` it needs
            `open_blocking`, for everything else `open`.
        tools: The tools that the model may call. Later changes of a registry, or of any other
            source, are seen.
        instructions: What the agent is and how it behaves; a text becomes a system item. It stands
            before the transcript in every request and is not part of it. A function, which gets
            the `RunFacts`, is asked before each model call.
        policy: Decides which calls may run and which need approval; it sees the permissions that a
            call requests, so not a call that requests none. None allows everything except calls of
            tools with `needs_approval`.
        options: The options of all model calls.
        config: How the loop behaves.
        hooks: Called around requests, responses, tool calls and ends of turns, in this order.
        mutators: Edit the transcript before model calls, in this order.
        output_limits: How much of a tool's output the model gets to read, and what becomes of the
            rest.
        reporters: Called with every event, in this order.
        on_approval: Answers approval requests, with an `ApprovalDecision` or a plain bool. An async
            one is called while other calls run, a sync one when nothing else is to be done.
            Without it, `run` and `prompt` raise `ApprovalRequiredError`.
        dependencies: Objects that tools get with `ToolContext.get`, by type.
        clock: The time; None means the machine's clock.
        jitter: Returns random numbers between 0 and 1, for the length of waits; None means
            `random.random`.

    Raises:
        TypeError: The model is a string, a tool is not a tool (such as a function without `@tool`),
            a hook is not one, a reporter is async (reporters are called without `await`), or one
            of them is given instead of a list.
        DuplicateTool: Two tools have one name.
        InvalidToolName: A tool's name is not valid for every provider.
    """

    __slots__ = ("__weakref__", "_parts")

    def __init__(
        self,
        *,
        model: Model | BlockingModel,
        tools: Iterable[Tool] | ToolSource = (),
        instructions: Instructions | None = None,
        policy: Policy | None = None,
        options: ModelOptions | None = None,
        config: LoopConfig | None = None,
        hooks: Iterable[Hook] = (),
        mutators: Iterable[Mutator] = (),
        output_limits: OutputLimits | None = None,
        reporters: Iterable[Reporter] = (),
        on_approval: OnApproval | None = None,
        dependencies: Dependencies | None = None,
        clock: Clock | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        if isinstance(model, str):
            raise TypeError(
                f"the model is a string, {model!r}; pass a model object, such as the one that "
                f"`agentkit_providers.connect` returns for that name"
            )
        instance_of(options, ModelOptions, "options")
        instance_of(config, LoopConfig, "config")
        instance_of(dependencies, Mapping, "dependencies")
        _require_several(hooks=hooks, mutators=mutators, reporters=reporters)
        all_hooks = Hooks(hooks)
        self._parts = AgentParts(
            model=model,
            executor=Executor(
                tools, policy=policy, hooks=all_hooks.all, output_limits=output_limits
            ),
            instructions=() if callable(instructions) else instructions_of(instructions),
            instructions_function=instructions if callable(instructions) else None,
            options=options,
            config=config or LoopConfig(),
            hooks=all_hooks,
            mutators=tuple(mutators),
            reporters=require_reporters(reporters),
            on_approval=on_approval,
            dependencies=dict(dependencies or {}),
            clock=SystemClock() if clock is None else clock,
            jitter=random_jitter if jitter is None else jitter,
        )

    def session(
        self,
        *,
        history: Iterable[Item] = (),
        session_id: SessionId | None = None,
        store: Store | None = None,
        dependencies: Dependencies | None = None,
    ) -> AbstractAsyncContextManager[Session]:
        """Open a session, for asyncio and trio.

        Without a store, the session is closed at the end. With one, it goes on from what is stored,
        and everything is saved before it takes effect. Leaving it keeps it in the store as it
        stands, approvals that wait included; `Session.close` ends it for good.

        Args:
            history: The conversation so far, for a new session; no response is asked for it.
            session_id: The session's id; None makes one.
            store: Where the session is saved; None means nowhere.
            dependencies: Objects that tools get with `ToolContext.get`, by type, beside those of
                the agent, which they replace where they have the same type.

        Raises:
            TranscriptError: The history breaks a rule; `repair` returns one that does not.
            SessionInUse: Somebody works on the stored session, or something of it runs, in this
                process or in another one; nothing was changed. `read_session` shows it.
            StaleSave: Another process has gone on with the session; raised by the first save.
            RecordError: What is stored cannot be read.
            WrongModelForm: The model has no `open`.
            WrongStoreForm: The store has no `save`.
        """
        parts = self._parts.with_dependencies(dependencies)
        name = session_id or new_session_id()

        async def begin() -> SessionStart:
            with leased(store, name) as lease:
                saved = None if store is None else await load_saved(store, name)
                return replace(parts.start(name, history=history, saved=saved), lease=lease)

        return OpenSession(parts, begin, store=store)

    def resume(
        self, snapshot: bytes, *, dependencies: Dependencies | None = None
    ) -> AbstractAsyncContextManager[Session]:
        """Go on with a session from `Session.snapshot`; it is closed at the end.

        The snapshot is not used up: going on from it twice makes two independent conversations,
        each of which runs calls that were approved and had not begun. A store prevents that; see
        `session`.

        Raises:
            RecordError: The bytes are not a valid snapshot, or one of a newer version.
            WrongModelForm: The model has no `open`.
        """
        parts = self._parts.with_dependencies(dependencies)

        async def begin() -> SessionStart:
            return parts.resume(snapshot)

        return OpenSession(parts, begin)

    def as_tool(
        self,
        name: str,
        description: str,
        *,
        blocking: bool = False,
        annotations: ToolAnnotations | None = None,
        result_type: type[Any] | None = None,
        result_mode: ResultMode = ResultMode.FORMAT,
        result_retries: int = 2,
    ) -> AgentTool:
        """Make this agent a tool for another agent; see `AgentTool`.

        Its model calls count for the outer turn and stop at that turn's limits. Approvals that its
        calls need reach the outer host, unless this agent has an `on_approval`. Its tools have the
        dependencies of the outer agent too; this agent's own win over those, and those that were
        given to the outer run win over all.

        Args:
            name: The tool's name.
            description: What the tool is for, for the outer model.
            blocking: Whether it is a sync tool, which the blocking driver can run; the model then
                needs `open_blocking`. An async tool stops at once when it is cancelled.
            annotations: What is known about the tool's effects; None means nothing.
            result_type: The type of the result, which the outer model reads as JSON; None means
                the text of this agent's answer. A call that comes to no valid value has failed.
            result_mode: How this agent's model is told the type.
            result_retries: How often it may try again when its result is not valid.

        Raises:
            InvalidResultType: Values of the type cannot be read from JSON.
        """
        return AgentTool(
            partial(open_inner_session, self._parts),
            partial(open_inner_session_blocking, self._parts),
            name=name,
            description=description,
            blocking=blocking,
            annotations=annotations,
            result=ToolResultType.of(result_type, result_mode, result_retries),
        )

    @contextmanager
    def session_blocking(
        self,
        *,
        history: Iterable[Item] = (),
        session_id: SessionId | None = None,
        store: BlockingStore | None = None,
        dependencies: Dependencies | None = None,
    ) -> Iterator[BlockingSession]:
        """Open a session without an event loop; see `session`.

        Raises:
            WrongModelForm: The model has no `open_blocking`.
            WrongStoreForm: The store has no `save_blocking`.
        """
        name = session_id or new_session_id()
        parts = self._parts.with_dependencies(dependencies)
        with leased(store, name) as lease:
            saved = None if store is None else load_saved_blocking(store, name)
            begin = replace(parts.start(name, history=history, saved=saved), lease=lease)
        opened = open_session_blocking(parts, begin, store=store)
        del begin, history  # a long session need not keep what it began with
        with opened as session:
            yield session

    @contextmanager
    def resume_blocking(
        self, snapshot: bytes, *, dependencies: Dependencies | None = None
    ) -> Iterator[BlockingSession]:
        """Go on with a session from a snapshot, without an event loop; see `resume`."""
        parts = self._parts.with_dependencies(dependencies)
        with open_session_blocking(parts, parts.resume(snapshot)) as session:
            yield session


def _require_several(**values: object) -> None:
    for name, value in values.items():
        if not isinstance(value, Iterable):
            raise TypeError(f"{name} is {value!r}; use a list, also for one: {name}=[…]")
