"""The protocol's name, and the keys under which it keeps what only it understands.

Only the decoder writes them, and only the encoder reads them.
"""

from __future__ import annotations

from typing import Final

API: Final = "openai_chat"

# On parts.
REFUSAL_KEY: Final = "openai_chat.refusal"
"""On a text: True where it is a refusal."""
ANNOTATIONS_KEY: Final = "openai_chat.annotations"
"""On a text, or on the item where they come after the text: citations, as they came."""
REASONING_FIELD_KEY: Final = "openai_chat.reasoning_field"
"""On reasoning: the field in which it came."""
DETAILS_KEY: Final = "openai_chat.reasoning_details"
"""On reasoning: its entries, as the vendor sent them, but with their pieces joined."""
EXTRA_CONTENT_KEY: Final = "openai_chat.extra_content"
"""On a text, a call or the item: what Google's endpoint needs back with it, as it came."""
AUDIO_ID_KEY: Final = "openai_chat.audio_id"
"""On audio: the vendor's id of it, to send it back."""
TRANSCRIPT_KEY: Final = "openai_chat.transcript"
"""On audio: its transcript."""
DETAIL_KEY: Final = "openai_chat.detail"
"""On an image that is sent: how closely the model should look at it (`low`, `high`, `auto`)."""

# On items.
EXECUTED_TOOLS_KEY: Final = "openai_chat.executed_tools"
"""Tools that the vendor ran itself, as they came."""

FINISH_REASONS_KEY: Final = "openai_chat.finish_reasons"
"""On a failed response: the finish reasons that came before the failure."""

# On usage, and on a request.
USAGE_KEY: Final = "openai_chat.usage"
"""The vendor's usage report, as it came."""
THINKING_KEY: Final = "openai_chat.thinking"
"""`{"asked": …, "sent": …}` where another thinking level is sent than the one asked for."""
DROPPED_KEY: Final = "openai_chat.dropped"
"""Options that the caller gave and that the model refuses."""
CHANGES_KEY: Final = "openai_chat.changes"
"""What else is not sent as asked, in the form of `agentkit_core.provider.RequestChange`."""
