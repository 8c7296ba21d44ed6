"""The protocol's name, and the keys under which it keeps what only it understands.

Only the decoder writes them, and only the encoder reads them.
"""

from __future__ import annotations

from typing import Final

API: Final = "google_generate"

# On parts.
SIGNATURE_KEY: Final = "google_generate.signature"
"""On any part: its thought signature, where it belongs to the whole part."""
PIECES_KEY: Final = "google_generate.pieces"
"""On text and reasoning with signatures for pieces of it: `[[length, signature], …]`. Lengths are
in characters and add up to the whole text; the signature is null for a piece without one."""
CALL_ID_KEY: Final = "google_generate.call_id"
"""On a call: the vendor's id; absent where the vendor sent none."""
MIME_TYPE_KEY: Final = "google_generate.mime_type"
"""On reasoning that is an image: its MIME type."""

# On items.
PROMPT_FEEDBACK_KEY: Final = "google_generate.prompt_feedback"
"""What the vendor says about the prompt: `blockReason` where it was refused."""
GROUNDING_KEY: Final = "google_generate.grounding_metadata"
"""Sources, and the spans of the response that they support, as they came."""
CITATIONS_KEY: Final = "google_generate.citation_metadata"
"""Works that the response quotes, as they came."""
URL_CONTEXT_KEY: Final = "google_generate.url_context_metadata"
"""Pages that the vendor read, as they came."""
CANDIDATES_KEY: Final = "google_generate.candidates"
"""Further candidates: `[{"index", "finish_reason", "parts"}]`."""
FINISH_REASONS_KEY: Final = "google_generate.finish_reasons"
"""On a failed response: the finish reasons that came before the failure."""

# On usage, and on a request.
USAGE_KEY: Final = "google_generate.usage"
"""The vendor's usage report, as it came."""
THINKING_KEY: Final = "google_generate.thinking"
"""`{"asked": …, "sent": …}` where another thinking level is sent than the one asked for; with
`budget_tokens` where its budget was cut to fit the limit on the output."""
DROPPED_KEY: Final = "google_generate.dropped"
"""Options that the caller gave and that the model refuses."""
CHANGES_KEY: Final = "google_generate.changes"
"""What else is not sent as asked, in the form of `agentkit_core.provider.RequestChange`."""
