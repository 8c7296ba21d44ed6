"""Ids for the tool calls of one response."""

from __future__ import annotations

from collections.abc import Sequence

from agentkit_core import Item


class ResponseCallIds:
    """Gives each tool call of one response an id that is unique in the response.

    A call keeps the provider's id. A call without one, or with that of an earlier call of the
    response, gets a new id: `call_0`, `call_1`, …, leaving out those of the request's history. So
    calls of later responses do not get the same new ids again.

    Args:
        history: The items of the request. They are read when the first new id is needed.
    """

    def __init__(self, history: Sequence[Item]) -> None:
        self._history = history
        self._used: set[str] = set()
        self._known: set[str] | None = None

    def assign(self, wire_id: str, position: int) -> str:
        """Return the id of the next call.

        Args:
            wire_id: The provider's id; empty where it sent none.
            position: The call's position in the response; new ids count from there.
        """
        call_id = wire_id
        while not call_id or call_id in self._used or self._is_known(call_id, wire_id):
            call_id, position = f"call_{position}", position + 1
        self._used.add(call_id)
        return call_id

    def _is_known(self, call_id: str, wire_id: str) -> bool:
        if call_id == wire_id:
            return False  # a provider may use the same ids in every response
        if self._known is None:
            self._known = {call.id for item in self._history for call in item.tool_calls}
        return call_id in self._known
