"""The protocol's name, and the keys under which it keeps what only it understands.

Only the decoder writes them, and only the encoder reads them.
"""

from __future__ import annotations

from typing import Final

API: Final = "openai_responses"

# On parts.
ITEM_KEY: Final = "openai_responses.item"
"""The output item that a part comes from. On reasoning the whole item; on other parts the fields
that the part itself does not have: the id, the phase of a message, the caller of a call, …"""
PLACE_KEY: Final = "openai_responses.place"
"""`{"index": …, "reasoning": …}`: the item's place in the response, and the place of the reasoning
that it follows, if any. Reasoning and the items that follow it go back together."""
REFUSAL_KEY: Final = "openai_responses.refusal"
"""On a text: True where it is a refusal."""
ANNOTATIONS_KEY: Final = "openai_responses.annotations"
"""On a text: its citations, as they came."""
LOGPROBS_KEY: Final = "openai_responses.logprobs"
"""On a text: log probabilities, as they came."""
DETAIL_KEY: Final = "openai_responses.detail"
"""On an image that is sent: how closely the model should look at it (`low`, `high`, `auto`, …)."""

# On items.
FINISH_REASONS_KEY: Final = "openai_responses.finish_reasons"
"""On a failed response: the status that it failed with."""

# On usage, and on a request.
USAGE_KEY: Final = "openai_responses.usage"
"""The vendor's usage report, as it came."""
THINKING_KEY: Final = "openai_responses.thinking"
"""`{"asked": …, "sent": …}` where another thinking level is sent than the one asked for."""
MAX_OUTPUT_KEY: Final = "openai_responses.max_output_tokens"
"""`{"asked": …, "sent": …}` where the limit was raised to the vendor's minimum."""
DROPPED_KEY: Final = "openai_responses.dropped"
"""Options that the caller gave and that cannot be sent."""
CONTENT_PREFIX: Final = "openai_responses.content."
"""The prefix of the kinds of custom parts that are pieces of a message, not items."""
CHANGES_KEY: Final = "openai_responses.changes"
"""What else is not sent as asked, in the form of `agentkit_core.provider.RequestChange`."""
AWAITED_KEY: Final = f"{API}.awaited"
"""On an item: what the response waits for: the type of an output item that the client must run or
answer, such as `mcp_approval_request`, or the status of a response that is not there yet."""
