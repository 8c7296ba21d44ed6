"""Identifiers: plain strings with a name of their own for the type checker.

They are written as bare JSON strings. None is validated here: providers do send empty call
ids, so what must not be empty is checked where it is used.
"""

from typing import NewType

SessionId = NewType("SessionId", str)
"""One conversation, as long as it lives."""

TurnId = NewType("TurnId", str)
"""From one input of the host to the answer that ends it: `turn-1`, `turn-2`, …"""

MessageId = NewType("MessageId", str)
"""One item of a transcript."""

ToolCallId = NewType("ToolCallId", str)
"""One call of a tool; the result carries the same id. Unique in a transcript."""

PartId = NewType("PartId", str)
"""A part while it is streamed; meaningless once its response is over."""

ArtifactId = NewType("ArtifactId", str)
"""Something kept in an artifact store."""

ApprovalId = NewType("ApprovalId", str)
"""One question that a person must answer."""
