"""The executor: what happens to a call between the model and the tool.

    preflight   look up, check the arguments, ask the hooks, look at every permission
    run         check again, call, bring into form, show the hooks, cut to size

A call always ends as a result, or waits for an answer. Whatever is wrong with the call or in
the tool becomes an error result that the model can act on; only what is meant to end more than
this call (cancelling, an interrupt from the keyboard) passes through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, cast

from msgspec.structs import replace

from agentkit_core import ApprovalId, ToolAnnotations, ToolCallId, ToolFailure, ToolResult, ToolSpec
from agentkit_core.json import without_lone_surrogates
from agentkit_tools_core._contract._child_calls import ChildCall
from agentkit_tools_core._contract._context import ToolContext
from agentkit_tools_core._contract._outcome import ToolOutcome, error_result
from agentkit_tools_core._contract._permissions import Policy, default_policy
from agentkit_tools_core._contract._request import ToolInvocation
from agentkit_tools_core._contract._suspension import Suspension
from agentkit_tools_core._contract._tool import Tool
from agentkit_tools_core._execution._error_results import failed_result
from agentkit_tools_core._execution._hooks import Block, Hooks, ToolFacts, ToolHook
from agentkit_tools_core._execution._preflight import (
    Allowed,
    NeedsApproval,
    Refused,
    Verdict,
    denied_result,
    permitted,
)
from agentkit_tools_core._execution._run import Run, ToThread
from agentkit_tools_core._outputs._limits import OutputLimits
from agentkit_tools_core._sources._registry import ToolRegistry
from agentkit_tools_core._sources._wrappers import ToolSource, hidden_specs
from agentkit_tools_core.sync import run_at_once

MAX_DEPTH: Final = 16
"""How deep tools may call each other."""
_MAX_NAMES: Final = 50
_BLOCKED: Final = "Tool execution was blocked"


class Executor:
    """Runs the calls of a set of tools under a policy.

    It keeps no state of calls: any number may be under way at once, and a call may be looked at
    in one process and run in another.
    """

    def __init__(
        self,
        tools: Iterable[Tool] | ToolSource = (),
        *,
        policy: Policy | None = None,
        max_output_bytes: int | None = 150_000,
        output_limits: OutputLimits | None = None,
        hooks: Sequence[ToolHook] = (),
    ) -> None:
        """Assemble it.

        Args:
            tools: The tools; of a source, such as a registry, later changes are seen.
            policy: Decides the permission requests of calls, and sees no call that has none;
                where it is None or has no opinion, `default_policy` decides.
            max_output_bytes: How much of an output a model may get to read; None is all.
            output_limits: The same by tool, and what becomes of the rest; in place of
                `max_output_bytes`.
            hooks: What is done before and after calls, in this order both times.

        Raises:
            TypeError: One is no tool, such as a function without `@tool`, or no hook.
            InvalidToolName: A tool's name is not one that every provider takes.
            DuplicateTool: Two tools have one name.
        """
        self.source = _source_of(tools)
        self.policy: Policy = default_policy if policy is None else policy
        self.output_limits = output_limits or OutputLimits(default_bytes=max_output_bytes)
        self._given_hooks = tuple(hooks)
        self._hooks = Hooks(self._given_hooks)

    def with_tools(self, tools: Iterable[Tool] | ToolSource) -> Executor:
        """Make one that runs other tools in the same way.

        Raises:
            TypeError: One is no tool.
            InvalidToolName: A tool's name is not one that every provider takes.
            DuplicateTool: Two tools have one name.
        """
        return Executor(
            tools, policy=self.policy, output_limits=self.output_limits, hooks=self._given_hooks
        )

    @property
    def has_hooks(self) -> bool:
        """Whether a hook looks at calls, so that `preflight_async` may be needed."""
        return bool(self._hooks)

    def specs(self, added: Collection[str] = ()) -> tuple[ToolSpec, ...]:
        """What a model is told.

        Args:
            added: Names of tools that are not told at first and that results have added since;
                names of no such tool are passed over.

        Returns:
            The advertised tools in the source's order; then those of `added`, in the order of
            a sequence (which keeps what a provider cached when more is added), else in the
            source's.
        """
        told = self.source.specs()
        if not added:
            return told
        hidden = {spec.name: spec for spec in hidden_specs(self.source)}
        for spec in told:
            hidden.pop(spec.name, None)
        names = dict.fromkeys(added) if isinstance(added, Sequence) else hidden
        found = [hidden[name] for name in names if name in hidden and name in added]
        return (*told, *found)

    def annotations(self, name: str) -> ToolAnnotations | None:
        """What a tool says of itself; None if there is no tool of that name."""
        tool = self.source.get(name)
        return None if tool is None else tool.spec.annotations

    def is_quick(self, name: str) -> bool:
        """Whether a call of a tool never waits, and runs on the thread of whoever runs it."""
        tool = self.source.get(name)
        return tool is not None and tool.inline and not tool.is_async and not self._hooks

    def preflight(
        self, request: ToolInvocation, *, granted: Collection[ApprovalId] = ()
    ) -> Verdict:
        """Say whether a call may run, and if not, why. Runs no tool and never fails.

        All permission requests are looked at before anybody is asked, so that a call which is
        denied anyway bothers no one, and all that has to be asked is asked at once. A hook that
        is asynchronous makes it refuse the call.

        Args:
            request: The call.
            granted: The approvals given for it so far.
        """
        return run_at_once(self._preflight(request, granted, in_loop=False))

    async def preflight_async(
        self, request: ToolInvocation, *, granted: Collection[ApprovalId] = ()
    ) -> Verdict:
        """Do the same, and wait for hooks that are asynchronous."""
        return await self._preflight(request, granted, in_loop=True)

    async def run(
        self, request: ToolInvocation, context: ToolContext, *, to_thread: ToThread
    ) -> ToolOutcome | Suspension:
        """Run a call beside an event loop. Permissions are not looked at again.

        Args:
            request: The call; its arguments may have been changed since `preflight`.
            context: What the tool sees of its surroundings.
            to_thread: How to run a sync tool so that others go on meanwhile.

        Returns:
            What came of it, for tools that fail as well, or what it waits for.
        """
        return await self._run(request, context, to_thread)

    def run_blocking(
        self, request: ToolInvocation, context: ToolContext
    ) -> ToolOutcome | Suspension:
        """Run a call here and now, without an event loop; see `run`.

        An async tool cannot be run so, and its result is an error that says this.
        """
        return run_at_once(self._run(request, context, None))

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
            tool.bind(request.input)
            if not self._hooks:
                return permitted(self.policy, tool, request, granted) or _ALLOWED
            facts = ToolFacts(tool.spec, parent)
            found = await self._hooks.before(request, facts, in_loop=in_loop)
            if isinstance(found, Block):
                return Refused(denied_result(request, found.reason or _BLOCKED), found.stop)
            if found is request:
                return permitted(self.policy, tool, request, granted) or _ALLOWED
            tool.bind(found.input)
            verdict = permitted(self.policy, tool, found, granted)
            if isinstance(verdict, NeedsApproval):
                return replace(verdict, input=found.input)
            return verdict or Allowed(found.input)
        except Exception as error:
            return Refused(failed_result(request, error, started=False))

    async def _run(
        self,
        request: ToolInvocation,
        context: ToolContext,
        to_thread: ToThread | None,
        *,
        depth: int = 0,
        parent: ToolCallId | None = None,
    ) -> ToolOutcome | Suspension:
        tool = self._find(request)
        if isinstance(tool, ToolResult):
            return ToolOutcome(tool)

        async def call(
            child: ToolInvocation, known: ChildCall, to_thread: ToThread | None
        ) -> ToolOutcome | Suspension:
            return await self._call(child, known, context, to_thread, depth + 1, request.call_id)

        found = await Run(tool, request, context, to_thread, call).end()
        if isinstance(found, Suspension):
            return found
        if self._hooks and found.result.started:
            facts = ToolFacts(tool.spec, parent)
            in_loop = to_thread is not None
            found = await self._hooks.after(request, found, facts, in_loop=in_loop)
        return self.output_limits.apply(found, tool.spec, request)

    async def _call(
        self,
        request: ToolInvocation,
        known: ChildCall,
        context: ToolContext,
        to_thread: ToThread | None,
        depth: int,
        parent: ToolCallId,
    ) -> ToolOutcome | Suspension:
        """Make a child call, from looking it up to its end."""
        if depth > MAX_DEPTH:
            text = f"{request.name!r} was not run: tools call each other more than {MAX_DEPTH} deep"
            failure = ToolFailure.EXECUTION_FAILED
            return ToolOutcome(error_result(request.call_id, text, failure))
        for one in known.asked:
            if one in context.denied:
                return _denied_by_person(request, context.denied[one])
        verdict = await self._preflight(
            request, context.approved, in_loop=to_thread is not None, parent=parent
        )
        match verdict:
            case Refused(result=result):
                return ToolOutcome(result)
            case NeedsApproval(requests=requests):
                for asked in requests:
                    if asked.id in context.denied:
                        return _denied_by_person(request, context.denied[asked.id])
                return Suspension(requests, known.token, takes_denials=True)
            case Allowed(input=changed):
                if changed is not None:
                    request = replace(request, input=changed)
        inner = context._of_child(known.token)
        return await self._run(request, inner, to_thread, depth=depth, parent=parent)

    def _find(self, request: ToolInvocation) -> Tool | ToolResult:
        """Find the tool; a result that says why where there is none, or the source fails."""
        try:
            return self.source.get(request.name) or self._not_found(request)
        except Exception as error:
            return failed_result(request, error, started=False)

    def _not_found(self, request: ToolInvocation) -> ToolResult:
        told = [spec.name for spec in self.source.specs()]
        names = ", ".join(told[:_MAX_NAMES])
        if len(told) > _MAX_NAMES:
            names += f" and {len(told) - _MAX_NAMES} more"
        there = f"The available tools are: {names}." if names else "There are no tools."
        text = f"There is no tool named {request.name!r}. {there}"
        return error_result(request.call_id, without_lone_surrogates(text), ToolFailure.NOT_FOUND)


_ALLOWED: Final = Allowed()


def _source_of(tools: Iterable[Tool] | ToolSource) -> ToolSource:
    if callable(getattr(tools, "specs", None)):
        return cast("ToolSource", tools)
    return ToolRegistry(cast("Iterable[Tool]", tools))


def _denied_by_person(request: ToolInvocation, reason: str | None) -> ToolOutcome:
    text = f"Permission denied: {reason}" if reason else "Permission denied."
    return ToolOutcome(denied_result(request, text))
