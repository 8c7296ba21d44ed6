"""Fitting a request to its model before it is written: drafts, rules, and notes of what changed.

Each protocol has one table of rules (its `_fitting`). A rule looks at a draft of the request and at
what the model takes, and changes the draft where the model would refuse it. What a rule changes is
noted, and the note becomes metadata of the response's item; what cannot be had is an error.
The page `docs/fitting.md` is written from these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentkit_core import Item, JsonValue, MetadataMap, ModelOptions, ModelRequest, ToolSpec
from agentkit_providers._protocol_kit._kept_facts import KeptFacts


class Draft:
    """A request while rules fit it to its model.

    Args:
        request: The request as the caller made it; it is not changed.
        history: The sendable items of the request.
        kept: What was worked out for earlier requests.

    Attributes:
        request: The request as it will be written.
        history: The sendable items.
        kept: What was worked out for earlier requests, of their tools for example.
        instructions: Texts for the model that the caller did not write, such as the schema of an
            answer whose format cannot be sent. They follow the first instructions.
        dropped: The names of options that are left out.
        changes: Other changes, in the form of `agentkit_core.provider.RequestChange`.
    """

    def __init__(self, request: ModelRequest, history: Sequence[Item], kept: KeptFacts) -> None:
        self.request = request
        self.history = history
        self.kept = kept
        self.instructions: list[str] = []
        self.dropped: list[str] = []
        self.changes: list[dict[str, JsonValue]] = []

    @property
    def options(self) -> ModelOptions:
        """The options as they will be written."""
        return self.request.options

    def set_options(self, **options: Any) -> None:
        """Change options, without a note."""
        self.request = replace(self.request, options=replace(self.options, **options))

    def set_tools(self, tools: Iterable[ToolSpec]) -> None:
        """Change the tools, without a note."""
        self.request = replace(self.request, tools=tuple(tools))

    def drop(self, option: str) -> None:
        """Leave an option out, and note that."""
        self.set_options(**{option: () if option == "stop_sequences" else None})
        if option not in self.dropped:
            self.dropped.append(option)

    def note(self, what: str, asked: JsonValue, sent: JsonValue, reason: str) -> None:
        """Note a change that a rule made; see `RequestChange` for the fields."""
        self.changes.append({"what": what, "asked": asked, "sent": sent, "reason": reason})


class Rule(NamedTuple):
    """One row of a protocol's table.

    Attributes:
        name: What the rule is about, for the page.
        condition: When it applies, for the page.
        effect: What is sent then, and what is noted, for the page.
        source: Where the vendor's rule can be read: an address, or `repository#number`.
        apply: Changes a draft. It raises `UnsupportedContent` for what cannot be had.
    """

    name: str
    condition: str
    effect: str
    source: str
    apply: Callable[[Draft, Any], None]


def fit(
    request: ModelRequest,
    history: Sequence[Item],
    kept: KeptFacts,
    traits: Any,
    rules: Iterable[Rule],
) -> Draft:
    """Apply a protocol's rules in their order.

    Args:
        request: The request.
        history: The sendable items of the request.
        kept: What was worked out for earlier requests of the projection.
        traits: What the model takes; the type is the protocol's own.
        rules: The protocol's table.

    Raises:
        UnsupportedContent: The request requires something that the model cannot be asked for.
    """
    draft = Draft(request, history, kept)
    for rule in rules:
        rule.apply(draft, traits)
    return draft


def with_notes(
    metadata: MetadataMap, draft: Draft, *, dropped_key: str, changes_key: str
) -> MetadataMap:
    """Add the notes of a draft to the metadata that encoding the options gave.

    Args:
        metadata: What encoding the options gave.
        draft: The draft that was encoded.
        dropped_key: The protocol's key for options that were left out.
        changes_key: The protocol's key for other changes.
    """
    noted = dict(metadata)
    known = noted.get(dropped_key)
    dropped = [*draft.dropped, *(known if isinstance(known, list) else ())]
    if dropped:
        noted[dropped_key] = list(dict.fromkeys(map(str, dropped)))
    if draft.changes:
        noted[changes_key] = list[JsonValue](draft.changes)
        owner = changes_key.partition(".")[0]
        for change in draft.changes:
            # These two have keys of their own, which older code reads.
            if change["what"] in ("thinking", "max_output_tokens") and change["asked"] is not None:
                note: JsonValue = {"asked": change["asked"], "sent": change["sent"]}
                noted.setdefault(f"{owner}.{change['what']}", note)
    return noted
