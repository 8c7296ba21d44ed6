"""The parts of one response while they grow: its blocks, by their index.

How each type of block grows is in `_blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentkit_core import Item
from agentkit_core.provider import ModelEvent, PartId
from agentkit_providers._protocol_kit._lenient_values import text_or_empty
from agentkit_providers._protocol_kit._response_call_ids import ResponseCallIds
from agentkit_providers.anthropic_messages._blocks import Block, open_block


class ResponseParts:
    """Reads the blocks of one response.

    Args:
        history: The items of the request, whose call ids are not given to new calls.
    """

    def __init__(self, history: Sequence[Item]) -> None:
        self.open: dict[int, Block] = {}
        """The open blocks by their index, in the order in which they began."""
        self._part_count = 0
        self._call_count = 0
        self._call_ids = ResponseCallIds(history)
        self._has_surrogates = False

    @property
    def has_calls(self) -> bool:
        """Whether there are tool calls for the client."""
        return self._call_count > 0

    def expect_surrogates(self) -> None:
        """Take note that texts may hold lone surrogates, as only lenient reading lets through."""
        self._has_surrogates = True
        for block in self.open.values():
            block.has_surrogates = True

    def begin(self, index: int, block: dict[str, Any], out: list[ModelEvent]) -> None:
        """Take a block that begins, with its type. An open block at its index has ended."""
        before = self.open.pop(index, None)
        if before is not None:
            before.close(out)
        if block["type"] == "tool_use" and not text_or_empty(block.get("name")):
            return  # a call that cannot be run
        part_id = PartId(f"part-{self._part_count}")
        self._part_count += 1
        opened = open_block(block, part_id, self._call_id, out)
        if opened is not None:
            opened.has_surrogates = self._has_surrogates
            self.open[index] = opened

    def finish(self, index: int, out: list[ModelEvent]) -> None:
        """Take note that a block has ended; commit its part."""
        block = self.open.pop(index, None)
        if block is not None:
            block.close(out)

    def close(self, out: list[ModelEvent]) -> None:
        """Commit all open parts: the response has ended."""
        for block in self.open.values():
            block.close(out)
        self.open.clear()

    def _call_id(self, wire_id: Any) -> str:
        """Fix the id of a call; see `ResponseCallIds`."""
        call_id = self._call_ids.assign(text_or_empty(wire_id), self._call_count)
        self._call_count += 1
        return call_id
