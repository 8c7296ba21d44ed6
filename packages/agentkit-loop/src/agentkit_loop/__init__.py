"""agentkit-loop: agents and their sessions, on a loop that is a pure step function."""

from agentkit_loop._errors import (
    AgentsTooDeep,
    ApprovalRequiredError,
    InvalidResultType,
    NoResult,
    NothingToContinue,
    ReporterFailed,
    SessionClosed,
    TurnNotCompleted,
    TurnRunning,
    UnknownApproval,
    UnknownCall,
    WrongModelForm,
    WrongStoreForm,
)
from agentkit_loop._result import TurnEnd, TurnResult
from agentkit_loop.agent._agent import Agent
from agentkit_loop.agent._agent_tool import AgentTool
from agentkit_loop.agent._blocking_session import BlockingSession
from agentkit_loop.agent._on_approval import OnApproval
from agentkit_loop.agent._prompt import Instructions, InstructionsFunction, Prompt
from agentkit_loop.agent._session import Session
from agentkit_loop.agent._settings import SessionSettings
from agentkit_loop.agent._stored_session import (
    StoredSession,
    read_session,
    read_session_blocking,
    read_snapshot,
)
from agentkit_loop.agent._view import SessionView
from agentkit_loop.extensions._budget import TurnBudget
from agentkit_loop.extensions._hooks import EndTurn, Hook, RetryAnswer, RunFacts
from agentkit_loop.extensions._mutators import Mutation, Mutator
from agentkit_loop.extensions._structured import ResultMode, TypedResult
from agentkit_loop.kernel._config import (
    BackgroundDone,
    BusyInput,
    Execution,
    LoopConfig,
    LostTool,
    MutatorFailure,
    QueueMode,
    SteerPolicy,
)
from agentkit_loop.kernel._inputs import Lane
from agentkit_loop.kernel._limits import Limits, SessionLimits
from agentkit_loop.kernel._status import (
    AfterRound,
    ApprovalDecision,
    AwaitingInput,
    Busy,
    Closed,
    Finished,
    GrantScope,
    SessionStatus,
    WaitingForApproval,
)
from agentkit_loop.persistence._snapshot import decode_state, encode_state

__version__ = "0.1.0"

__all__ = [
    # agents and sessions
    "Agent",
    "AgentTool",
    "BlockingSession",
    "Instructions",
    "InstructionsFunction",
    "OnApproval",
    "Prompt",
    "Session",
    "SessionSettings",
    "SessionView",
    "StoredSession",
    "read_session",
    "read_session_blocking",
    "read_snapshot",
    # why a session returns control to its host, and how the host answers
    "AfterRound",
    "ApprovalDecision",
    "AwaitingInput",
    "Busy",
    "Closed",
    "Finished",
    "GrantScope",
    "SessionStatus",
    "WaitingForApproval",
    # results
    "ResultMode",
    "TurnEnd",
    "TurnResult",
    "TypedResult",
    # how the loop behaves
    "BackgroundDone",
    "BusyInput",
    "Execution",
    "Lane",
    "Limits",
    "LoopConfig",
    "LostTool",
    "MutatorFailure",
    "QueueMode",
    "SessionLimits",
    "SteerPolicy",
    # code of the host within a run
    "EndTurn",
    "Hook",
    "Mutation",
    "Mutator",
    "RetryAnswer",
    "RunFacts",
    "TurnBudget",
    # states as bytes, for your own drivers
    "decode_state",
    "encode_state",
    # errors
    "ApprovalRequiredError",
    "InvalidResultType",
    "NoResult",
    "NothingToContinue",
    "ReporterFailed",
    "AgentsTooDeep",
    "SessionClosed",
    "TurnNotCompleted",
    "TurnRunning",
    "UnknownApproval",
    "UnknownCall",
    "WrongModelForm",
    "WrongStoreForm",
]
