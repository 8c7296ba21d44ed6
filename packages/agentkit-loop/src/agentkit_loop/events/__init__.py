"""agentkit_loop.events: what a run reports. Reporters and hosts read these, in order.

Every turn has one `TurnStarted` and one `TurnFinished`, every attempt at a model call one
`ModelCallStarted` and one `ModelCallFinished`, and every tool call one `ToolCallRequested` and one
`ToolResultReceived`, also if it fails or is cancelled. An item is in the transcript before its
event is reported.

    run_started  run_suspended  run_finished
    input_queued  input_rejected  input_withdrawn  settings_changed
    turn_started  turn_finished
    items_appended  mutation_started  mutation_finished  transcript_rewritten
    tool_catalog_changed
    model_call_started  content_delta*  model_call_finished
        attempt_superseded  retry_scheduled
    tool_call_requested  tool_execution_started  tool_progress*  tool_result_received
        tool_detached
    approval_required  approval_resolved
    diagnostic

A call that goes on in the background is reported as `tool_detached`. Its `tool_result_received`
comes when it ends, in whatever turn that is.
"""

from agentkit_loop.events._envelope import Envelope, Event
from agentkit_loop.events._model_calls import (
    AttemptSuperseded,
    ContentDelta,
    ModelCallFinished,
    ModelCallStarted,
    RetryScheduled,
    ToolCatalogChanged,
)
from agentkit_loop.events._sessions import (
    Diagnostic,
    InputQueued,
    InputRejected,
    InputWithdrawn,
    ItemsAppended,
    MutationFinished,
    MutationOutcome,
    MutationPoint,
    MutationStarted,
    RunFinished,
    RunStarted,
    RunSuspended,
    SettingsChanged,
    TranscriptRewritten,
    TurnFinished,
    TurnStarted,
)
from agentkit_loop.events._tool_calls import (
    ApprovalOutcome,
    ApprovalRequired,
    ApprovalResolved,
    ToolCallRequested,
    ToolDetached,
    ToolExecutionStarted,
    ToolProgress,
    ToolResultReceived,
)

__all__ = [
    "ApprovalOutcome",
    "ApprovalRequired",
    "ApprovalResolved",
    "AttemptSuperseded",
    "ContentDelta",
    "Diagnostic",
    "Envelope",
    "Event",
    "InputQueued",
    "InputRejected",
    "InputWithdrawn",
    "ItemsAppended",
    "ModelCallFinished",
    "ModelCallStarted",
    "MutationFinished",
    "MutationOutcome",
    "MutationPoint",
    "MutationStarted",
    "RetryScheduled",
    "RunFinished",
    "RunStarted",
    "RunSuspended",
    "SettingsChanged",
    "ToolCallRequested",
    "ToolCatalogChanged",
    "ToolDetached",
    "ToolExecutionStarted",
    "ToolProgress",
    "ToolResultReceived",
    "TranscriptRewritten",
    "TurnFinished",
    "TurnStarted",
]
