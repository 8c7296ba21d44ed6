"""The contract of a model provider: what to implement, and what implementations need.

Write a `Projection`: it encodes a `ModelRequest` as a `WireRequest`, and makes a
`ResponseDecoder` that reads the response into model events and deltas. Describe what the model
accepts as a `Target`; `sendable` makes any history valid for it. The checks of
`agentkit_core.testing` verify an implementation.
"""

from agentkit_core._errors import (
    DeltaOutOfOrder,
    NormalizeError,
    ProjectionError,
    ProtocolError,
)
from agentkit_core._finish import native_reasons, with_native_reasons
from agentkit_core._history._incremental import SendableHistory
from agentkit_core._history._sendable import sendable
from agentkit_core._history._target import IdRule, ReasoningRule, Target, ToolMedia
from agentkit_core._ids import PartId
from agentkit_core._projection import (
    IncrementalProjection,
    Projection,
    RequestEncoder,
    ResponseDecoder,
    WireRequest,
)
from agentkit_core._request_changes import RequestChange, request_changes
from agentkit_core._retry import wait_before_retry_s
from agentkit_core._streaming._call_arguments import complete_call
from agentkit_core._streaming._delta import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    ReplaceStructured,
    SetMetadata,
)
from agentkit_core._streaming._fold import Fold, fold
from agentkit_core._streaming._partial_json import PartialJson
from agentkit_core._streaming._response import (
    ModelEvent,
    ResponseFailed,
    ResponseFinished,
    ResponseFold,
    ResponseStarted,
    UsageReported,
    fold_response,
)

__all__ = [
    # the contract
    "IncrementalProjection",
    "Projection",
    "RequestEncoder",
    "ResponseDecoder",
    "WireRequest",
    # what a model accepts, and making histories valid for it
    "IdRule",
    "ReasoningRule",
    "SendableHistory",
    "Target",
    "ToolMedia",
    "sendable",
    # what a decoder returns
    "AppendBytes",
    "AppendText",
    "BeginPart",
    "CommitPart",
    "Delta",
    "ModelEvent",
    "PartId",
    "ReplaceStructured",
    "ResponseFailed",
    "ResponseFinished",
    "ResponseStarted",
    "SetMetadata",
    "UsageReported",
    # what an encoder changed of a request
    "RequestChange",
    "request_changes",
    # building blocks of decoders and model clients
    "Fold",
    "PartialJson",
    "ResponseFold",
    "complete_call",
    "fold",
    "fold_response",
    "native_reasons",
    "wait_before_retry_s",
    "with_native_reasons",
    # errors
    "DeltaOutOfOrder",
    "NormalizeError",
    "ProjectionError",
    "ProtocolError",
]
