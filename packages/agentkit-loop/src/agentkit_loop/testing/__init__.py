"""Test doubles for code built on the loop: a scripted model, a clock set by hand, random walks.

No test framework is needed, no network and no key.
"""

from agentkit_loop.testing._manual_clock import ManualClock
from agentkit_loop.testing._scripted_model import Reply, Scripted, ScriptedModel, call, fail, say
from agentkit_loop.testing._store_checks import check_blocking_store, check_store
from agentkit_loop.testing._walks import Walked, walk

__all__ = [
    "ManualClock",
    "Reply",
    "Scripted",
    "ScriptedModel",
    "Walked",
    "call",
    "check_blocking_store",
    "check_store",
    "fail",
    "say",
    "walk",
]
