"""agentkit_loop.kernel: the loop as a pure step function, for drivers of your own.

`start` gives the first state. `step(state, input, now)` takes one input and gives the next state
and the effects to carry out. No clock, no randomness, no I/O. An `Agent` and its sessions drive it
for you.
"""

from agentkit_loop.kernel._call_state import CallState, CallStatus
from agentkit_loop.kernel._effects import (
    Abort,
    AnsweredEffect,
    CallModel,
    CheckFinish,
    Effect,
    EffectId,
    Emit,
    Persist,
    Preflight,
    Prepare,
    RunMutators,
    StartTimer,
    StartTool,
    TimerKind,
    Yield,
)
from agentkit_loop.kernel._inputs import (
    Answer,
    Cancel,
    CancelCall,
    Close,
    Configure,
    Continue,
    EffectLost,
    FinishChecked,
    HostInput,
    Input,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepared,
    Reset,
    Resolve,
    Submit,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolsOffered,
    ToolSpent,
    ToolStarted,
    Unqueue,
)
from agentkit_loop.kernel._model_request import model_request
from agentkit_loop.kernel._state import HookPoints, ParentCall, State, TurnState
from agentkit_loop.kernel._step import fork, resume, start, step
from agentkit_loop.kernel._table import EDGES, Phase
from agentkit_loop.kernel._table_errors import IllegalTransition
from agentkit_loop.kernel._tool_run import Resumption, RunRules

__all__ = [
    # the function and its table
    "EDGES",
    "IllegalTransition",
    "Phase",
    "fork",
    "model_request",
    "resume",
    "start",
    "step",
    # the state
    "CallState",
    "CallStatus",
    "HookPoints",
    "ParentCall",
    "Resumption",
    "RunRules",
    "State",
    "TurnState",
    # inputs from the host
    "Cancel",
    "CancelCall",
    "Close",
    "Configure",
    "Continue",
    "HostInput",
    "Input",
    "Reset",
    "Resolve",
    "Submit",
    "ToolsOffered",
    "Unqueue",
    # inputs that answer an effect
    "Answer",
    "EffectLost",
    "FinishChecked",
    "ModelFailed",
    "ModelResponded",
    "MutatorsDone",
    "PreflightAllowed",
    "PreflightAsked",
    "PreflightRefused",
    "Prepared",
    "TimerFired",
    "ToolAsked",
    "ToolDone",
    "ToolProgressed",
    "ToolSpent",
    "ToolStarted",
    # effects that an input answers
    "AnsweredEffect",
    "CallModel",
    "CheckFinish",
    "Effect",
    "EffectId",
    "Preflight",
    "Prepare",
    "RunMutators",
    "StartTimer",
    "StartTool",
    "TimerKind",
    # effects without an answer
    "Abort",
    "Emit",
    "Persist",
    "Yield",
]
