"""One request as a transport takes it: all that the network has to know."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agentkit_core import MetadataMap, ProviderFailure, Timeouts
from agentkit_core.provider import ResponseDecoder


class Call:
    """One request, ready for the network; it holds the key, so it shows nothing of itself.

    Args:
        url: Whole, without a key in it.
        headers: All of them, the key's among them.
        decoder: Makes the decoder of the answer, given whether it comes in pieces.
        refused: Says what an answer with a status other than 2xx means, given status, headers
            (names in lower case) and body, cut where it is long.
        metadata: What the encoder decided; goes into the metadata of the last event.
        secrets: Values that must not show in any failure.
    """

    __slots__ = (
        "body",
        "decoder",
        "headers",
        "metadata",
        "method",
        "refused",
        "secrets",
        "streamed",
        "timeouts",
        "url",
    )

    def __init__(
        self,
        *,
        method: str,
        url: str,
        headers: dict[str, str],
        body: bytes,
        timeouts: Timeouts,
        streamed: bool,
        decoder: Callable[[bool], ResponseDecoder],
        refused: Callable[[int, Mapping[str, str], bytes], ProviderFailure],
        metadata: MetadataMap,
        secrets: tuple[str, ...],
    ) -> None:
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeouts = timeouts
        self.streamed = streamed
        self.decoder = decoder
        self.refused = refused
        self.metadata = metadata
        self.secrets = secrets
