"""Betas: features that a request must opt into, all in one header."""

from __future__ import annotations

from typing import Any, Final

from agentkit_providers.anthropic_messages._encode_options import BETA_FIELDS, MessagesOptions
from agentkit_providers.anthropic_messages._quirks import Quirks

INTERLEAVED_THINKING: Final = "interleaved-thinking-2025-05-14"
FILES: Final = "files-api-2025-04-14"

_OF_FIELD: Final = {
    "mcp_servers": "mcp-client-2025-11-20",
    "context_management": "context-management-2025-06-27",
}
_OF_TOOL: Final = {
    "code_execution_20250522": "code-execution-2025-05-22",
    "advisor_20260301": "advisor-tool-2026-03-01",
}
_OF_EDIT: Final = {"compact_20260112": "compact-2026-01-12"}


def betas_of(options: MessagesOptions, quirks: Quirks, *, uploads: bool) -> tuple[str, ...]:
    """List the betas that a request needs, each once, in a fixed order.

    Args:
        options: The request's options; the caller's extra fields `betas` and `anthropic_beta`
            hold further ones, as a list or as a text with commas.
        quirks: How the vendor differs from Anthropic.
        uploads: Whether the history refers to uploaded files.
    """
    extra = options.extra
    betas: list[Any] = list(quirks.betas)
    if quirks.known_betas:
        if options.interleaved:
            betas.append(INTERLEAVED_THINKING)
        if uploads:
            betas.append(FILES)
        betas += [beta for name, beta in _OF_FIELD.items() if extra.get(name)]
        betas += [_OF_TOOL[kind] for kind in options.tool_types if kind in _OF_TOOL]
        management = extra.get("context_management")
        edits = management.get("edits") if isinstance(management, dict) else None
        for edit in edits if isinstance(edits, list) else ():
            kind = edit.get("type") if isinstance(edit, dict) else None
            betas += [_OF_EDIT[kind]] if isinstance(kind, str) and kind in _OF_EDIT else []
    for name in BETA_FIELDS:
        asked = extra.get(name)
        betas += asked if isinstance(asked, list) else [asked]
    texts = (beta for beta in betas if isinstance(beta, str))
    entries = (entry.strip() for text in texts for entry in text.split(","))
    return tuple(dict.fromkeys(filter(None, entries)))
