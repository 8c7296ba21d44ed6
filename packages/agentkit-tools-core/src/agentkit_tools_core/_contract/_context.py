"""The context of a call: what a running tool can ask the host, a person and other tools."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NoReturn, Self, TypeVar

from msgspec.structs import replace

from agentkit_core import ApprovalId, ApprovalKind, ApprovalRequest, JsonValue, ToolResult
from agentkit_core.json import canonical_json
from agentkit_tools_core._contract._approval import approval_request, earlier_question_id
from agentkit_tools_core._contract._child_calls import Caller, read_token
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import ApprovalDenied, ToolSuspended
from agentkit_tools_core._contract._timer import CallTimer
from agentkit_tools_core._errors import MissingDependency

T = TypeVar("T")

_KEY_LENGTH: Final = 32


class ToolContext:
    """The context of one call, for the tool.

    A function receives it in a parameter with this annotation; the model does not see that
    parameter. All methods may be called from any thread.

    A tool may stop during its run to ask a person (`ask`, `authorize`, `require`, `suspend`, or a
    child call that needs approval). The run ends there. After the answer, possibly days later and
    in another process, the tool is *run again from the start*, and the method returns the answer.
    So ask before you do something that must not be done twice, or use `idempotency_key`.
    """

    __slots__ = (
        "_asked", "_caller", "_cancelled", "_dependencies", "_is_child", "_progress", "_timer",
        "_token", "answers", "approved", "denied", "request",
    )  # fmt: skip

    request: ToolInvocation
    """The call."""
    approved: frozenset[ApprovalId]
    """The ids of the approvals that were granted for this call."""
    answers: Mapping[ApprovalId, JsonValue]
    """The answers to this call's questions, by the id of the approval request."""
    denied: Mapping[ApprovalId, str | None]
    """What was denied to this call: the id, and the reason or None."""

    def __init__(
        self,
        request: ToolInvocation,
        *,
        progress: Callable[[str, JsonValue], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
        dependencies: Mapping[type[Any], object] | None = None,
        approved: Collection[ApprovalId] = (),
        answers: Mapping[ApprovalId, JsonValue] | None = None,
        denied: Mapping[ApprovalId, str | None] | None = None,
        token: JsonValue = None,
        timer: CallTimer | None = None,
    ) -> None:
        """Make the context of a call, in order to run it.

        Args:
            request: The call.
            progress: Takes a message and data; called from any thread. None ignores progress.
            cancelled: Returns whether the call was cancelled; called from any thread. None means
                that it is never cancelled.
            dependencies: Objects of the host, by the type that tools ask for.
            approved: The ids of the approvals that were granted for this call.
            answers: The answers to this call's questions, by id. A question with an id in
                `approved` but without an answer gets None.
            denied: What was denied to this call: ids and reasons.
            token: The token of the call's last suspension, unchanged; None if there is none.
            timer: Keeps the time limits of this call and of its child calls; None keeps none.
        """
        self._timer = timer
        self._is_child = False
        self.request = request
        self.approved = frozenset(approved)
        self.answers = dict(answers or {})
        self.denied = dict(denied or {})
        self._progress = progress
        self._cancelled = cancelled
        self._dependencies: Mapping[type[Any], object] = dependencies or {}
        self._token = token
        self._caller: Caller | None = None
        self._asked: dict[ApprovalId, int] = {}  # how often this run has asked each question

    # the host

    @property
    def cancelled(self) -> bool:
        """Whether the call was cancelled.

        An async tool is cancelled where it waits, and need not check this. A sync tool that takes
        long should check it from time to time and return early.
        """
        return self._cancelled is not None and self._cancelled()

    def progress(self, message: str, data: JsonValue = None) -> None:
        """Report the progress of the call to reporters and hosts; the model does not see it.

        After the end of the call, nothing happens.

        Args:
            message: The progress, for people, in one line.
            data: The progress, for programs.
        """
        if self._progress is not None and (self._caller is None or not self._caller.over):
            self._progress(message, data)

    def get(self, kind: type[T]) -> T:
        """Return the host's object of a type: a database, a client, a user.

        Args:
            kind: Exactly the type under which the host registered the object, not a base class.

        Raises:
            MissingDependency: The host registered no object under that type.
        """
        try:
            dependency: Any = self._dependencies[kind]
        except KeyError:
            raise MissingDependency(kind, tool=self.request.name) from None
        return dependency  # type: ignore[no-any-return]

    @property
    def idempotency_key(self) -> str:
        """32 hexadecimal digits, the same for every run of this call, in any process.

        For services that accept such keys. It is made of the ids of the session and the call.
        """
        ids = canonical_json([self.request.session_id, self.request.call_id])
        return sha256(ids).hexdigest()[:_KEY_LENGTH]

    # asking a person during a run

    @property
    def token(self) -> JsonValue:
        """The token that the tool itself passed to `suspend`; None if it passed none."""
        return read_token(self._token).own

    def ask(
        self,
        question: str,
        *,
        kind: str = "question",
        schema: dict[str, JsonValue] | None = None,
        metadata: dict[str, JsonValue] | None = None,
    ) -> JsonValue:
        """Ask a person for data that the tool needs.

        Questions with the same kind, text and metadata are the same question, and have the same
        answer in every run. A run that asks one again, because the answer will not do, reaches the
        person again; so count the tries, or say in the question what was wrong.

        Args:
            question: The question, for people.
            kind: The kind of question, for hosts that answer some kinds themselves.
            schema: The JSON Schema of the answer. The person sees it; it is not enforced.
            metadata: Facts for programs.

        Returns:
            The answer; None if a person approved without one.

        Raises:
            ToolSuspended: There is no answer yet; do not catch it.
            ApprovalDenied: A person refused to answer.
        """
        request = PermissionRequest(kind, question, metadata or {})
        return self._decision_on(request, ApprovalKind.QUESTION, schema=schema)

    def authorize(self, summary: str, *, metadata: dict[str, JsonValue] | None = None) -> JsonValue:
        """Ask a person to log in to a service; see `ask`.

        Args:
            summary: Where to log in and why, for people.
            metadata: Facts for programs, such as the URL to visit. No secrets.

        Returns:
            The answer; None if a person only confirmed.
        """
        request = PermissionRequest("auth", summary, metadata or {})
        return self._decision_on(request, ApprovalKind.AUTH)

    def require(self, request: PermissionRequest, *, reason: str | None = None) -> None:
        """Continue only if a person has approved this for this call; no policy decides.

        Use it for what the tool learns during its run. What the arguments tell belongs in
        `Tool.permissions`.

        Args:
            request: What the tool would do.
            reason: Why a person has to decide, for people.

        Raises:
            ToolSuspended: It is not approved yet; do not catch it.
            ApprovalDenied: A person denied it.
        """
        self._decision_on(request, ApprovalKind.APPROVAL, reason=reason)

    def suspend(
        self,
        requests: Sequence[ApprovalRequest],
        *,
        token: JsonValue = None,
        takes_denials: bool = False,
    ) -> NoReturn:
        """Stop until all these requests are answered; then the tool is run again from the start.

        The tool finds the answers in `answers`, `approved` and `denied`, and has to look there
        before it suspends again.

        Args:
            requests: What a person has to answer; at least one. Each gets this call as its `call`.
            token: Data for the next run, which finds it in `context.token`: plain JSON, at most
                1 MiB, stored with the session. The other methods keep the token.
            takes_denials: Whether the tool is run again after a denial too; otherwise a denial
                ends the call.

        Raises:
            ToolSuspended: Always.
            ValueError: There is no request.
        """
        raise ToolSuspended(requests, token=token, takes_denials=takes_denials)

    def _decision_on(
        self,
        request: PermissionRequest,
        want: ApprovalKind,
        *,
        reason: str | None = None,
        schema: dict[str, JsonValue] | None = None,
    ) -> JsonValue:
        approval = approval_request(
            request, self.request.call, reason=reason, want=want, schema=schema
        )
        ids = [approval.id]
        if want is not ApprovalKind.APPROVAL:
            ids.append(earlier_question_id(request))
        # A denial counts even if an equal question was approved before, or is asked again.
        for each in ids:
            if each in self.denied:
                raise ApprovalDenied(approval, self.denied[each])
        if want is not ApprovalKind.APPROVAL:
            # The old answer is not given for ever: whoever asks again wants another one.
            times = self._asked[approval.id] = self._asked.get(approval.id, 0) + 1
            if times > 1:
                approval = replace(approval, id=ApprovalId(f"{approval.id}#{times}"))
                ids = [approval.id]
                if approval.id in self.denied:
                    raise ApprovalDenied(approval, self.denied[approval.id])
        for each in ids:
            if each in self.approved:
                return self.answers.get(each)
            # An answer alone is not an approval.
            if each in self.answers and want is not ApprovalKind.APPROVAL:
                return self.answers[each]
        raise ToolSuspended([approval], token=self.token, takes_denials=True)

    # calling other tools

    async def call(self, name: str, arguments: dict[str, JsonValue] | None = None) -> ToolResult:
        """Call another tool, as a model would; for async tools.

        The executor looks the tool up, checks the arguments, calls the hooks, evaluates the policy,
        runs the tool and limits its output, as for any call. The child call has this call's
        dependencies, approvals and cancellation, and the id `<this call's id>.<n>`. Anything wrong
        with it gives an error result, including a denied permission. Its own
        time limit counts, beside that of this tool; its `exclusive` is ignored.

        If the child has to ask a person, this call suspends. When it is run again, finished child
        calls are answered from the record and do not run twice. So a tool must make the same child
        calls in the same order in every run; otherwise it fails. Make one call after the other:
        concurrent calls are numbered as they start, those that are not finished when one suspends
        are run again, and their questions reach a person together only if they come from one task
        group.

        The usage that children report is added to the result of this call, unless this tool reports
        usage itself. The `added_tools` of children, and their wish to end the turn, are ignored.

        Args:
            name: The name of the tool.
            arguments: The arguments, as JSON values.

        Raises:
            RuntimeError: No executor runs this context, or its call is over.
            TypeError: The arguments are not JSON.
            ToolError: This call was cancelled, so it begins no other one.
            ToolSuspended: The child waits for a person; do not catch it.
        """
        return await self._children().call(name, arguments)

    def call_blocking(self, name: str, arguments: dict[str, JsonValue] | None = None) -> ToolResult:
        """Call another tool from a sync tool; see `call`. The other tool must be sync too.

        A call that takes longer than its time limit is not stopped, but has timed out all the same.

        Raises:
            NeedsEventLoop: The other tool is async.
        """
        return self._children().call_blocking(name, arguments)

    def _children(self) -> Caller:
        if self._caller is None:
            raise RuntimeError(
                "no executor runs this context, so it cannot call tools; run the tool with "
                "Executor.run or agentkit_tools_core.testing.call_tool"
            )
        return self._caller

    def _copy(self) -> Self:
        # `copy.copy` would take twenty times as long, for every call.
        duplicate = type(self).__new__(type(self))
        duplicate._asked = self._asked
        duplicate._caller = self._caller
        duplicate._cancelled = self._cancelled
        duplicate._dependencies = self._dependencies
        duplicate._is_child = self._is_child
        duplicate._progress = self._progress
        duplicate._timer = self._timer
        duplicate._token = self._token
        duplicate.answers = self.answers
        duplicate.approved = self.approved
        duplicate.denied = self.denied
        duplicate.request = self.request
        extra: dict[str, Any] | None = getattr(self, "__dict__", None)
        if extra:
            duplicate.__dict__.update(extra)
        return duplicate

    def _for_run(self, request: ToolInvocation, caller: Caller) -> Self:
        """Return a copy for one run of the call."""
        context = self._copy()
        context.request = request
        context._caller = caller
        context._asked = {}
        return context

    def _for_child(self, token: JsonValue) -> Self:
        """Return a copy for a child call."""
        context = self._copy()
        context._token = token
        context._caller = None
        context._is_child = True
        return context
