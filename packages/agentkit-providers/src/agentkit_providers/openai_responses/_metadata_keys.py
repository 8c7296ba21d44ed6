"""The protocol's name, and the keys under which it keeps what only it understands.

Decoding writes them, encoding reads them back; nobody else does.
"""

from __future__ import annotations

from typing import Final

API: Final = "openai_responses"

# On parts.
ITEM_KEY: Final = "openai_responses.item"
"""The output item that a part comes from. On reasoning all of it; on others without what the part
itself says: the id, the phase of a message, the caller of a call, …"""
PLACE_KEY: Final = "openai_responses.place"
"""`{"index": …, "reasoning": …}`: the item's place in the answer, and the place of the reasoning
that it follows, where it follows any. What was thought and what came of it go back together."""
REFUSAL_KEY: Final = "openai_responses.refusal"
"""On a text: True where it is a refusal."""
ANNOTATIONS_KEY: Final = "openai_responses.annotations"
"""On a text: its citations, as they came."""
LOGPROBS_KEY: Final = "openai_responses.logprobs"
"""On a text: as they came."""
DETAIL_KEY: Final = "openai_responses.detail"
"""On an image that is sent: how closely it is to be looked at (`low`, `high`, `auto`, …)."""

# On items.
FINISH_REASONS_KEY: Final = "openai_responses.finish_reasons"
"""On an answer that failed: the status that it failed with."""

# On usage, and on a request.
USAGE_KEY: Final = "openai_responses.usage"
"""The vendor's own numbers."""
THINKING_KEY: Final = "openai_responses.thinking"
"""`{"asked": …, "sent": …}` where the thinking level that was asked for cannot be had."""
MAX_OUTPUT_KEY: Final = "openai_responses.max_output_tokens"
"""`{"asked": …, "sent": …}` where the limit that was asked for is lower than the least."""
DROPPED_KEY: Final = "openai_responses.dropped"
"""Options that were given and cannot be sent."""
CONTENT_PREFIX: Final = "openai_responses.content."
"""How the kinds of custom parts begin that are a piece of a message, not an item of their own."""
