"""Inputs: everything that can happen to a session.

    from the host            from the driver, with the id of the effect that they answer
    Submit     Unqueue       MutatorsDone
    Continue   Configure     Prepared
    Resolve    Reset         ModelResponded    ModelFailed
    Cancel     CancelCall    PreflightAllowed  PreflightRefused  PreflightAsked
    Close                    ToolStarted  ToolProgressed  ToolSpent  ToolAsked  ToolDone
                             TimerFired
    from the driver          FinishChecked
    ToolsOffered             EffectLost, which answers any effect

Every input is allowed in every phase. One that does not apply changes nothing.
"""

from __future__ import annotations

from agentkit_loop.kernel._answers import (
    Answer,
    EffectLost,
    FinishChecked,
    ModelFailed,
    ModelResponded,
    MutatorsDone,
    PreflightAllowed,
    PreflightAsked,
    PreflightRefused,
    Prepared,
    TimerFired,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolSpent,
    ToolStarted,
)
from agentkit_loop.kernel._host_inputs import (
    Cancel,
    CancelCall,
    Close,
    Configure,
    Continue,
    HostInput,
    Lane,
    Reset,
    Resolve,
    Submit,
    ToolsOffered,
    Unqueue,
)

__all__ = [
    "Answer",
    "Cancel",
    "CancelCall",
    "Close",
    "Configure",
    "Continue",
    "EffectLost",
    "FinishChecked",
    "HostInput",
    "Input",
    "Lane",
    "ModelFailed",
    "ModelResponded",
    "MutatorsDone",
    "PreflightAllowed",
    "PreflightAsked",
    "PreflightRefused",
    "Prepared",
    "Reset",
    "Resolve",
    "Submit",
    "TimerFired",
    "ToolAsked",
    "ToolDone",
    "ToolProgressed",
    "ToolSpent",
    "ToolStarted",
    "ToolsOffered",
    "Unqueue",
]

Input = HostInput | ToolsOffered | Answer
"""Anything that can happen to a session."""
