"""The fold: deltas in, parts out, in the order in which the parts began.

Strict, a delta that does not fit raises and leaves the fold as it was; lenient, it is passed
over, except that text for an unknown part opens a text part. One pass, linear in what is fed:
chunks are collected and joined once. Splitting any chunk anywhere changes nothing.

    delta                 fits                                       does
    BeginPart             an id not seen yet                         opens the part in its place
    AppendText            text, reasoning, tool call                 collects text
    AppendBytes           media, file, reasoning, custom             collects bytes
    ReplaceStructured     structured, custom, tool call (an object)  replaces value and text
    SetMetadata           any open part                              merges; None deletes a key
    CommitPart with id    an open part of that kind                  replaces it, in its place
    CommitPart without    always                                     adds a part at the end

A kind that does not match at `CommitPart` is an error in strict mode; else the commit wins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec.structs import replace

from agentkit_core._errors import DeltaOutOfOrder
from agentkit_core._ids import PartId
from agentkit_core._json import JsonValue, without_lone_surrogates
from agentkit_core._metadata import MetadataMap
from agentkit_core._part import (
    KIND_OF_PART,
    Custom,
    File,
    InlineBytes,
    InlineText,
    Media,
    Part,
    Reasoning,
    Structured,
    Text,
    ToolCall,
)
from agentkit_core._streaming._call_arguments import complete_call
from agentkit_core._streaming._delta import (
    AppendBytes,
    AppendText,
    BeginPart,
    CommitPart,
    Delta,
    ReplaceStructured,
    SetMetadata,
)
from agentkit_core._streaming._partial_json import PartialJson

INCOMPLETE_KEY: Final = "agentkit.incomplete"
"""Metadata of a part that was still open when its stream was cut: True."""

_TAKES_TEXT: Final = (Text, Reasoning, ToolCall)
_TAKES_BYTES: Final = (Media, File, Reasoning, Custom)
_TAKES_VALUE: Final = (Structured, Custom, ToolCall)


class _Open:
    """A part while it grows: as it began, and what came since."""

    __slots__ = ("arguments", "bytes", "metadata", "part", "text", "value")

    def __init__(self, part: Part) -> None:
        self.part = part
        self.text: list[str] = []
        self.bytes: list[bytes] = []
        self.metadata: MetadataMap | None = None
        self.value: JsonValue = _NOTHING
        self.arguments: tuple[PartialJson, int] | None = None

    def changed(self) -> dict[str, Any]:
        """The fields that came since it began, other than a call's arguments."""
        part, changes = self.part, dict[str, Any]()
        if self.metadata is not None:
            changes["metadata"] = dict(self.metadata)
        if self.value is not _NOTHING:
            changes["input" if type(part) is ToolCall else "value"] = self.value
        if self.text:
            match part:
                case Text():
                    changes["text"] = self._joined(part.text)
                case Reasoning():
                    changes["summary"] = self._joined(part.summary or "")
                case _:
                    pass
        if self.bytes:
            match part:
                case Media() | File() | Reasoning() | Custom():
                    changes["data"] = InlineBytes(_bytes_of(part.data) + self._joined_bytes())
                case _:
                    pass
        return changes

    def _joined(self, opening: str) -> str:
        # Joining in place keeps asking for the partial view from joining it all again.
        self.text[:] = ["".join(self.text)]
        return opening + self.text[0]

    def _joined_bytes(self) -> bytes:
        self.bytes[:] = [b"".join(self.bytes)]
        return self.bytes[0]

    def so_far(self) -> Part:
        """The part as far as it is known; a call has what can be read of its arguments."""
        part, changes = self.part, self.changed()
        if type(part) is ToolCall and self.text and (known := self._arguments_so_far()):
            changes["input"] = known
        return replace(part, **changes) if changes else part

    def _arguments_so_far(self) -> dict[str, JsonValue]:
        reader, read = self.arguments or (PartialJson(), 0)
        reader.feed("".join(self.text[read:]))
        self.arguments = reader, len(self.text)
        return reader.value()

    def closed(self, *, cut: bool) -> Part:
        """The part as it is when nothing more comes."""
        part, changes = self.part, self.changed()
        if cut:
            metadata = changes.get("metadata", part.metadata)
            changes["metadata"] = {**metadata, INCOMPLETE_KEY: True}
        if changes:
            part = replace(part, **changes)
        if type(part) is ToolCall and part.input_error is None:
            return complete_call(part, "".join(self.text), cut=cut)
        return part


_NOTHING: Final[Any] = object()


class Fold:
    """Folds the deltas of one response into parts.

    Args:
        strict: Raise `DeltaOutOfOrder` on a delta that does not fit; else pass over it.
    """

    def __init__(self, *, strict: bool = True) -> None:
        self._strict = strict
        self._order: list[_Open | Part] = []
        self._place: dict[PartId, int] = {}
        self._text_of: dict[PartId, Callable[[str], None]] = {}

    @property
    def has_parts(self) -> bool:
        """Whether any part has begun."""
        return bool(self._order)

    def feed(self, delta: Delta) -> None:
        """Take one delta.

        Raises:
            DeltaOutOfOrder: If strict, it does not fit; the fold is as it was.
        """
        if type(delta) is AppendText:
            grow = self._text_of.get(delta.part_id)
            if grow is not None:
                grow(delta.chunk)
                return
        _FEED[type(delta)](self, delta)

    def parts(self) -> tuple[Part, ...]:
        """The parts that are committed, in the order in which they began."""
        return tuple(one for one in self._order if not isinstance(one, _Open))

    def partial(self) -> tuple[Part, ...]:
        """All parts as far as they are known, open ones included, in order.

        May be asked at any moment; the arguments of an open call are what can be read of
        them so far (see `PartialJson`).
        """
        return tuple(one.so_far() if isinstance(one, _Open) else one for one in self._order)

    def finish(self, *, cut: bool = False) -> tuple[Part, ...]:
        """Close what is open and return all parts, in order; the fold may be asked again.

        Args:
            cut: Whether the stream broke off. Then parts that were open carry
                `agentkit.incomplete` in their metadata, and calls among them are marked so that
                nobody runs them.
        """
        return tuple(one.closed(cut=cut) if isinstance(one, _Open) else one for one in self._order)

    def keepable(self) -> tuple[Part, ...]:
        """What is worth keeping of a response that is cut off on purpose, in order.

        Committed parts, and open ones with the `agentkit.incomplete` mark; open reasoning,
        open calls and empty text are left out.
        """
        kept: list[Part] = []
        for one in self._order:
            if not isinstance(one, _Open):
                kept.append(one)
            elif not isinstance(one.part, Reasoning | ToolCall):
                part = one.closed(cut=True)
                if not isinstance(part, Text) or part.text:
                    kept.append(part)
        return tuple(kept)

    def _begin(self, delta: BeginPart) -> None:
        if delta.part_id in self._place:
            return self._refuse(delta, delta.part_id, "a part of that id has begun already")
        self._open(delta.part_id, delta.part)

    def _open(self, part_id: PartId, part: Part) -> _Open:
        opened = _Open(part)
        self._place[part_id] = len(self._order)
        self._order.append(opened)
        if isinstance(part, _TAKES_TEXT):
            self._text_of[part_id] = opened.text.append
        return opened

    def _append_text(self, delta: AppendText) -> None:
        # Parts that take text were served in `feed`.
        if delta.part_id not in self._place and not self._strict:
            self._open(delta.part_id, Text("")).text.append(delta.chunk)
            return
        opened = self._find(delta, delta.part_id)
        if opened is not None:
            self._refuse(delta, delta.part_id, f"{_kind(opened.part)} takes no text")

    def _append_bytes(self, delta: AppendBytes) -> None:
        opened = self._find(delta, delta.part_id)
        if opened is None:
            return
        if not isinstance(opened.part, _TAKES_BYTES):
            return self._refuse(delta, delta.part_id, f"{_kind(opened.part)} takes no bytes")
        opened.bytes.append(delta.chunk)

    def _replace(self, delta: ReplaceStructured) -> None:
        opened = self._find(delta, delta.part_id)
        if opened is None:
            return
        if not isinstance(opened.part, _TAKES_VALUE):
            return self._refuse(delta, delta.part_id, f"{_kind(opened.part)} holds no value")
        if isinstance(opened.part, ToolCall) and not isinstance(delta.value, dict):
            return self._refuse(delta, delta.part_id, "the input of a tool call is an object")
        opened.text.clear()
        opened.arguments = None
        opened.value = delta.value

    def _set_metadata(self, delta: SetMetadata) -> None:
        opened = self._find(delta, delta.part_id)
        if opened is not None:
            if opened.metadata is None:
                opened.metadata = dict(opened.part.metadata)
            for key, value in delta.metadata.items():
                if value is None:
                    opened.metadata.pop(key, None)
                else:
                    opened.metadata[key] = value

    def _commit(self, delta: CommitPart) -> None:
        if delta.part_id is None:
            self._order.append(delta.part)
            return
        opened = self._find(delta, delta.part_id)
        if opened is None:
            return
        if self._strict and type(delta.part) is not type(opened.part):
            return self._refuse(
                delta,
                delta.part_id,
                f"it began as {_kind(opened.part)} and cannot end as {_kind(delta.part)}",
            )
        self._order[self._place[delta.part_id]] = delta.part
        self._text_of.pop(delta.part_id, None)

    def _find(self, delta: Delta, part_id: PartId) -> _Open | None:
        place = self._place.get(part_id)
        if place is None:
            self._refuse(delta, part_id, "no part of that id has begun")
            return None
        found = self._order[place]
        if isinstance(found, _Open):
            return found
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
    """Fold all deltas of one response; see `Fold.finish` for `cut`.

    Raises:
        DeltaOutOfOrder: If strict, a delta does not fit.
    """
    folding = Fold(strict=strict)
    for delta in deltas:
        folding.feed(delta)
    return folding.finish(cut=cut)


def _kind(part: Part) -> str:
    return f"a {KIND_OF_PART[type(part)].value} part"


def _bytes_of(data: object) -> bytes:
    match data:
        case InlineBytes(data=known):
            return known
        case InlineText(text=text):
            return without_lone_surrogates(text).encode()
        case _:
            return b""
