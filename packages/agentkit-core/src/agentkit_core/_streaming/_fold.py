"""The fold: it turns deltas into parts, in the order in which the parts began.

In strict mode, a delta that does not fit raises an error and leaves the fold unchanged. In lenient
mode it is ignored, except that text for an unknown part opens a text part. The fold makes one pass,
in time linear in what it is fed, and splitting a chunk anywhere changes nothing.

    delta                 fits                                       effect
    BeginPart             an id not seen yet                         opens the part in its place
    AppendText            text, reasoning, tool call                 collects text
    AppendBytes           media, file, reasoning, custom             collects bytes
    ReplaceStructured     structured, custom, tool call (an object)  replaces value and text
    SetMetadata           any open part                              merges; None deletes a key
    CommitPart with id    an open part of the same kind              replaces it, in its place
    CommitPart without    always                                     adds a part at the end

A `CommitPart` of another kind is an error in strict mode; in lenient mode it replaces the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from agentkit_core._errors import DeltaOutOfOrder
from agentkit_core._ids import PartId
from agentkit_core._part import KIND_OF_PART, Part, Reasoning, Text, ToolCall
from agentkit_core._streaming._delta import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    ReplaceStructured,
    SetMetadata,
)
from agentkit_core._streaming._open_part import TAKES_BYTES, TAKES_TEXT, TAKES_VALUE, OpenPart


class Fold:
    """Folds the deltas of one response into parts.

    Args:
        strict: Whether a delta that does not fit raises `DeltaOutOfOrder`; otherwise it is ignored.
    """

    __slots__ = ("__weakref__", "_append_to", "_entries", "_index", "_shown", "_stale", "_strict")

    def __init__(self, *, strict: bool = True) -> None:
        self._strict = strict
        self._entries: list[OpenPart | Part] = []
        self._index: dict[PartId, int] = {}
        self._append_to: dict[PartId, Callable[[str], None]] = {}
        """How text is appended to the open parts whose last look is stale. `ResponseFold` uses it
        too, so it stays the same dict."""
        self._shown: list[Part | None] = []
        """The entries as `partial` returned them last; None where one is stale."""
        self._stale: dict[int, PartId] = {}
        """The open parts that may have grown since the last look, by index."""

    @property
    def has_parts(self) -> bool:
        """Whether any part has begun."""
        return bool(self._entries)

    def feed(self, delta: Delta) -> None:
        """Take one delta.

        Raises:
            DeltaOutOfOrder: In strict mode: the delta does not fit. The fold is unchanged.
        """
        if type(delta) is AppendText:
            append = self._append_to.get(delta.part_id)
            if append is not None:
                append(delta.chunk)
                return
        _FEED[type(delta)](self, delta)

    def parts(self) -> tuple[Part, ...]:
        """Return the committed parts, in the order in which they began."""
        return tuple(entry for entry in self._entries if not isinstance(entry, OpenPart))

    def partial(self) -> tuple[Part, ...]:
        """Return all parts as far as they are known, open ones included, in order.

        This may be called at any time; only the parts that changed since the last call are looked
        at. The arguments of an open call are what can be read of them so far; see `PartialJson`.
        """
        shown: list[Any] = self._shown
        for index, part_id in self._stale.items():
            entry = self._entries[index]
            if isinstance(entry, OpenPart):
                shown[index] = None  # so that nothing here keeps the text that is to grow
                shown[index] = entry.snapshot()
                self._append_to.pop(part_id, None)  # the next text comes to `_append_text`
        self._stale.clear()
        return tuple(shown)

    def finish(self, *, cut: bool = False) -> tuple[Part, ...]:
        """Close open parts and return all parts, in order. The fold itself does not change.

        Args:
            cut: Whether the stream ended early. Then open parts get `agentkit.incomplete` in their
                metadata, and open calls are marked so that they are never run.
        """
        return tuple(
            entry.close(cut=cut) if isinstance(entry, OpenPart) else entry
            for entry in self._entries
        )

    def keepable(self) -> tuple[Part, ...]:
        """Return what is worth keeping of a response that was cancelled, in order.

        That is: committed parts, and open parts with the `agentkit.incomplete` mark. Open
        reasoning, open calls and empty text are left out.
        """
        kept_parts: list[Part] = []
        for entry in self._entries:
            if not isinstance(entry, OpenPart):
                kept_parts.append(entry)
            elif not isinstance(entry.part, Reasoning | ToolCall):
                part = entry.close(cut=True)
                if not isinstance(part, Text) or part.text:
                    kept_parts.append(part)
        return tuple(kept_parts)

    def _begin(self, delta: BeginPart) -> None:
        if delta.part_id in self._index:
            return self._refuse(delta, delta.part_id, "a part with this id has begun already")
        self._open(delta.part_id, delta.part)

    def _open(self, part_id: PartId, part: Part) -> OpenPart:
        open_part = OpenPart(part)
        index = self._index[part_id] = len(self._entries)
        self._entries.append(open_part)
        self._shown.append(None)
        self._mark_stale(index, part_id, open_part)
        return open_part

    def _mark_stale(self, index: int, part_id: PartId, open_part: OpenPart) -> None:
        self._stale[index] = part_id
        if isinstance(open_part.part, TAKES_TEXT):
            self._append_to[part_id] = open_part.text.append

    def _append_text(self, delta: AppendText) -> None:
        # `feed` has served the parts that take text, unless they were looked at just before.
        if delta.part_id not in self._index and not self._strict:
            self._open(delta.part_id, Text("")).text.append(delta.chunk)
            return
        open_part = self._find(delta, delta.part_id)
        if open_part is None:
            return
        if not isinstance(open_part.part, TAKES_TEXT):
            return self._refuse(delta, delta.part_id, f"{_name(open_part.part)} takes no text")
        open_part.text.append(delta.chunk)

    def _append_bytes(self, delta: AppendBytes) -> None:
        open_part = self._find(delta, delta.part_id)
        if open_part is None:
            return
        if not isinstance(open_part.part, TAKES_BYTES):
            return self._refuse(delta, delta.part_id, f"{_name(open_part.part)} takes no bytes")
        open_part.bytes.append(delta.chunk)

    def _replace(self, delta: ReplaceStructured) -> None:
        open_part = self._find(delta, delta.part_id)
        if open_part is None:
            return
        if not isinstance(open_part.part, TAKES_VALUE):
            return self._refuse(delta, delta.part_id, f"{_name(open_part.part)} has no value")
        if isinstance(open_part.part, ToolCall) and not isinstance(delta.value, dict):
            return self._refuse(delta, delta.part_id, "the input of a tool call must be an object")
        open_part.set_value(delta.value)

    def _set_metadata(self, delta: SetMetadata) -> None:
        open_part = self._find(delta, delta.part_id)
        if open_part is not None:
            open_part.merge_metadata(delta.metadata)

    def _commit(self, delta: CommitPart) -> None:
        if delta.part_id is None:
            self._entries.append(delta.part)
            self._shown.append(delta.part)
            return
        open_part = self._find(delta, delta.part_id)
        if open_part is None:
            return
        if self._strict and type(delta.part) is not type(open_part.part):
            return self._refuse(
                delta,
                delta.part_id,
                f"it began as {_name(open_part.part)} and cannot end as {_name(delta.part)}",
            )
        index = self._index[delta.part_id]
        self._entries[index] = self._shown[index] = delta.part
        self._stale.pop(index, None)
        self._append_to.pop(delta.part_id, None)

    def _find(self, delta: Delta, part_id: PartId) -> OpenPart | None:
        index = self._index.get(part_id)
        if index is None:
            self._refuse(delta, part_id, "no part with this id has begun")
            return None
        entry = self._entries[index]
        if isinstance(entry, OpenPart):
            if index not in self._stale:
                self._mark_stale(index, part_id, entry)
            return entry
        self._refuse(delta, part_id, "the part is committed already")
        return None

    def _refuse(self, delta: Delta, part_id: PartId, reason: str) -> None:
        if self._strict:
            raise DeltaOutOfOrder(type(delta).__name__, part_id, reason)


_FEED: Final[Mapping[type[Delta], Callable[[Fold, Any], None]]] = {
    BeginPart: Fold._begin,
    AppendText: Fold._append_text,
    AppendBytes: Fold._append_bytes,
    ReplaceStructured: Fold._replace,
    SetMetadata: Fold._set_metadata,
    CommitPart: Fold._commit,
}


def fold(deltas: Iterable[Delta], *, strict: bool = True, cut: bool = False) -> tuple[Part, ...]:
    """Fold all deltas of one response and return its parts; `cut` is as in `Fold.finish`.

    Raises:
        DeltaOutOfOrder: In strict mode: a delta does not fit.
    """
    response = Fold(strict=strict)
    for delta in deltas:
        response.feed(delta)
    return response.finish(cut=cut)


def _name(part: Part) -> str:
    return f"a {KIND_OF_PART[type(part)].value} part"
