"""agentkit-loop: the loop of an agent as a pure step function, and its drivers."""

from agentkit_loop._errors import (
    ApprovalRequiredError,
    NoResult,
    NothingToContinue,
    ReporterFailed,
    SessionClosed,
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
from agentkit_loop.agent._prompt import Prompt
from agentkit_loop.agent._session import Session
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
from agentkit_loop.kernel._limits import Limits
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
from agentkit_loop.persistence._records import DamagedSave, RevisionGap, StaleSave
from agentkit_loop.persistence._snapshot import decode_state, encode_state

__all__ = [
    # agents and sessions
    "Agent",
    "AgentTool",
    "BlockingSession",
    "OnApproval",
    "Prompt",
    "ResultMode",
    "TypedResult",
    "Session",
    "SessionView",
    # what a host is handed
    "AfterRound",
    "ApprovalDecision",
    "WaitingForApproval",
    "AwaitingInput",
    "Busy",
    "Closed",
    "Finished",
    "GrantScope",
    "SessionStatus",
    # how a run behaves
    "BackgroundDone",
    "BusyInput",
    "Execution",
    "Limits",
    "LoopConfig",
    "LostTool",
    "MutatorFailure",
    "Lane",
    "QueueMode",
    "SteerPolicy",
    # what a host has a say in
    "RetryAnswer",
    "Hook",
    "Mutation",
    "Mutator",
    "RunFacts",
    "EndTurn",
    # what a run tells
    "TurnEnd",
    "TurnResult",
    "TurnBudget",
    # states as bytes, for drivers of one's own
    "decode_state",
    "encode_state",
    # errors
    "ApprovalRequiredError",
    "DamagedSave",
    "NoResult",
    "NothingToContinue",
    "ReporterFailed",
    "RevisionGap",
    "SessionClosed",
    "StaleSave",
    "TurnRunning",
    "UnknownApproval",
    "UnknownCall",
    "WrongModelForm",
    "WrongStoreForm",
]
