"""The target of `sendable`: what one model accepts, as data.

A target is one model behind one protocol of one provider. A projection describes what its protocol,
the vendor and the model accept, and `sendable` makes any history valid for it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from agentkit_core._data_ref import Modality
from agentkit_core._item import ItemKind
from agentkit_core._json import without_lone_surrogates
from agentkit_core.settings import Settings
from agentkit_core.values import StringEnum

_HASH_LENGTH: Final = 8


class IdRule(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """Which ids of tool calls, or which tool names, a target accepts.

    Empty ids, and ids with lone surrogates, are never accepted.

    Attributes:
        characters: The allowed characters, as the inside of a regular expression's character class;
            `0-9a-f` must be included. None allows any character.
        first_characters: What the first character must be, in the same form; `_` must be included.
            None allows all of `characters`.
        max_length: The greatest length; None means no limit.
        exact_length: The only length that is accepted; None means that `max_length` applies.
    """

    characters: str | None = "A-Za-z0-9_-"
    first_characters: str | None = None
    max_length: int | None = 64
    exact_length: int | None = None

    def accepts(self, call_id: str) -> bool:
        """Whether the target accepts an id unchanged."""
        if not call_id or without_lone_surrogates(call_id) is not call_id:
            return False
        if self.exact_length is not None:
            if len(call_id) != self.exact_length:
                return False
        elif self.max_length is not None and len(call_id) > self.max_length:
            return False
        if self.first_characters is not None and not self._accepts_first(call_id[0]):
            return False
        return self.characters is None or _whole(self.characters).fullmatch(call_id) is not None

    def fit(self, name: str, *, hashed: bool = False) -> str:
        """Return an id that the rule accepts, made from any id.

        Args:
            name: The original id; empty gives `call`.
            hashed: Whether to append a hash of `name`, so that different names give different ids.
                It is always appended where the name is shortened.
        """
        clean = without_lone_surrogates(name) or "call"
        if self.characters is not None:
            clean = _others(self.characters).sub(_substitute(self.characters), clean)
        if self.first_characters is not None and clean and not self._accepts_first(clean[0]):
            clean = f"_{clean}"
        if self.exact_length is not None:
            if len(clean) == self.exact_length and not hashed:
                return clean
            return _hash(name)[: self.exact_length]
        if clean and not hashed and (self.max_length is None or len(clean) <= self.max_length):
            return clean
        tail = "_" * self.accepts("_") + _hash(name)[:_HASH_LENGTH]
        if self.max_length is None:
            return clean + tail
        if self.max_length <= len(tail):
            return _hash(name)[: self.max_length]
        return clean[: self.max_length - len(tail)] + tail

    def _accepts_first(self, character: str) -> bool:
        first = self.first_characters
        return first is None or _whole(first).fullmatch(character) is not None


def _hash(name: str) -> str:
    # Imported late, because it loads OpenSSL, and most ids need no change.
    from hashlib import sha256

    return sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(maxsize=64)
def _whole(characters: str) -> re.Pattern[str]:
    return re.compile(f"[{characters}]+")


@lru_cache(maxsize=64)
def _others(characters: str) -> re.Pattern[str]:
    return re.compile(f"[^{characters}]")


@lru_cache(maxsize=64)
def _substitute(characters: str) -> str:
    """The replacement of a rejected character: an underscore if that is accepted, else nothing."""
    return "_" if re.fullmatch(f"[{characters}]", "_") else ""


class ReasoningRule(StringEnum):
    """Which of its own reasoning parts a model accepts."""

    NONE = "none"
    SIGNED = "signed"
    """Those with a signature: a non-blank value under one of `signature_keys`."""
    ANY = "any"


class ToolMedia(StringEnum):
    """Where the media of a tool result are put."""

    INLINE = "inline"
    """Inside the result."""
    AFTER_RESULTS = "after_results"
    """In a user item right after the tool item, with a label that names the call."""


class Target(Settings, frozen=True, kw_only=True, omit_defaults=True):
    """What one model accepts. The defaults are what most chat protocols accept.

    Attributes:
        provider: The vendor. With `api` and `model`, it tells whether an assistant item comes from
            this very model.
        api: The protocol. It owns the metadata and the custom parts that it understands.
        model: The model's id at the vendor.
        kinds: The kinds of item that have a role of their own; `user` and `assistant` are always
            among them. Other kinds are converted: developer and context to system, system to user,
            a notification to a user item with a reminder, tool to text of the user.
        media: Modalities that user items may contain; others are replaced by a text that says so.
        tool_media: Modalities that tool results may contain, or that may follow them as
            `tool_media_place` says.
        tool_media_place: Where the media of a tool result are put.
        files: Whether file parts are accepted; otherwise a text with the name replaces them.
        call_ids: Which ids of tool calls are accepted; others are replaced.
        tool_names: Which tool names are accepted in calls; others are replaced.
        reasoning: Which of its own reasoning parts the model accepts.
        signature_keys: Metadata keys of a reasoning part's signature or encrypted original.
        reasoning_as_text: Whether reasoning that is not accepted is sent as text; otherwise it is
            left out.
        empty_text: Whether blank text is accepted; otherwise it is left out, and a blank result is
            replaced by a text that says so.
        consecutive_roles: Whether two items of one role may follow each other; otherwise they are
            merged.
        first_user: Whether the first item after the system and developer items must be a user item.
        late_system: Whether system and developer items may follow the first user item. Otherwise
            those that do become user items with a reminder, and those before it move to the front.
        orphan_results: Whether results without a call are accepted; otherwise they become text of
            the user.
        custom_kinds: The kinds of custom parts that are accepted; None means all whose kind begins
            with `api` and a dot.
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
    late_system: bool = True
    orphan_results: bool = False
    custom_kinds: frozenset[str] | None = None
