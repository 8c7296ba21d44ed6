"""What a model can be sent, as data: the target of `sendable`.

A target is one model behind one protocol of one provider. A projection writes down what its
protocol, the vendor's quirks and the model allow; `sendable` does the rest.
"""

from __future__ import annotations

import re
from functools import lru_cache

from agentkit_core._item import ItemKind
from agentkit_core._json import without_lone_surrogates
from agentkit_core._part import Modality
from agentkit_core.values import Record, StringEnum


class IdRule(Record, frozen=True, kw_only=True, omit_defaults=True):
    """Which ids of tool calls a target accepts.

    Never an empty one, nor one with half a surrogate pair, which cannot be written.

    Attributes:
        characters: The inside of a regular expression's character class, `0-9a-f` among it; None
            allows any character.
        exact_length: The one length that is accepted, where there is but one; `max_length` is not
            read then.
    """

    characters: str | None = "A-Za-z0-9_-"
    max_length: int | None = 64
    exact_length: int | None = None

    def accepts(self, call_id: str) -> bool:
        """Whether the id may be sent as it is."""
        if not call_id or without_lone_surrogates(call_id) is not call_id:
            return False
        if self.exact_length is not None:
            if len(call_id) != self.exact_length:
                return False
        elif self.max_length is not None and len(call_id) > self.max_length:
            return False
        return self.characters is None or _whole(self.characters).fullmatch(call_id) is not None


@lru_cache(maxsize=64)
def _whole(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]+")


class ReasoningRule(StringEnum):
    """Which of a model's own reasoning parts it can be sent back."""

    NONE = "none"
    SIGNED = "signed"
    """Those that carry a signature: a non-blank value under one of `signature_keys`."""
    ANY = "any"


class ToolMedia(StringEnum):
    """Where media go that a tool gave."""

    INLINE = "inline"
    """They stay inside the result."""
    AFTER_RESULTS = "after_results"
    """They move to a user item right after the tool item, each labelled with its call."""


class Target(Record, frozen=True, kw_only=True, omit_defaults=True):
    """What can be sent to one model. The defaults allow what most chat protocols allow.

    Attributes:
        provider: With `api` and `model`: whether an assistant item comes from the very model it
            goes to.
        api: The protocol; also the owner of the metadata and custom parts that it understands.
        kinds: Kinds of item that have a role of their own, `user` and `assistant` always among
            them. Others are sent as the next best: developer as system, context as system,
            notification as user inside a reminder, system as user, tool as user text.
        media: Modalities that user items may hold; others become a text that says so.
        tool_media: Modalities that may stand in a tool's result, or beside it as `tool_media_place`
            says.
        files: Whether file parts can be sent; others become a text with their name.
        signature_keys: Metadata keys that hold a reasoning part's signature or encrypted original.
        reasoning_as_text: Whether reasoning that cannot be sent as such is sent as text; else it is
            left out.
        empty_text: Whether blank text may be sent; else it is left out, and a blank result says so.
        consecutive_roles: Whether two items of one role may follow each other; else they are
            merged.
        first_user: Whether the first item that is not system or developer must be a user's.
        orphan_results: Whether results without their call may be sent; else they become a user's
            text.
        custom_kinds: Kinds of custom part that can be sent back to their owner; None means all of
            `api`'s own, those whose kind begins with `api` and a dot.
    """

    provider: str
    api: str
    model: str
    kinds: frozenset[ItemKind] = frozenset(
        {ItemKind.SYSTEM, ItemKind.DEVELOPER, ItemKind.USER, ItemKind.ASSISTANT, ItemKind.TOOL}
    )
    media: frozenset[Modality] = frozenset()
    tool_media: frozenset[Modality] = frozenset()
    tool_media_place: ToolMedia = ToolMedia.AFTER_RESULTS
    files: bool = False
    call_ids: IdRule = IdRule()
    tool_names: IdRule = IdRule()
    reasoning: ReasoningRule = ReasoningRule.NONE
    signature_keys: tuple[str, ...] = ()
    reasoning_as_text: bool = False
    empty_text: bool = False
    consecutive_roles: bool = True
    first_user: bool = False
    orphan_results: bool = False
    custom_kinds: frozenset[str] | None = None
