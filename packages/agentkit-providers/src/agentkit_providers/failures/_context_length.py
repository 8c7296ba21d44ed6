"""Whether an error says that a request does not fit the model's context, and by how much.

Every provider words it differently, and few have a code for it. So this is a list of patterns, each
with the provider whose wording it is.
"""

from __future__ import annotations

import re
from typing import Final

_OVERFLOW: Final = re.compile(
    "|".join(
        (
            r"prompt is too long|request_too_large|exceeds? context limit",  # Anthropic
            r"input is too long for (?:the )?requested model",  # Bedrock
            r"exceeds? the (?:model'?s? )?context window|context window exceeds",  # OpenAI, MiniMax
            r"exceeds? (?:the )?(?:model'?s? )?maximum context length",  # LiteLLM
            r"input token count.*exceeds? the maximum",  # Google
            r"maximum prompt length is \d+",  # xAI
            r"reduce the length of (?:the|your) (?:messages|prompt|input)",  # Groq, OpenAI
            r"maximum context length (?:is|of) [\d,]+",  # OpenRouter, OpenAI, vLLM
            r"exceeds? (?:the )?maximum allowed (?:input )?length",  # OpenRouter
            r"longer than the model'?s context length",  # Together
            r"prompt token count of \d+ exceeds the limit",  # Copilot
            r"exceeds? the available context size|greater than the context length",  # llama.cpp
            r"exceeded model token limit",  # Moonshot
            r"too large for model with [\d,]+ maximum context length",  # Mistral
            r"model_context_window_exceeded|context[_ ](?:window|length)[_ ]exceeded",  # Z.ai
            r"prompt too long; exceeded",  # Ollama
            r"prompt contains.*[\d,]+ input tokens",  # vLLM
            r"range of input length should be",  # Alibaba
            r"token limit exceeded|exceeds? the (?:model'?s? )?token limit",
            r"\btoo many (?:input )?tokens\b",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
_RATE: Final = re.compile(
    r"rate[- _]?limit|too many requests|throttl|per[- ]?(?:minute|min|hour|day|second)\b|\bTPM\b",
    re.IGNORECASE,
)
_NUMBER: Final = r"([\d,]*\d)"
_LIMIT: Final = tuple(
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"context length (?:is|of) (?:only )?#",
        r"> # maximum",
        r"maximum number of tokens allowed \(#\)",
        r"maximum prompt length is #",
        r"context length \(#",
        r"available context size \(#",
        r"model with # maximum context length",
        r"token count of \d+ exceeds the limit of #",
        r"model token limit: #",
        r"(?:maximum|allowed)[a-z ]* length of #",
        r"context window of #",
        r"exceeds? context limit: \d+ \+ \d+ > #",
        r"Limit:? #",
    )
)
_TOKENS: Final = tuple(
    re.compile(pattern.replace("#", _NUMBER), re.IGNORECASE)
    for pattern in (
        r"prompt is too long: # tokens",
        r"input token count \(#\)",
        r"request contains # tokens",
        r"input \(# tokens\)",
        r"request \(# tokens\)",
        r"prompt contains (?:at least )?# (?:input )?tokens",
        r"token count of #",
        r"exceeds? context limit: #",
        r"requested(?: about|:)? #",
        r"resulted in # tokens",
        r"(?:has|have|provided|contains) # (?:input )?tokens",
    )
)


def says_context_overflow(text: str) -> bool:
    """Whether a message says that the request is too long. A rate limit on tokens does not."""
    return _OVERFLOW.search(text) is not None and _RATE.search(text) is None


def overflow_counts(text: str) -> tuple[int | None, int | None]:
    """Read from a message how many tokens the request had, and how many it may have.

    Returns:
        Both numbers; None for a number that the message does not name.
    """
    return _first(_TOKENS, text), _first(_LIMIT, text)


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> int | None:
    for pattern in patterns:
        match = pattern.search(text)
        if match is not None:
            return int(match.group(1).replace(",", ""))
    return None
