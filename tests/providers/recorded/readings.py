"""What the readings of all protocols share: calls, usage, and an item put together."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentkit_core import (
    CostUsage,
    FinishReason,
    Item,
    ItemKind,
    JsonValue,
    ModelResponse,
    Part,
    Provenance,
    ProviderFailure,
    Reasoning,
    TokenUsage,
    ToolCall,
    ToolCallId,
    Usage,
)
from providers.recorded.comparing import unknown
from providers.recorded.exchanges import Exchange


class Spoken(NamedTuple):
    """How one protocol is read and compared."""

    row: Callable[[Exchange], str]
    """The name of the vendor's row, which is who answers."""
    read: Callable[[Exchange], ModelResponse]
    """Reads the recorded answer plainly."""
    part_kinds: Callable[[Item], list[str]]
    """An item's parts in the words of the corpus."""
    usage: Callable[[TokenUsage, Mapping[str, int]], dict[str, int | None]]
    """Our counts as the vendor writes them, for the keys that are expected."""
    more: Callable[[Item, Exchange], dict[str, object]]
    """What else the protocol's files expect, by its key, as read from the item or the wire."""


class Ending(NamedTuple):
    """What an answer's item is besides its parts."""

    provenance: Provenance | None
    reason: FinishReason
    words: Sequence[str]
    metadata: dict[str, JsonValue]
    usage: Usage
    failure: ProviderFailure | None = None


def response(parts: Iterable[Part], end: Ending) -> ModelResponse:
    """Put an answer together; the calls' ids are settled here."""
    words: list[JsonValue] = [*dict.fromkeys(word for word in end.words if word)]
    failed = end.failure is not None
    metadata = dict(end.metadata)
    if words and failed:
        metadata[f"{_api(end)}.finish_reasons"] = [*end.words]
    elif words:
        metadata["agentkit.provider_finish_reasons"] = words
    item = Item(
        ItemKind.ASSISTANT,
        tuple(_with_unique_ids(parts)),
        metadata=metadata,
        provenance=end.provenance,
        finish_reason=FinishReason.ERROR if failed else end.reason,
        usage=end.usage,
        failure=end.failure,
        interrupted=failed,
    )
    return ModelResponse(item, end.failure)


def _api(end: Ending) -> str:
    return "" if end.provenance is None else end.provenance.api


def _with_unique_ids(parts: Iterable[Part]) -> list[Part]:
    known = list(parts)
    names = {part.id for part in known if isinstance(part, ToolCall)} - {""}
    seen = set[str]()
    for at, part in enumerate(known):
        if not isinstance(part, ToolCall):
            continue
        if not part.id or part.id in seen:
            known[at] = replace(
                part, id=unknown("ToolCall.id", lambda call_id: _is_new(call_id, names))
            )
        seen.add(part.id)
    return known


def _is_new(call_id: object, names: set[ToolCallId]) -> bool:
    return isinstance(call_id, str) and bool(call_id) and call_id not in names


def call(call_id: Any, name: Any, arguments: Any, metadata: Mapping[str, JsonValue]) -> ToolCall:
    """A call for the client, from its arguments as they stand in the wire: text or an object.

    Blank text and `null` mean no arguments; what is not a JSON object is kept as it is.
    """
    bare = ToolCall(ToolCallId(call_id or ""), name or "", metadata=dict(metadata))
    text = arguments if isinstance(arguments, str) else json_text(arguments)
    if not text.strip():
        return bare
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    if isinstance(value, str) and value is not text:
        value = json.loads(value)  # written as JSON twice
    if value is None or isinstance(value, dict):
        return replace(bare, input=value or {})
    return broken_call(bare, text)


def broken_call(bare: ToolCall, text: str) -> ToolCall:
    """A call whose arguments are not whole, so that nobody may run it."""
    return replace(
        bare, input={}, raw_input=text, input_error=unknown("ToolCall.input_error", bool)
    )


def part_broken_off(part: Part, *first_keys: str, arguments: str = "") -> Part:
    """A part that was still growing when its answer failed: what it said, and a mark.

    Args:
        part: As it would be had it ended well.
        first_keys: The keys of its metadata that it had from its beginning.
        arguments: For a call, the text of its arguments.
    """
    metadata = {key: part.metadata[key] for key in first_keys if key in part.metadata}
    metadata["agentkit.incomplete"] = True
    match part:
        case Reasoning(summary=summary):
            return Reasoning(summary, metadata=metadata)
        case ToolCall():
            return broken_call(replace(part, metadata=metadata), arguments)
        case _:
            return replace(part, metadata=metadata)


def json_text(value: object) -> str:
    """A JSON value as compact text; nothing for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def count_at(raw: Any, *path: str) -> int | None:
    """A count somewhere in a usage report; None where there is none."""
    for name in path:
        raw = raw.get(name) if isinstance(raw, dict) else None
    if isinstance(raw, float) and raw.is_integer():
        raw = int(raw)
    return max(0, raw) if isinstance(raw, int) and not isinstance(raw, bool) else None


def cost_in_usd(raw: Mapping[str, Any]) -> CostUsage:
    """What a vendor whose `cost` is US dollars says that the request cost."""
    cost = raw.get("cost")
    if isinstance(cost, dict):
        cost = cost.get("total_cost")
    return CostUsage({"USD": Decimal(str(cost))}) if isinstance(cost, int | float) else CostUsage()


def usage_of(
    key: str, reports: Sequence[tuple[Mapping[str, Any], TokenUsage, CostUsage]], *, whole: bool
) -> Usage:
    """What a request used, by the reports of its answer, each a running total.

    Args:
        key: The metadata key for the vendor's own numbers.
        reports: The vendor's numbers, and what they mean; those without a count are left out.
        whole: Whether the last report came at the end of the answer.
    """
    usage = Usage(requests=1)
    for raw, tokens, cost in reports:
        known = {
            name: count
            for name in TokenUsage.__struct_fields__
            if (count := getattr(tokens, name)) is not None
        }
        usage = Usage(
            replace(usage.tokens, **known),
            cost if cost.amounts else usage.cost,
            requests=1,
            reported_requests=int(whole),
            priced_requests=int(bool(cost.amounts or usage.cost.amounts)),
            metadata={key: dict(raw)},
        )
    return usage
