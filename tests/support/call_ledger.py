"""What became of each tool call: requested, asked about, started, detached, answered."""

from collections import Counter

from agentkit_core import ApprovalId, ToolCallId
from agentkit_loop import GrantScope, LostTool
from agentkit_loop.events import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    Event,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolResultReceived,
)
from agentkit_loop.kernel import (
    CallStatus,
    EffectLost,
    Preflight,
    Resolve,
    StartTool,
    State,
)
from agentkit_loop.testing import WalkStep
from support.state_laws import calls_of, takes_denials


class CallLedger:
    """Checks that a call starts once and has one result, and that no denied call starts."""

    def __init__(self) -> None:
        self.requested = Counter[ToolCallId]()
        self.results = Counter[ToolCallId]()
        self._started = set[ToolCallId]()
        self._detached = set[ToolCallId]()
        self._denied = set[ToolCallId]()
        self._asked = set[tuple[ToolCallId, ApprovalId]]()

    def see_event(self, event: Event, walked: WalkStep) -> None:
        match event:
            case ToolCallRequested(call=call):
                self.requested[call.id] += 1
                assert self.requested[call.id] == 1, "an id names one call for ever"
            case ToolExecutionStarted(call_id=call_id):
                assert call_id not in self._started, "a call is started once"
                assert self.results[call_id] == 0
                self._started.add(call_id)
            case ToolDetached(call_id=call_id):
                assert call_id in self._started
                assert call_id not in self._detached
                self._detached.add(call_id)
            case ToolResultReceived(call_id=call_id, result=result, background=background):
                assert background == (call_id in self._detached)
                self.results[call_id] += 1
                assert self.results[call_id] == self.requested[call_id] == 1, "I-3"
                if not result.started:
                    assert call_id not in self._started, "a started call does not deny it"
            case ApprovalRequired(request=request):
                assert (request.call.id, request.id) not in self._asked
                self._asked.add((request.call.id, request.id))
            case ApprovalResolved():
                self._see_resolved(event, walked)
            case _:
                pass

    def _see_resolved(self, event: ApprovalResolved, walked: WalkStep) -> None:
        self._asked.remove((event.call_id, event.approval_id))
        is_denied = event.outcome is ApprovalOutcome.DENIED
        if is_denied and not takes_denials(walked.before, event.call_id):
            self._denied.add(event.call_id)
        if event.outcome is ApprovalOutcome.APPROVED:
            assert approves(walked, event), "nobody approved this"

    def see_preflight(self, effect: Preflight, walked: WalkStep) -> None:
        assert effect.call.id not in self._started, "a call that has run is not checked again"
        given = walked.input
        if isinstance(given, Resolve) and given.decision.input is not None:
            granted = {given.approval_id, *walked.after.grants}
            assert {*effect.granted} <= granted, "no approval of other arguments counts"

    def see_start(self, effect: StartTool, walked: WalkStep) -> None:
        call_id, state = effect.call.id, walked.after
        asking = {asking_id for asking_id, _ in self._asked}
        assert call_id not in asking, "I-4: a call that waits for an approval does not run"
        assert call_id not in self._denied, "I-4: a denied call never starts"
        assert self.results[call_id] == 0, "a call that has its result is not run"
        is_lost = isinstance(walked.input, EffectLost)
        for call in calls_of(state):
            if call.id == call_id:
                break
            is_held = call.status is CallStatus.READY and call.rules.exclusive
            # A call that was lost and begins again keeps its place.
            assert is_lost or not is_held, "no call overtakes one that waits to run alone"
        else:
            raise AssertionError("a call that runs belongs to the round or to the background")
        if lost_start(walked) == call_id:
            assert call.rules.repeatable, "a call that had begun does not begin again"
            assert state.config.lost_tool is not LostTool.NEVER_REPEAT

    def check(self, state: State) -> None:
        asked = {(request.call.id, request.id) for request in state.pending_approvals}
        assert asked == self._asked, "I-4"


def lost_start(walked: WalkStep) -> ToolCallId | None:
    """The call that had begun to run and was lost in this step, if any."""
    if walked.before is None or not isinstance(walked.input, EffectLost):
        return None
    effect = walked.before.out.get(walked.input.effect_id)
    return effect.call.id if isinstance(effect, StartTool) and effect.started else None


def approves(walked: WalkStep, event: ApprovalResolved) -> bool:
    """Whether the input of a step approves what this event says was approved."""
    given = walked.input
    if not isinstance(given, Resolve) or not given.decision.approve:
        return False
    is_wide = given.decision.input is None
    if given.decision.scope is GrantScope.KIND and is_wide and walked.before is not None:
        pending = walked.before.pending_approvals
        decided = [request for request in pending if request.id == given.approval_id]
        return any(
            (request.call.id, request.id) == (event.call_id, event.approval_id)
            and any(
                (request.call.name, request.kind) == (other.call.name, other.kind)
                for other in decided
            )
            for request in pending
        )
    if given.approval_id != event.approval_id:
        return False
    # Without a call id, the first call that asks is meant; other tests check which one it is.
    is_named = given.call_id in (None, event.call_id)
    return is_named or (given.decision.scope is GrantScope.SESSION and is_wide)
