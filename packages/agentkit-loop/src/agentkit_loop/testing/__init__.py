"""Test doubles and checks for code that uses the loop; no test framework, network or key needed.

A model that answers from a script, a clock that a test sets, checks for a store of your own, and
random walks through the kernel for a driver of your own.
"""

from agentkit_loop.testing._manual_clock import ManualClock
from agentkit_loop.testing._scripted_model import Reply, Scripted, ScriptedModel, call, fail, say
from agentkit_loop.testing._store_checks import check_blocking_store, check_store
from agentkit_loop.testing._walks import WalkStep, walk

__all__ = [
    "ManualClock",
    "Reply",
    "Scripted",
    "ScriptedModel",
    "WalkStep",
    "call",
    "check_blocking_store",
    "check_store",
    "fail",
    "say",
    "walk",
]
