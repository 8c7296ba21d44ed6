"""The protocol's name, and the keys under which it keeps what only it understands.

Decoding writes them, encoding reads them back; nobody else does.
"""

from __future__ import annotations

from typing import Final

API: Final = "openai_chat"

# On parts.
REFUSAL_KEY: Final = "openai_chat.refusal"
"""On a text: True where it is a refusal."""
ANNOTATIONS_KEY: Final = "openai_chat.annotations"
"""On a text, or on the item where they come after it: as they came."""
REASONING_FIELD_KEY: Final = "openai_chat.reasoning_field"
"""On reasoning: in which field it came."""
DETAILS_KEY: Final = "openai_chat.reasoning_details"
"""On reasoning: its entries, as the vendor sent them but joined."""
EXTRA_CONTENT_KEY: Final = "openai_chat.extra_content"
"""On a text, a call or the item: what Google's endpoint wants back with it, as it came."""
AUDIO_ID_KEY: Final = "openai_chat.audio_id"
"""On audio: what the vendor calls it, to send it back."""
TRANSCRIPT_KEY: Final = "openai_chat.transcript"
"""On audio: what is said in it."""
DETAIL_KEY: Final = "openai_chat.detail"
"""On an image that is sent: how closely it is to be looked at (`low`, `high`, `auto`)."""

# On items.
EXECUTED_TOOLS_KEY: Final = "openai_chat.executed_tools"
"""Tools that the vendor ran itself."""

FINISH_REASONS_KEY: Final = "openai_chat.finish_reasons"
"""On an answer that failed: the finish reasons that came before the failure."""

# On usage, and on a request.
USAGE_KEY: Final = "openai_chat.usage"
"""The vendor's own numbers."""
THINKING_KEY: Final = "openai_chat.thinking"
"""`{"asked": …, "sent": …}` where the thinking level that was asked for cannot be had."""
