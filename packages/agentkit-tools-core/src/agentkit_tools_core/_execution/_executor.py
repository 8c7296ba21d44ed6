"""The executor: it checks tool calls, runs them and makes their results.

    preflight   find the tool, convert the arguments, call the hooks, evaluate every permission
    run         run the tool, convert its output, call the hooks, apply the output limits

Everything that judges, shows or records a call sees the arguments as the tool gets them: converted,
with defaults. A second conversion changes nothing any more.

A call always ends with a result, or waits for an answer. Anything wrong with it becomes an error
result that the model can act on. Only exceptions that end more than this call are not caught.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from functools import partial
from typing import Final

from msgspec.structs import replace

from agentkit_core import (
    ApprovalId,
    ApprovalRequest,
    ToolAnnotations,
    ToolCallId,
    ToolResult,
    ToolSpec,
)
from agentkit_tools_core._contract._child_calls import CheckedCall, ChildCall
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._outcome import ToolOutcome
from agentkit_tools_core._contract._permissions import Policy, default_policy
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._revision import CheckedTools
from agentkit_tools_core._contract._suspension import Suspension
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._execution._error_results import (
    failed_result,
    not_found_result,
    replaced_outcome,
    too_deep_outcome,
)
from agentkit_tools_core._execution._hooks import Block, Hooks, ToolFacts, ToolHook
from agentkit_tools_core._execution._offers import Offers
from agentkit_tools_core._execution._preflight import (
    Allowed,
    NeedsApproval,
    Refused,
    Verdict,
    bound_call,
    check_permissions,
    denied_by_person,
    denied_result,
    is_unjudged,
)
from agentkit_tools_core._execution._run import Run, ToThread
from agentkit_tools_core._outputs._limits import OutputLimits
from agentkit_tools_core._sources._registry import source_of
from agentkit_tools_core._sources._source import ToolSource, hidden_specs
from agentkit_tools_core.sync import run_at_once

MAX_DEPTH: Final = 16
"""How deeply tools may call each other."""
_BLOCKED: Final = "Tool execution was blocked"


class Executor:
    """Runs the calls of a set of tools, under a policy.

    Any number of calls may run at the same time, also in another process than they were checked in.
    """

    __slots__ = ("__weakref__", "_checked", "_hooks", "_offers", "output_limits", "policy",
                 "source")  # fmt: skip

    def __init__(
        self,
        tools: Iterable[Tool] | ToolSource = (),
        *,
        policy: Policy | None = None,
        max_output_bytes: int | None = 150_000,
        output_limits: OutputLimits | None = None,
        hooks: Sequence[ToolHook] = (),
    ) -> None:
        """Make an executor.

        Args:
            tools: The tools, or a source of tools such as a registry, which may change later.
            policy: Decides the permission requests of calls; `default_policy` does if it does not.
            max_output_bytes: How many bytes of an output the model gets; None means no limit.
            output_limits: Limits by tool, and what happens to longer outputs; replaces
                `max_output_bytes`.
            hooks: Hooks that are called before and after each call, both times in this order.

        Raises:
            TypeError: One of the tools is not a tool, for example a function without `@tool`, or
                one of the hooks is not a hook.
            InvalidToolName: The name of a tool is not a valid tool name.
            DuplicateTool: Two tools have the same name.
        """
        self.source = source_of(tools)
        self.policy: Policy = default_policy if policy is None else policy
        self.output_limits = output_limits or OutputLimits(default_bytes=max_output_bytes)
        self._hooks = Hooks(tuple(hooks))
        self._checked = CheckedTools()
        self._offers = Offers()

    def with_tools(self, tools: Iterable[Tool] | ToolSource) -> Executor:
        """Return an executor with other tools and the same policy, limits and hooks.

        Raises:
            TypeError: One of the tools is not a tool.
            InvalidToolName: The name of a tool is not a valid tool name.
            DuplicateTool: Two tools have the same name.
        """
        other = copy(self)
        other.source = source_of(tools)
        other._offers = Offers()
        return other

    @property
    def has_hooks(self) -> bool:
        """Whether there are hooks, so that `preflight_async` may be needed."""
        return bool(self._hooks)

    def specs(self, added: Collection[str] = ()) -> tuple[ToolSpec, ...]:
        """Return the descriptions for the model.

        Args:
            added: Names of hidden tools that results have added; other names are ignored.

        Returns:
            The visible tools in the order of the source, then the added ones: in the order of
            `added` if that is a sequence (so that providers' caches stay valid when more tools are
            added), otherwise in the order of the source. For equal tuples of names this is the same
            object until something changes.
        """
        visible = self.source.specs()
        hidden = hidden_specs(self.source) if added else ()
        return self._offers.combine(visible, hidden, added) if added else visible

    def annotations(self, name: str) -> ToolAnnotations | None:
        """Return the annotations of a tool; None if there is no tool of that name."""
        tool = self.source.get(name)
        return None if tool is None else tool.spec.annotations

    def is_quick(self, name: str) -> bool:
        """Whether calls of a tool never wait, and run on the thread of the caller."""
        tool = self.source.get(name)
        return tool is not None and tool.inline and not tool.is_async and not self._hooks

    def preflight(
        self, request: ToolInvocation, *, granted: Collection[ApprovalId] = ()
    ) -> Verdict:
        """Check whether a call may run, without running it.

        All permission requests are evaluated before a person is asked, so that nobody is asked
        about a call that is denied anyway, and all questions come together.

        Args:
            request: The call.
            granted: The ids of the approvals that were granted for it.

        Raises:
            NeedsEventLoop: A hook is async; use `preflight_async`.
        """
        return run_at_once(self._preflight(request, granted, in_loop=False))

    async def preflight_async(
        self, request: ToolInvocation, *, granted: Collection[ApprovalId] = ()
    ) -> Verdict:
        """Check whether a call may run; see `preflight`. Hooks may be asynchronous."""
        return await self._preflight(request, granted, in_loop=True)

    def revision(self, name: str) -> str | None:
        """Return a digest of a tool as it is now, for `run`; None if there is no such tool.

        Read it before `preflight`: a tool that is replaced meanwhile does not run.
        """
        try:
            tool = self.source.get(name)
            return None if tool is None else self._checked.revision_of(tool)
        except Exception:
            return None

    async def run(
        self,
        request: ToolInvocation,
        context: ToolContext,
        *,
        to_thread: ToThread,
        revision: str | None = None,
    ) -> ToolOutcome | Suspension:
        """Run a call on an event loop. Permissions are not checked again.

        Args:
            request: The call, with the arguments that `preflight` returned if they were converted
                or changed by hooks.
            context: The context of the call.
            to_thread: Runs a sync tool in a worker thread.
            revision: What `revision` said when the call was checked. If the tool is another one
                now, the call does not run and has an error result. None runs any tool.

        Returns:
            The outcome, which may be an error, or a suspension if the call waits for a person.
        """
        return await self._run(request, context, to_thread, revision)

    def run_blocking(
        self, request: ToolInvocation, context: ToolContext, *, revision: str | None = None
    ) -> ToolOutcome | Suspension:
        """Run a call without an event loop; see `run`.

        Raises:
            NeedsEventLoop: The tool, a tool that it calls, or a hook is async.
        """
        return run_at_once(self._run(request, context, None, revision))

    async def _preflight(
        self,
        request: ToolInvocation,
        granted: Collection[ApprovalId],
        *,
        in_loop: bool,
        parent: ToolCallId | None = None,
    ) -> Verdict:
        tool = self._find(request)
        if isinstance(tool, ToolResult):
            return Refused(tool)
        try:
            call = bound_call(tool, request)
            if self._hooks:
                facts = ToolFacts(tool.spec, parent)
                rebind = partial(bound_call, tool)
                outcome = await self._hooks.before(call, facts, rebind, in_loop=in_loop)
                if isinstance(outcome, Block):
                    return Refused(denied_result(call, outcome.reason or _BLOCKED), outcome.stop)
                call = outcome
            verdict = check_permissions(self.policy, tool, call, granted)
        except Exception as error:
            # What nobody judges may run all the same; the tool converts the arguments itself.
            if not self._hooks and is_unjudged(tool, request, error):
                return _ALLOWED
            facts = ToolFacts(tool.spec, parent)
            failed = await self._hooks.after_failed_check(request, error, facts, in_loop=in_loop)
            return Refused(failed.result, failed.stop)
        new_input = None if call.input is request.input else call.input
        if isinstance(verdict, NeedsApproval):
            return replace(verdict, input=new_input)
        return verdict or (_ALLOWED if new_input is None else Allowed(new_input))

    async def _run(
        self,
        request: ToolInvocation,
        context: ToolContext,
        to_thread: ToThread | None,
        revision: str | None,
        *,
        depth: int = 0,
        parent: ToolCallId | None = None,
    ) -> ToolOutcome | Suspension:
        tool = self._find(request)
        if isinstance(tool, ToolResult):
            return ToolOutcome(tool)
        if revision is not None and self._checked.revision_of(tool) != revision:
            return replaced_outcome(request)

        async def call(
            child: ToolInvocation,
            known: ChildCall,
            to_thread: ToThread | None,
            note_check: Callable[[CheckedCall], None],
        ) -> ToolOutcome | Suspension:
            if self._checked.is_replaced(child, self._find, is_new=known.checked is None):
                return replaced_outcome(child)
            outcome = await self._check_child(
                child, known, context, to_thread, depth + 1, request.call_id
            )
            if isinstance(outcome, ToolOutcome):
                return outcome
            checked, requests = outcome
            note_check(checked)
            if requests:
                return Suspension(requests, known.token, takes_denials=True)
            if checked.input is not None:
                child = replace(child, input=checked.input)
            result = await self._run(
                child, context._for_child(known.token), to_thread, checked.revision,
                depth=depth + 1, parent=request.call_id,
            )  # fmt: skip
            if isinstance(result, ToolOutcome):
                self._checked.forget(child)
            return result

        facts, in_loop = ToolFacts(tool.spec, parent), to_thread is not None
        run = Run(tool, request, context, to_thread, call)
        outcome = await self._hooks.around(request, facts, run.run)
        if isinstance(outcome, Suspension):
            return outcome
        if self._hooks or run.error is not None:
            facts = replace(facts, error=run.error)
            outcome = await self._hooks.after_run(request, outcome, facts, in_loop=in_loop)
        return self.output_limits.apply(outcome, tool.spec, request)

    async def _check_child(
        self,
        request: ToolInvocation,
        known: ChildCall,
        context: ToolContext,
        to_thread: ToThread | None,
        depth: int,
        parent: ToolCallId,
    ) -> ToolOutcome | tuple[CheckedCall, tuple[ApprovalRequest, ...]]:
        """Check a child call, unless it was checked and all of its approvals were given.

        Returns:
            The outcome if it must not run; otherwise the check, and what a person has to approve.
        """
        if depth > MAX_DEPTH:
            return too_deep_outcome(request, MAX_DEPTH)
        checked = known.checked
        for approval_id in (*known.asked, *(() if checked is None else checked.asked)):
            if approval_id in context.denied:
                return denied_by_person(request, context.denied[approval_id])
        if checked is not None and context.approved.issuperset(checked.asked):
            return checked, ()
        revision = self.revision(request.name)
        verdict = await self._preflight(
            request, context.approved, in_loop=to_thread is not None, parent=parent
        )
        if isinstance(verdict, Refused):
            return ToolOutcome(verdict.result)
        requests = verdict.requests if isinstance(verdict, NeedsApproval) else ()
        for approval in requests:
            if approval.id in context.denied:
                return denied_by_person(request, context.denied[approval.id])
        asked = tuple(approval.id for approval in requests)
        return CheckedCall(verdict.input, asked, revision), requests

    def _find(self, request: ToolInvocation) -> Tool | ToolResult:
        """Find the tool; return an error result if there is none, or if the source fails."""
        try:
            return self.source.get(request.name) or not_found_result(request, self.source.specs())
        except Exception as error:
            self._hooks.report(error, f"the source of {request.name!r}")
            return failed_result(request, error, started=False)


_ALLOWED: Final = Allowed()
