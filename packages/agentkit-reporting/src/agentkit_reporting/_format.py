"""Short descriptions of arguments, outputs and usage, for people."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

from agentkit_core import (
    Custom,
    File,
    FilesOutput,
    JsonValue,
    Media,
    Part,
    PartsOutput,
    Reasoning,
    Structured,
    StructuredOutput,
    Text,
    TextOutput,
    ToolCall,
    ToolOutput,
    ToolResult,
    Usage,
    to_json,
)
from agentkit_reporting._terminal_safe import clean

_LOOK_AHEAD: Final = 8
_DECIMALS: Final = 2
"""How many decimals of an amount of money are always shown."""


def brief(text: str, max_width: int) -> str:
    """Clean a text and shorten it to one line of at most `max_width` characters."""
    # A result may be megabytes long; text that is not shown need not be cleaned.
    start = text[: max_width * _LOOK_AHEAD]
    line = " ".join(clean(start).split())
    if len(line) <= max_width and len(start) == len(text):
        return line
    return line[: max_width - 1] + "…"


def moment_of(at: int) -> datetime | None:
    """Return a time of a record, which may be any number; None if no calendar has it."""
    try:
        return datetime.fromtimestamp(at / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def brief_json(value: JsonValue, max_width: int) -> str:
    """Return a JSON value on one line of at most `max_width` characters."""
    return brief(to_json(value).decode(), max_width)


def brief_output(output: ToolOutput, max_width: int) -> str:
    """Describe the output of a tool on one line of at most `max_width` characters."""
    match output:
        case TextOutput() | StructuredOutput():
            return brief(output.text, max_width)
        case PartsOutput(parts=parts) | FilesOutput(files=parts):
            return brief(" ".join(map(describe_part, parts)), max_width)


def describe_part(part: Part) -> str:
    """Describe a part: its text, or its kind in brackets. The result is not clean yet."""
    match part:
        case Text() | Structured():
            return part.text
        case Media(modality=modality, mime_type=mime_type):
            return f"[{modality.value} {mime_type}]" if mime_type else f"[{modality.value}]"
        case File(name=name, mime_type=mime_type):
            return f"[file {name or mime_type or 'without a name'}]"
        case Reasoning():
            return "[reasoning]"
        case Custom(kind=kind):
            return f"[{kind}]"
        case ToolCall(name=name):
            return f"[call of {name}]"
        case ToolResult():
            return "[tool result]"


def text_of(part: Part) -> str:
    """Return the text of a text or of a reasoning; empty for all other parts."""
    match part:
        case Text(text=text):
            return text
        case Reasoning(summary=str() as summary):
            return summary
        case _:
            return ""


def describe_usage(usage: Usage) -> str:
    """Describe usage: requests, tokens, money; numbers that are unknown are left out.

    A sum that lacks the tokens or the price of a request says so: "or more".
    """
    tokens = usage.tokens
    words = [f"{usage.requests:,} request" + ("" if usage.requests == 1 else "s")]
    if tokens.prompt is not None:
        cached = f" ({tokens.cache_read:,} from cache)" if tokens.cache_read else ""
        words.append(f"{tokens.prompt:,} tokens in{cached}")
    if tokens.output is not None:
        words.append(f"{tokens.output:,} out")
    words += [brief_cost(*amount) for amount in sorted(usage.cost.amounts.items())]
    if usage.cost.amounts and not usage.fully_priced:
        words[-1] += f" or more ({usage.priced_requests} of {usage.requests} requests have a price)"
    elif not usage.exact:
        words.append("or more")
    return ", ".join(words)


def brief_cost(currency: str, amount: Decimal) -> str:
    """Return an amount of money with two decimals, or two digits if it is less than one."""
    digits = 2 if not amount or abs(amount) >= 1 else max(2, 1 - amount.adjusted())
    rounded = round(amount, digits)
    about = "" if rounded == amount else "about "
    shown = f"{rounded:,.{digits}f}"
    while "." in shown and shown.endswith("0") and len(shown.partition(".")[2]) > _DECIMALS:
        shown = shown[:-1]
    return f"{about}{shown} {currency}"
