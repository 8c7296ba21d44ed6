"""How connections of our own clients are kept: how many, how long, and seen to be alive."""

from __future__ import annotations

import socket
from typing import Final

MAX_IDLE: Final = 100
"""How many idle connections a client keeps. The caller decides how many calls run at once."""

IDLE_S: Final = 30.0
"""How long an idle connection is kept, in seconds. A tool round between two calls may take some."""

DRAIN_S: Final = 0.25
"""How long to wait, after the response's end mark, for the end of the body, in seconds. Only a body
that was read to its end leaves a connection that can be used again."""


def _keep_alive() -> list[tuple[int, int, int]]:
    idle = "TCP_KEEPIDLE" if hasattr(socket, "TCP_KEEPIDLE") else "TCP_KEEPALIVE"  # at Apple
    values = ((idle, 60), ("TCP_KEEPINTVL", 60), ("TCP_KEEPCNT", 5))
    return [
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *(
            (socket.IPPROTO_TCP, getattr(socket, name), value)
            for name, value in values
            if hasattr(socket, name)
        ),
    ]


KEEP_ALIVE: Final = _keep_alive()
"""Socket options that show a silent connection to be alive, before middleboxes drop it."""
