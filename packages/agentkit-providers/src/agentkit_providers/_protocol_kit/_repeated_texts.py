"""Payloads that equal one before but for a text, as most payloads of many streams do.

Servers write events from a template: ids, names and places stay, only the text is new. Where the
bytes around the text are those of a payload that was read, the rest of the payload says what it
said then, and the text alone is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from agentkit_core import to_json
from agentkit_core.provider import AppendText, ModelEvent, PartId

_READ_TEXT: Final = msgspec.json.Decoder(str).decode
_REFUSED: Final = (msgspec.DecodeError, RecursionError)
_PROBE: Final = "(another text)"
_PROBE_JSON: Final = to_json(_PROBE)
_TRIES: Final = 4
"""How many payloads in a row may differ in more than a text before nothing else is expected."""
_MOST_BYTES: Final = 16_384
"""How long a payload may be to be compared; a text of many MB is not to be copied for that."""


class RepeatedTexts:
    """Reads payloads that differ from one that was read in nothing but the text they add."""

    __slots__ = (
        "_around",
        "_is_padded",
        "_is_verified",
        "_part_id",
        "_pieces",
        "_slices",
        "_tries",
        "is_active",
    )

    def __init__(self) -> None:
        self.is_active = False
        """Whether payloads may be taken: one was learned, and nothing has come since then that may
        have changed what such a payload means."""
        self._around = b"", b""  # the bytes before and after the text with its quotes
        self._is_verified = False  # whether the text that is added is between them
        self._is_padded = False  # whether spaces may stand among the bytes after the text
        self._slices = (
            slice(0),
            slice(0),
            slice(0),
        )  # where the bytes before, the text, those after are
        self._tries = _TRIES
        self._pieces: list[str] = []
        self._part_id = PartId("")

    def take(self, payloads: list[bytes], out: list[ModelEvent]) -> int:
        """Take payloads from the first on, as long as only their text is new; add their deltas.

        Returns:
            How many payloads were taken.
        """
        start, end = self._around
        head, body, tail = self._slices
        count = 0
        for payload in payloads:
            if payload[head] != start:
                break
            if payload[tail] == end:
                text = payload[body]
            elif self._is_padded:
                rest = payload[payload.rfind(b'"') + 1 :]
                if rest.replace(b" ", b"") != end:
                    break
                text = payload[len(start) : -len(rest)]
            else:
                break
            try:
                piece = _READ_TEXT(text)
            except _REFUSED:
                break
            if piece:
                self._pieces.append(piece)
                out.append(AppendText(self._part_id, piece))
            count += 1
        if count:
            self._tries = _TRIES
        return count

    def learn(
        self,
        payload: bytes,
        delta: AppendText,
        pieces: list[str],
        read_piece: Callable[[bytes], str],
    ) -> None:
        """Learn from a payload that was read: those that follow may be the same but for the text.

        Args:
            payload: The payload.
            delta: The last delta so far. It need not be the payload's own.
            pieces: Where the pieces of the delta's part are kept.
            read_piece: Reads the text that a payload of this shape adds; raises
                `msgspec.DecodeError` for other payloads.
        """
        self.is_active = False
        if not self._tries or len(payload) > _MOST_BYTES:
            return
        start, _, end = payload.partition(to_json(delta.chunk))
        is_padded = not end.strip(b" }]")
        if is_padded:
            end = end.replace(b" ", b"")  # Anthropic pads events, so that their length says nothing
        around = start, end
        if around != self._around:
            # The second of two that are alike is worth a closer look.
            self._tries -= 1
            self._around, self._is_verified = around, False
            return
        # The bytes of the text may also stand where another field is.
        self._is_verified = self._is_verified or _is_text_between(start, end, read_piece)
        if self._is_verified:
            self._is_padded = is_padded
            self._slices = slice(len(start)), slice(len(start), -len(end)), slice(-len(end), None)
            self._pieces, self._part_id = pieces, delta.part_id
            self.is_active = True
        else:
            self._tries -= 1


def _is_text_between(start: bytes, end: bytes, read_piece: Callable[[bytes], str]) -> bool:
    try:
        return read_piece(start + _PROBE_JSON + end) == _PROBE
    except _REFUSED:
        return False
