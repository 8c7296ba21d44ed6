"""Partial JSON: what is known so far of an object that is still being sent.

Never raises. (Written next.)
"""

from __future__ import annotations

from agentkit_core._json import JsonValue


class PartialJson:
    def feed(self, text: str) -> None: ...
    def value(self) -> dict[str, JsonValue]:
        return {}
