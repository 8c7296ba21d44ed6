"""What a running tool may ask of its surroundings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NoReturn, Self, TypeVar

from agentkit_core import ApprovalId, ApprovalKind, ApprovalRequest, JsonValue, ToolResult
from agentkit_core.json import canonical_json
from agentkit_tools_core._contract._approval import approval_request
from agentkit_tools_core._contract._child_calls import Caller, read_token
from agentkit_tools_core._contract._permissions import PermissionRequest
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import ApprovalDenied, ToolSuspended
from agentkit_tools_core._errors import MissingDependency

T = TypeVar("T")

_KEY_LENGTH: Final = 32


class ToolContext:
    """One call, seen from inside the tool.

    A function gets it by annotating a parameter with this class; the model is not told of that
    parameter. All of it may be used from any thread.

    A tool may stop and ask in the middle of its run (`ask`, `authorize`, `require`, `suspend`,
    or a child call that needs approval). The run ends there; once all is answered the tool is
    *run again from its start*, maybe days later and in another process, and gets past that
    place. So ask before doing what must not be done twice, or do it with `idempotency_key`.
    """

    __slots__ = (
        "_caller",
        "_cancelled",
        "_dependencies",
        "_progress",
        "_token",
        "answers",
        "approved",
        "denied",
        "request",
    )

    request: ToolInvocation
    """The call that is answered."""
    approved: frozenset[ApprovalId]
    """The approvals that were granted for this call."""
    answers: Mapping[ApprovalId, JsonValue]
    """The answers that were given to this call's questions."""
    denied: Mapping[ApprovalId, str | None]
    """What was denied to this call, with the reason if one was given."""

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
    ) -> None:
        """Made by whoever runs the call.

        Args:
            request: The call.
            progress: Takes a message and data; callable from any thread. None drops both.
            cancelled: Says whether the call is still wanted; callable from any thread. None
                means that it is never cancelled.
            dependencies: Objects of the host, by the type that tools ask for.
            approved: The approvals that were granted for this call.
            answers: What was answered to this call's questions. A question whose id is in
                `approved` alone is answered with None.
            denied: What was denied to this call, with reasons.
            token: That of the call's last suspension, as it was.
        """
        self.request = request
        self.approved = frozenset(approved)
        self.answers = dict(answers or {})
        self.denied = dict(denied or {})
        self._progress = progress
        self._cancelled = cancelled
        self._dependencies: Mapping[type[Any], object] = dependencies or {}
        self._token = token
        self._caller: Caller | None = None

    # the host

    @property
    def cancelled(self) -> bool:
        """Whether the result is no longer wanted.

        An async tool is cancelled where it waits and need not look; a sync tool that takes long
        should look now and then and return early.
        """
        return self._cancelled is not None and self._cancelled()

    def progress(self, message: str, data: JsonValue = None) -> None:
        """Tell how far the call is. The model does not see it, reporters and hosts do.

        Once the call is over nobody listens any more, and nothing happens.

        Args:
            message: For people, one line.
            data: The same for programs.
        """
        if self._progress is not None and (self._caller is None or not self._caller.over):
            self._progress(message, data)

    def get(self, kind: type[T]) -> T:
        """Find the host's object of a type: a database, a client, a user.

        Args:
            kind: The very type under which the host registered it; no subclass is tried.

        Raises:
            MissingDependency: The host registered nothing under that type.
        """
        try:
            found: Any = self._dependencies[kind]
        except KeyError:
            raise MissingDependency(kind, tool=self.request.name) from None
        return found  # type: ignore[no-any-return]

    @property
    def idempotency_key(self) -> str:
        """32 hexadecimal digits, the same for every run of this very call, in any process.

        For services that take such keys. Made of the session's id and the call's id.
        """
        named = canonical_json([self.request.session_id, self.request.call_id])
        return sha256(named).hexdigest()[:_KEY_LENGTH]

    # asking in the middle of a run

    @property
    def token(self) -> JsonValue:
        """What the tool itself left with `suspend`; None as long as it left nothing."""
        return read_token(self._token).own

    def ask(
        self,
        question: str,
        *,
        kind: str = "question",
        schema: dict[str, JsonValue] | None = None,
        metadata: dict[str, JsonValue] | None = None,
    ) -> JsonValue:
        """Ask a person for something that the tool needs to know.

        A question is known by its kind, text and metadata: asked again in the same words it has
        the same answer.

        Args:
            question: The question, for people.
            kind: What kind of question it is, for hosts that answer some by themselves.
            schema: JSON Schema of the answer. It is shown to whoever answers, and not enforced.
            metadata: Facts for programs.

        Returns:
            The answer; None where someone said yes without one.

        Raises:
            ToolSuspended: It is not answered yet; let it pass.
            ApprovalDenied: Nobody wants to answer.
        """
        request = PermissionRequest(kind, question, metadata or {})
        return self._asked(request, ApprovalKind.QUESTION, schema=schema)

    def authorize(self, summary: str, *, metadata: dict[str, JsonValue] | None = None) -> JsonValue:
        """Ask a person to log in somewhere; see `ask`.

        Args:
            summary: Where and what for, for people.
            metadata: Facts for programs, such as the address to visit. No secrets.

        Returns:
            What was answered; None where someone only said that it is done.
        """
        return self._asked(PermissionRequest("auth", summary, metadata or {}), ApprovalKind.AUTH)

    def require(self, request: PermissionRequest, *, reason: str | None = None) -> None:
        """Go on only if this was approved for this call. No policy is asked.

        For what is known only once the tool has begun; what is known from the arguments belongs
        in `Tool.permissions`.

        Args:
            request: What would be done.
            reason: Why it has to be asked, for people.

        Raises:
            ToolSuspended: It is not approved yet; let it pass.
            ApprovalDenied: It was denied.
        """
        self._asked(request, ApprovalKind.APPROVAL, reason=reason)

    def suspend(
        self,
        requests: Sequence[ApprovalRequest],
        *,
        token: JsonValue = None,
        takes_denials: bool = False,
    ) -> NoReturn:
        """Stop here until all of these are answered; the tool is then run again from its start.

        It finds what was answered in `answers`, `approved` and `denied`, and has to look there
        before it suspends, or it does so for ever.

        Args:
            requests: What a person is asked for; at least one. Each gets this call as its `call`.
            token: Found in `context.token` on the next run: plain JSON, at most 1 MiB, which
                is stored with the session. `ask` and its like leave the token as it is.
            takes_denials: Whether the tool is run again after a denial too; otherwise a denial
                ends the call.

        Raises:
            ToolSuspended: Always.
            ValueError: Nothing is asked.
        """
        raise ToolSuspended(requests, token=token, takes_denials=takes_denials)

    def _asked(
        self,
        request: PermissionRequest,
        want: ApprovalKind,
        *,
        reason: str | None = None,
        schema: dict[str, JsonValue] | None = None,
    ) -> JsonValue:
        asked = approval_request(
            request, self.request.call, reason=reason, want=want, schema=schema
        )
        # What was denied once is denied even if an equal question was granted before.
        if asked.id in self.denied:
            raise ApprovalDenied(asked, self.denied[asked.id])
        if asked.id in self.approved:
            return self.answers.get(asked.id)
        # An answer is no permission: only a grant is.
        if asked.id in self.answers and want is not ApprovalKind.APPROVAL:
            return self.answers[asked.id]
        raise ToolSuspended([asked], token=self.token, takes_denials=True)

    # calling other tools

    async def call(self, name: str, arguments: dict[str, JsonValue] | None = None) -> ToolResult:
        """Call another tool, as a model would; from async tools.

        It is looked up, checked, shown to the hooks, permitted by the same policy, run and cut
        to size like any call, with this call's dependencies, grants and cancellation, and as
        `<this call's id>.<n>`. What is wrong with it comes as an error result, a denied
        permission too. Its time limit and its `exclusive` are not looked at; this tool's hold.

        If it has to ask somebody, this call suspends; when it is run again, calls that were
        over are answered from the record and do not run twice. So a tool has to make the same
        calls in the same order each time, or it ends as an error. Make one call after the
        other: calls made at once are numbered as they start, all that has not ended when
        one of them suspends is run again, and what several ask at the same time reaches people
        together only out of a task group.

        Usage that child results report is added to this call's result, unless that reports
        some itself (counted once: a tool that reports usage reports all of it). The children's
        `added_tools`, and their wish to end the turn, stay with the children.

        Args:
            name: The tool's name.
            arguments: Its arguments, JSON.

        Raises:
            RuntimeError: This context belongs to no executor, or its call is over.
            TypeError: The arguments are not JSON.
            ToolSuspended: The child waits for an answer; let it pass.
        """
        return await self._children().call(name, arguments)

    def call_blocking(self, name: str, arguments: dict[str, JsonValue] | None = None) -> ToolResult:
        """Call another tool from a sync one; see `call`. An async tool cannot be called so."""
        return self._children().call_blocking(name, arguments)

    def _children(self) -> Caller:
        if self._caller is None:
            raise RuntimeError(
                "this context belongs to no executor, so no tool can be called from it; "
                "run the tool with Executor.run or agentkit_tools_core.testing.call_tool"
            )
        return self._caller

    def _copied(self) -> Self:
        # `copy.copy` takes ten times as long, for every call.
        found = type(self).__new__(type(self))
        for name in ToolContext.__slots__:
            setattr(found, name, getattr(self, name))
        own: dict[str, Any] | None = getattr(self, "__dict__", None)
        if own:
            found.__dict__.update(own)
        return found

    def _of_run(self, request: ToolInvocation, caller: Caller) -> Self:
        """The same for one run."""
        found = self._copied()
        found.request = request
        found._caller = caller
        return found

    def _of_child(self, token: JsonValue) -> Self:
        """The same for a child call that is yet to be run."""
        found = self._copied()
        found._token = token
        found._caller = None
        return found
