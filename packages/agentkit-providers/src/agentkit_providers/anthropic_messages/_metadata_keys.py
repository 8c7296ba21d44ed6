"""The protocol's name, and the keys under which it keeps what only it understands.

Decoding writes them, encoding reads them back; nobody else does.
"""

from __future__ import annotations

from typing import Final

API: Final = "anthropic_messages"

# On parts.
SIGNATURE_KEY: Final = "anthropic_messages.signature"
"""On reasoning: the signature of a thinking block."""
REDACTED_KEY: Final = "anthropic_messages.redacted_data"
"""On reasoning: the encrypted original of a redacted thinking block."""
CITATIONS_KEY: Final = "anthropic_messages.citations"
"""On a text: its citations, as they came."""
BLOCK_KEY: Final = "anthropic_messages.block"
"""On any part: further fields of its block, an object. A decoder keeps what it has no place for
(a call's `caller`), and so may a user (`{"citations": {"enabled": true}}` on a file)."""

# On items.
CONTAINER_KEY: Final = "anthropic_messages.container"
"""The container in which code ran; an unfinished turn goes on in it."""
CONTEXT_MANAGEMENT_KEY: Final = "anthropic_messages.context_management"
"""What the vendor left out of the context."""
STOP_SEQUENCE_KEY: Final = "anthropic_messages.stop_sequence"
"""Which of the stop sequences came."""
STOP_DETAILS_KEY: Final = "anthropic_messages.stop_details"
"""Why the model refused."""
FINISH_REASONS_KEY: Final = "anthropic_messages.finish_reasons"
"""On an answer that failed: the stop reasons that came before the failure."""

# On tools, on usage, and on a request.
TOOL_KEY: Final = "anthropic_messages.tool"
"""On a tool's specification: further fields of its definition, an object (`defer_loading`)."""
USAGE_KEY: Final = "anthropic_messages.usage"
"""The vendor's own numbers."""
THINKING_KEY: Final = "anthropic_messages.thinking"
"""`{"asked": …, "sent": …}` where the thinking level that was asked for cannot be had."""
DROPPED_KEY: Final = "anthropic_messages.dropped"
"""The options that were not sent because the model refuses them."""
