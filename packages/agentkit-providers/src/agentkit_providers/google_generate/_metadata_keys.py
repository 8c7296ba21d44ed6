"""The protocol's name, and the keys under which it keeps what only it understands.

Decoding writes them, encoding reads them back; nobody else does.
"""

from __future__ import annotations

from typing import Final

API: Final = "google_generate"

# On parts.
SIGNATURE_KEY: Final = "google_generate.signature"
"""On any part: its thought signature, where it belongs to the whole part."""
PIECES_KEY: Final = "google_generate.pieces"
"""On text and reasoning whose signature belongs to a piece of it: `[[length, signature], …]`,
lengths in characters, that together are the whole text; null where a piece has none."""
CALL_ID_KEY: Final = "google_generate.call_id"
"""On a call: the id that the vendor gave it; absent where it gave none."""
MIME_TYPE_KEY: Final = "google_generate.mime_type"
"""On reasoning that is an image: of which type."""

# On items.
PROMPT_FEEDBACK_KEY: Final = "google_generate.prompt_feedback"
"""What was found in the prompt: `blockReason` where it was refused."""
GROUNDING_KEY: Final = "google_generate.grounding_metadata"
"""Sources, and which spans of the answer they support, as they came."""
CITATIONS_KEY: Final = "google_generate.citation_metadata"
"""Recited works, as they came."""
URL_CONTEXT_KEY: Final = "google_generate.url_context_metadata"
"""Pages that were read, as they came."""
CANDIDATES_KEY: Final = "google_generate.candidates"
"""Further answers: `[{"index", "finish_reason", "parts"}]`."""
FINISH_REASONS_KEY: Final = "google_generate.finish_reasons"
"""On an answer that failed: the finish reasons that came before the failure."""

# On usage, and on a request.
USAGE_KEY: Final = "google_generate.usage"
"""The vendor's own numbers."""
THINKING_KEY: Final = "google_generate.thinking"
"""`{"asked": …, "sent": …}` where the thinking level that was asked for cannot be had; with
`budget_tokens` where its budget was cut to fit the limit on the output."""
