"""Identifiers: plain strings that type checkers keep apart.

In JSON they are strings. Their content is not validated here, because providers do send empty call
ids; code that needs a non-empty id checks that itself.
"""

from typing import NewType

SessionId = NewType("SessionId", str)
"""The id of a conversation."""

TurnId = NewType("TurnId", str)
"""The id of a turn, from an input of the host to the answer: `turn-1`, `turn-2`, …"""

MessageId = NewType("MessageId", str)
"""The id of an item of a transcript."""

ToolCallId = NewType("ToolCallId", str)
"""The id of a tool call, unique in a transcript; the result has the same id."""

PartId = NewType("PartId", str)
"""The id of a part while it is streamed; it has no meaning after the response."""

ArtifactId = NewType("ArtifactId", str)
"""The id of content in an artifact store."""

ApprovalId = NewType("ApprovalId", str)
"""The id of something that a person has to approve or answer."""
