"""The floor that ratios are to: httpx. A client that uses httpx in the usual way cannot do less."""

from __future__ import annotations

import httpx
from answers import Dialect
from floor import Floor, Reader
from hand_written import Answer, History
from worker import TIMEOUT_S

HEADERS = {"content-type": "application/json", "authorization": "Bearer bench-key"}
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None)


class HttpxFloor(Floor):
    def __init__(self, base_url: str, dialect: Dialect) -> None:
        super().__init__(base_url, dialect)
        self.client = httpx.AsyncClient(base_url=base_url, timeout=TIMEOUT_S, limits=LIMITS)

    async def ask(self, model: str, conversation: History) -> Answer:
        reader = Reader(self.dialect)
        body = self.body(model, conversation)
        async with self.client.stream("POST", self.path, content=body, headers=HEADERS) as response:
            response.raise_for_status()
            async for read in response.aiter_bytes():
                reader.feed(read)
        return reader.answer

    async def close(self) -> None:
        await self.client.aclose()
