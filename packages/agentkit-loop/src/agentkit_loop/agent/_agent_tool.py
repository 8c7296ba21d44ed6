"""Agents as tools: a model gives a task to another agent and gets that agent's answer.

The inner agent runs in a session of its own. When it needs an approval, the outer call is suspended
with the inner session in its token. It goes on from there when a person has answered, in another
process if need be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    contextmanager,
    nullcontext,
)
from typing import Any, Final, TypeVar

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
from agentkit_core.values import Record
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.agent._blocking_session import BlockingSession, work_on_blocking
from agentkit_loop.agent._host_loop import Outcome
from agentkit_loop.agent._opening import OuterDependencies, ParentRun
from agentkit_loop.agent._session import Session, work_on
from agentkit_loop.events import Envelope, ModelCallFinished, ToolExecutionStarted
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import EndTurn, Hook, RunFacts
from agentkit_loop.extensions._structured import ResultMode, ResultRequest
from agentkit_loop.kernel._state import ParentCall
from agentkit_loop.kernel._status import Finished
from agentkit_tools_core import (
    InvalidToolInput,
    MissingDependency,
    ToolContext,
    ToolInvocation,
    ToolReturn,
    ToolSuspended,
)
from agentkit_tools_core.permissions import PermissionRequest

T = TypeVar("T")

OpenInner = Callable[
    [bytes | None, ParentRun, ParentCall | None], AbstractAsyncContextManager[Session]
]
"""Opens a session of the inner agent, from a snapshot or a new one (None), within an outer run, for
an outer call."""

OpenInnerBlocking = Callable[
    [bytes | None, ParentRun, ParentCall | None], AbstractContextManager[BlockingSession]
]
"""The same, for a session without an event loop."""

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


class ToolResultType(Record, frozen=True):
    """The type to which the agent of a tool has to come.

    Attributes:
        kind: The type.
        mode: How the inner model is told the type.
        retries: How often it may try again when its result is not valid.
    """

    kind: Any
    mode: ResultMode
    retries: int

    @classmethod
    def of(cls, kind: Any, mode: ResultMode, retries: int) -> ToolResultType | None:
        """Make one; None for no type.

        Raises:
            InvalidResultType: Values of the type cannot be read from JSON.
        """
        if kind is None:
            return None
        result = cls(kind, mode, retries)
        result.request()
        return result

    def request(self) -> ResultRequest[Any]:
        """Make the request of one call."""
        return ResultRequest(self.kind, self.mode, self.retries)


class AgentTool:
    """An agent that another agent can call. Made by `Agent.as_tool`.

    If its `LoopConfig.background_done` is `continue`, a call waits for the inner agent's background
    calls; else they end with its turn. They also end when it stops for an approval.

    Attributes:
        inline: Always False: a call may take long.
    """

    __slots__ = (
        "__weakref__",
        "_blocking",
        "_open_inner",
        "_open_inner_blocking",
        "_result",
        "_spec",
    )

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
        result: ToolResultType | None = None,
    ) -> None:
        """Make the tool.

        Args:
            open_inner: Opens the session of one call.
            open_inner_blocking: The same, for a tool that is `blocking`.
            name: The tool's name.
            description: What the tool is for, for the outer model.
            blocking: Whether it is a sync tool, which the blocking driver can run.
            annotations: What is known about the tool's effects; None means nothing.
            result: The type of the result; None means the text of the inner agent's answer.
        """
        self._open_inner = open_inner
        self._open_inner_blocking = open_inner_blocking
        self._spec = ToolSpec(
            name, description, _SCHEMA, annotations=annotations or ToolAnnotations()
        )
        self._blocking = blocking
        self._result = result

    @property
    def spec(self) -> ToolSpec:
        """What the outer model is told about the tool."""
        return self._spec

    @property
    def is_async(self) -> bool:
        """Whether `invoke` returns an awaitable."""
        return not self._blocking

    def permissions(self, request: ToolInvocation, /) -> Sequence[PermissionRequest]:
        """Request no permission: the inner agent's own calls request theirs when they are made."""
        return ()

    def bind(self, input: Mapping[str, JsonValue], /) -> str:  # noqa: A002  (a tool call's word)
        """Return the task.

        Raises:
            InvalidToolInput: The model gave none.
        """
        task = input.get("task")
        if not isinstance(task, str) or not task.strip():
            raise InvalidToolInput("`task` has to say what is to be done", paths=("task",))
        return task

    def invoke(self, arguments: str, context: ToolContext, /) -> Any:
        """Run the inner agent on the task."""
        if self._blocking:
            return self._run_blocking(arguments, context)
        return self._run(arguments, context)

    async def _run(self, task: str, context: ToolContext) -> ToolReturn:
        run = _Run(self._spec.name, context, self._result)
        async with self._open_inner(run.snapshot, run.outer, run.parent) as session:
            with run.requesting(session):
                run.begin(session, task)
                with run.keeping_approvals(session):
                    outcome = await work_on(session)
                return run.end(session, outcome)

    def _run_blocking(self, task: str, context: ToolContext) -> ToolReturn:
        run = _Run(self._spec.name, context, self._result)
        with (
            self._open_inner_blocking(run.snapshot, run.outer, run.parent) as session,
            run.requesting(session),
        ):
            run.begin(session, task)
            with run.keeping_approvals(session):
                outcome = work_on_blocking(session)
            return run.end(session, outcome)


class _Run(Hook):
    """One call of the tool: reports its progress, and keeps it within the outer budget.

    Attributes:
        snapshot: Where the inner session goes on; None in the first run of a call.
        parent: The outer call; None if it is of no session.
        share: The call's share of the outer turn's budget; None if it has none.
        outer: The run that made the call.
    """

    def __init__(self, name: str, context: ToolContext, result: ToolResultType | None) -> None:
        self._request = None if result is None else result.request()
        self.snapshot = _snapshot_in(context.token)
        call = context.request
        self.parent = ParentCall(call.session_id, call.call_id) if call.session_id else None
        self.share = _find(context, TurnBudget)
        self.outer = ParentRun(self.share, _find(context, OuterDependencies), self)
        self._name = name
        self._context = context
        self._limit: str | None = None
        self._is_stopped = False

    def before_request(self, request: ModelRequest, facts: RunFacts, /) -> EndTurn | None:
        """End the inner turn at the outer turn's limits, or when the outer call was cancelled."""
        if self._context.cancelled:
            return EndTurn()
        self._limit = None if self.share is None else self.share.limit_reached()
        return None if self._limit is None else EndTurn()

    def requesting(self, session: Session | BlockingSession) -> AbstractContextManager[None]:
        """Request a result of the tool's type, if it has one, from the turns in the block."""
        if self._request is None:
            return nullcontext()
        return session._offer.request_result(self._request)

    def begin(self, session: Session | BlockingSession, task: str) -> None:
        """Submit the task; or pass on the answers that a person has given meanwhile."""
        session.subscribe(lambda envelope: self._report(envelope, session))
        if self.snapshot is None:
            return session.submit(task)
        if self.share is not None and (used := session.view.usage) != Usage():
            self.share.charge(used)
        for request in session.pending_approvals:
            outer_id, call_id = self._outer_id(request), request.call.id
            if outer_id in self._context.denied:
                reason = self._context.denied[outer_id]
                session.deny(request.id, call_id=call_id, reason=reason)
            elif outer_id in self._context.approved:
                answer = self._context.answers.get(outer_id)
                session.approve(request.id, call_id=call_id, answer=answer)

    def end(self, session: Session | BlockingSession, outcome: Outcome) -> ToolReturn:
        """Return the outer call's result; or suspend the outer call until a person has answered."""
        if isinstance(outcome.status, Finished):
            return self._return(outcome.status.result, outcome.results)
        raise self._waiting(session, outcome.status.requests)

    @contextmanager
    def keeping_approvals(self, session: Session | BlockingSession) -> Iterator[None]:
        """Let the outer call wait if the work breaks while calls of the turn wait for a person.

        A cancellation has ended the turn before it comes here, so nothing waits then.
        """
        try:
            yield
        except BaseException as error:
            view = session.view
            if view.turn_id is None or not view.pending_approvals:
                raise
            raise self._waiting(session, view.pending_approvals) from error

    def _waiting(
        self, session: Session | BlockingSession, requests: Sequence[ApprovalRequest]
    ) -> ToolSuspended:
        return ToolSuspended(
            [self._outer(request) for request in requests],
            token={"session": session.snapshot().decode()},
            takes_denials=True,
        )

    def _return(self, result: TurnResult, results: Sequence[TurnResult]) -> ToolReturn:
        usage = sum((turn.usage for turn in results), Usage())
        reason = self._limit or result.describe_end()
        if result.end is TurnEnd.COMPLETED and self._limit is None:
            if self._request is None:
                return ToolReturn(output=result.text, usage=usage)
            typed = self._request.result(result)
            if typed.has_value:
                return ToolReturn(output=typed.value, usage=usage)
            reason = f"it came to no valid result: {typed.problem or 'none was given'}"
        so_far = f" It said so far: {result.text}" if result.text else ""
        text = f"The agent {self._name} did not finish ({reason}).{so_far}"
        return ToolReturn(output=text, is_error=True, usage=usage)

    def _report(self, envelope: Envelope, session: Session | BlockingSession) -> None:
        if self._context.cancelled and not self._is_stopped:
            # A sync tool is not stopped from outside; none of its calls may begin any more.
            self._is_stopped = True
            session.cancel()
        match envelope.event:
            case ToolExecutionStarted(name=name):
                self._context.progress(f"{self._name} runs {name}")
            case ModelCallFinished(usage=usage) if self.share is not None:
                self.share.charge(usage)
            case _:
                pass

    def _outer_id(self, request: ApprovalRequest) -> ApprovalId:
        # Two inner calls may request the same; each is answered separately. And an approval for
        # the whole outer session counts for this agent, not for the tools of another one.
        return ApprovalId(f"{self._name}:{request.id}@{request.call.id}")

    def _outer(self, request: ApprovalRequest) -> ApprovalRequest:
        return replace(
            request,
            id=self._outer_id(request),
            call=self._context.request.call,
            summary=f"{request.call.name}: {request.summary}",
        )


def _find(context: ToolContext, kind: type[T]) -> T | None:
    try:
        return context.get(kind)
    except MissingDependency:
        return None


def _snapshot_in(token: JsonValue) -> bytes | None:
    if token is None:
        return None
    if isinstance(token, dict) and isinstance(session := token.get("session"), str):
        return session.encode()
    raise RuntimeError("the call's token is not from this tool; it has to have a `session`")
