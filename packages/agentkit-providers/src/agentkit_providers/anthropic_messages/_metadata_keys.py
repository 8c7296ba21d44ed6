"""The protocol's name, and the keys under which it keeps what only it understands.

Only the decoder writes them, and only the encoder reads them.
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
"""On any part: further fields of its block, an object. The decoder keeps fields without a place
(a call's `caller`), and you can set some (`{"citations": {"enabled": true}}` on a file)."""

# On items.
CONTAINER_KEY: Final = "anthropic_messages.container"
"""The container in which code ran; an unfinished turn continues in it."""
CONTEXT_MANAGEMENT_KEY: Final = "anthropic_messages.context_management"
"""What the vendor left out of the context."""
STOP_SEQUENCE_KEY: Final = "anthropic_messages.stop_sequence"
"""The stop sequence that ended the response."""
STOP_DETAILS_KEY: Final = "anthropic_messages.stop_details"
"""Why the model refused."""
FINISH_REASONS_KEY: Final = "anthropic_messages.finish_reasons"
"""On a failed response: the stop reasons that came before the failure."""

# On tools, on usage, and on a request.
TOOL_KEY: Final = "anthropic_messages.tool"
"""On a tool's specification: further fields of its definition, an object (`defer_loading`)."""
USAGE_KEY: Final = "anthropic_messages.usage"
"""The vendor's usage report, as it came."""
THINKING_KEY: Final = "anthropic_messages.thinking"
"""`{"asked": …, "sent": …}` where another thinking level is sent than the one asked for."""
DROPPED_KEY: Final = "anthropic_messages.dropped"
"""The options that were not sent because the model refuses them."""
CHANGES_KEY: Final = "anthropic_messages.changes"
"""What else is not sent as asked, in the form of `agentkit_core.provider.RequestChange`."""
