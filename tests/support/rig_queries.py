"""Questions that many tests ask a rig, and rigs with a call in the background."""

from agentkit_core import ToolFailure
from agentkit_loop import LoopConfig
from agentkit_loop.events import ApprovalResolved
from agentkit_loop.kernel import HookPoints, StartTool, Yield
from support.rig import Rig


def yields(rig: Rig) -> list[object]:
    """The statuses that the host was handed."""
    return [effect.status for effect in rig.effects if isinstance(effect, Yield)]


def runs(rig: Rig, call_id: str) -> int:
    """How often the kernel asked for a call to be run."""
    starts = (effect for effect in rig.effects if isinstance(effect, StartTool))
    return sum(start.call.id == call_id for start in starts)


def running(rig: Rig) -> list[str]:
    """The ids of the calls that run, in the order in which they began."""
    starts = (effect for effect in rig.state.out.values() if isinstance(effect, StartTool))
    return [str(start.call.id) for start in starts]


def resolutions(rig: Rig) -> list[tuple[str, str]]:
    """Call id and outcome of each approval that was resolved."""
    events = (event for event in rig.events if isinstance(event, ApprovalResolved))
    return [(event.call_id, event.outcome.value) for event in events]


def failure_of(rig: Rig, call_id: str) -> tuple[ToolFailure | None, bool]:
    """Why a call failed, None if it did not, and whether it had started."""
    result = rig.result_of(call_id)
    return result.failure, result.started


def in_background(
    call_id: str = "a", config: LoopConfig | None = None, hooks: HookPoints | None = None
) -> Rig:
    """A rig in a turn: its call went to the background and the model is asked again."""
    return Rig(config, hooks=hooks).ask().answer(call_id).allow(call_id, detach_after_s=0)


def idle_beside_background(call_id: str = "a", config: LoopConfig | None = None) -> Rig:
    """A rig whose turn is over while its call goes on in the background."""
    return in_background(call_id, config).answer()
