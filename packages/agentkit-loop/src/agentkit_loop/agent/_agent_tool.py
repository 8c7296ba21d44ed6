"""Agents as tools: a model hands a task to another agent, and gets what that one says.

The inner agent runs in a session of its own. What it needs approved, or asks, reaches the host
through the outer call: that call is suspended with the inner session in its token, and goes on
from there once someone has answered, in another process if need be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import Any, Final, NoReturn

from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    JsonValue,
    ModelRequest,
    ToolAnnotations,
    ToolSpec,
    Usage,
)
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.agent._blocking_session import BlockingSession
from agentkit_loop.agent._session import Session
from agentkit_loop.events import Envelope, ModelCallFinished, ToolExecutionStarted
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import EndTurn, Hook, RunFacts
from agentkit_loop.kernel._status import AfterRound, Finished, SessionStatus, WaitingForApproval
from agentkit_tools_core import (
    InvalidToolInput,
    MissingDependency,
    ToolContext,
    ToolInvocation,
    ToolReturn,
)
from agentkit_tools_core.permissions import PermissionRequest

OpenInner = Callable[[bytes | None, TurnBudget | None, Hook], AbstractAsyncContextManager[Session]]
"""Opens a session of the inner agent: from a snapshot, or a new one where that is None; within the
budget of the outer turn; with a hook that is asked before all others."""

OpenInnerBlocking = Callable[
    [bytes | None, TurnBudget | None, Hook], AbstractContextManager[BlockingSession]
]
"""The same for a session that needs no event loop."""

_SCHEMA: Final[dict[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "task": {
            "type": "string",
            "description": "What is to be done, with everything that has to be known for it.",
        }
    },
    "required": ["task"],
    "additionalProperties": False,
}


class AgentTool:
    """An agent that another agent can call. Made by `Agent.as_tool`.

    Its calls in the background are waited for where its `LoopConfig.background_done` is `continue`.
    Else they end with its turn; and in any case when it stops to ask the outer host.
    """

    inline = False

    def __init__(
        self,
        open_inner: OpenInner,
        open_inner_blocking: OpenInnerBlocking,
        *,
        name: str,
        description: str,
        blocking: bool = False,
        annotations: ToolAnnotations | None = None,
    ) -> None:
        """Make it.

        Args:
            open_inner: Opens the session of one call.
            open_inner_blocking: The same, for a tool that is `blocking`.
            name: What the outer model calls it.
            description: What it is for.
            blocking: Whether it is a sync tool, which the blocking driver can run; the model
                then needs `open_blocking`. An async one stops at once when it is cancelled.
            annotations: What it says of itself; nothing by default.

        """
        self._open_inner = open_inner
        self._open_inner_blocking = open_inner_blocking
        self._spec = ToolSpec(
            name, description, _SCHEMA, annotations=annotations or ToolAnnotations()
        )
        self._blocking = blocking

    @property
    def spec(self) -> ToolSpec:
        """What the outer model is told of it."""
        return self._spec

    @property
    def is_async(self) -> bool:
        """Whether `invoke` returns an awaitable."""
        return not self._blocking

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Nothing: what the agent's own calls need is asked when it gets there."""
        return ()

    def bind(self, given: Mapping[str, JsonValue], /) -> str:
        """Take the task.

        Raises:
            InvalidToolInput: There is none.
        """
        task = given.get("task")
        if not isinstance(task, str) or not task.strip():
            raise InvalidToolInput("`task` has to say what is to be done", paths=("task",))
        return task

    def invoke(self, arguments: str, context: ToolContext, /) -> Any:
        """Have it done."""
        return (
            self._work_blocking(arguments, context)
            if self._blocking
            else (self._work(arguments, context))
        )

    async def _work(self, task: str, context: ToolContext) -> ToolReturn:
        snapshot = _snapshot_in(context.token)
        run = _Run(self._spec.name, context)
        async with self._open_inner(snapshot, run.share, run) as session:
            run.begin(session, None if snapshot is not None else task)
            while True:
                step = await session.next()
                if isinstance(step, WaitingForApproval) and not await session._have_answered(step):
                    run.ask(step, session.snapshot())
                if isinstance(step, Finished) and await session._goes_on():
                    run.count(step.result)
                    continue
                if (result := run.end(step, session)) is not None:
                    return result

    def _work_blocking(self, task: str, context: ToolContext) -> ToolReturn:
        snapshot = _snapshot_in(context.token)
        run = _Run(self._spec.name, context)
        with self._open_inner_blocking(snapshot, run.share, run) as session:
            run.begin(session, None if snapshot is not None else task)
            while True:
                step = session.next()
                if isinstance(step, WaitingForApproval) and not session._have_answered(step):
                    run.ask(step, session.snapshot())
                if (result := run.end(step, session)) is not None:
                    return result


class _Run(Hook):
    """One call of an agent: tells how far it is, and keeps it within the outer budget."""

    def __init__(self, name: str, context: ToolContext) -> None:
        self._name = name
        self._context = context
        self._limit: str | None = None
        self._used = Usage()
        self._stopped = False
        try:
            self.share: TurnBudget | None = context.get(TurnBudget)
        except MissingDependency:
            self.share = None

    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> EndTurn | None:
        """Stop where the outer turn may spend no more, or wants the result no more."""
        if self._context.cancelled:
            return EndTurn()
        self._limit = None if self.share is None else self.share.limit_reached()
        return None if self._limit is None else EndTurn()

    def begin(self, session: Session | BlockingSession, task: str | None) -> None:
        """Say what is to be done, or what was answered meanwhile."""
        session.subscribe(lambda envelope: self._tell(envelope, session))
        if task is not None:
            return session.submit(task)
        if self.share is not None and (used := session.view.usage) != Usage():
            self.share.charge(used)
        for ask in session.pending_approvals:
            outer = self._outer_id(ask)
            if outer in self._context.denied:
                reason = self._context.denied[outer]
                session.deny(ask.id, call_id=ask.call.id, reason=reason)
            elif outer in self._context.approved:
                answer = self._context.answers.get(outer)
                session.approve(ask.id, call_id=ask.call.id, answer=answer)

    def ask(self, step: WaitingForApproval, snapshot: bytes) -> NoReturn:
        """Stop the outer call until somebody has answered."""
        self._context.suspend(
            [self._outer(request) for request in step.requests],
            token={"session": snapshot.decode()},
            takes_denials=True,
        )

    def end(self, step: SessionStatus, session: Session | BlockingSession) -> ToolReturn | None:
        """Make the outer call's result, if the inner turn is over."""
        match step:
            case Finished(result=result):
                return self._return(result)
            case AfterRound() | WaitingForApproval():
                return None
            case _:
                raise RuntimeError(f"the agent stopped: {type(step).__name__}")

    def count(self, result: TurnResult) -> None:
        """Count a turn that others follow, because calls in the background go on."""
        self._used += result.usage

    def _return(self, result: TurnResult) -> ToolReturn:
        usage = self._used + result.usage
        if result.end is TurnEnd.COMPLETED and self._limit is None:
            return ToolReturn(output=result.text, usage=usage)
        why = self._limit or result.limit or result.error or result.end.value
        if result.failure is not None:
            why = result.failure.message
        said = f" It said so far: {result.text}" if result.text else ""
        text = f"The agent {self._name} did not finish ({why}).{said}"
        return ToolReturn(output=text, is_error=True, usage=usage)

    def _tell(self, envelope: Envelope, session: Session | BlockingSession) -> None:
        if self._context.cancelled and not self._stopped:
            # A sync one is not stopped by whoever waits for it; no more of its calls may begin.
            self._stopped = True
            session.cancel()
        match envelope.event:
            case ToolExecutionStarted(name=name):
                self._context.progress(f"{self._name} runs {name}")
            case ModelCallFinished(usage=usage) if self.share is not None:
                self.share.charge(usage)
            case _:
                pass

    def _outer_id(self, ask: ApprovalRequest) -> ApprovalId:
        # Two inner calls may ask for the same; each is answered by itself. And what was approved
        # for all of the outer session is approved for this agent, not for another one's tools.
        return ApprovalId(f"{self._name}:{ask.id}@{ask.call.id}")

    def _outer(self, request: ApprovalRequest) -> ApprovalRequest:
        return replace(
            request,
            id=self._outer_id(request),
            call=self._context.request.call,
            summary=f"{request.call.name}: {request.summary}",
        )


def _snapshot_in(token: JsonValue) -> bytes | None:
    if token is None:
        return None
    if isinstance(token, dict) and isinstance(session := token.get("session"), str):
        return session.encode()
    raise RuntimeError("the token is none of this tool")
