"""A model server on loopback that plays recorded or scripted answers over real HTTP.

For tests and demonstrations: it needs no key and no network, and it can play every fault that a
provider may have.
"""

from agentkit_providers.replay import (
    anthropic_messages,
    google_generate,
    openai_chat,
    openai_responses,
)
from agentkit_providers.replay._answer import Answer, Cut, Fault, Garbage, Reset, Stall
from agentkit_providers.replay._server import ReplayServer, Request, Script, mask_key

__all__ = [
    "Answer",
    "Cut",
    "Fault",
    "Garbage",
    "ReplayServer",
    "Request",
    "Reset",
    "Script",
    "Stall",
    "anthropic_messages",
    "google_generate",
    "mask_key",
    "openai_chat",
    "openai_responses",
]
