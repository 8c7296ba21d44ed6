"""Bodies that are compressed in any way, and bodies without end."""

from __future__ import annotations

import gzip
import json
import sys
import tracemalloc
import zlib
from types import ModuleType
from typing import Any

import pytest
from msgspec.structs import replace

from agentkit_core import FailureKind, Item, ModelRequest, ModelResponse
from agentkit_core.provider import fold_response
from agentkit_providers import connect
from agentkit_providers.replay import Answer, ReplayServer, openai_chat

TEXT = openai_chat.text("hello there, this is a longer text")


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def ask(answer: Answer, *, streamed: bool = True, **options: Any) -> ModelResponse:
    with ReplayServer([answer]) as server:
        model = connect("compatible:m", base_url=server.url, **options)
        request = ModelRequest(model="m", items=(Item.user("hi"),), streamed=streamed)
        return model.complete_blocking(request)


def coded(coding: str, *pieces: bytes, status: int = 200) -> Answer:
    answer = Answer(pieces=pieces, status=status, content_type=TEXT.content_type)
    return answer.with_headers(content_encoding=coding)


BODIES = {
    "each event a gzip member": ("gzip", [gzip.compress(piece) for piece in TEXT.pieces]),
    "all members in one piece": ("gzip", [b"".join(map(gzip.compress, TEXT.pieces))]),
    "zeros between members": ("gzip", [gzip.compress(piece) + b"\0\0" for piece in TEXT.pieces]),
    "garbage behind the last": ("gzip", [gzip.compress(TEXT.body), b"garbage"]),
    "x-gzip": ("x-gzip", [gzip.compress(TEXT.body)]),
    "capitals": ("GZIP", [gzip.compress(TEXT.body)]),
    "zlib": ("deflate", [zlib.compress(TEXT.body)]),
    "raw deflate": ("deflate", [raw_deflate(TEXT.body)]),
    "two codings": ("deflate, gzip", [gzip.compress(zlib.compress(TEXT.body))]),
    "identity as well": ("identity, gzip", [gzip.compress(TEXT.body)]),
    "none": ("none", [TEXT.body]),
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("size", [1, 7, 0])
def test_vp21_every_coding_is_undone_however_it_is_cut(name: str, size: int) -> None:
    coding, pieces = BODIES[name]
    if size:
        body = b"".join(pieces)
        pieces = [body[at : at + size] for at in range(0, len(body), size)]

    response = ask(coded(coding, *pieces))

    assert response.failure is None
    assert response.item.text == "hello there, this is a longer text"


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "future"])
def test_vp21_a_coding_that_cannot_be_undone_is_named(
    coding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("brotli", "brotlicffi", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    failure = ask(coded(coding, b"\x1b\x00\x00")).failure

    assert failure is not None
    assert failure.kind is FailureKind.PROTOCOL
    assert not failure.retryable
    assert repr(coding) in failure.message

    denied = ask(coded(coding, b"\x1b\x00", status=401)).failure
    assert denied is not None
    assert denied.kind is FailureKind.AUTH


def test_vp21_br_is_undone_where_its_package_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Decompressor:
        def __init__(self) -> None:
            self._stream = zlib.decompressobj()

        def process(self, data: bytes) -> bytes:
            return self._stream.decompress(data)

    library = ModuleType("brotli")
    library.Decompressor = Decompressor  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "brotli", library)

    assert ask(coded("br", zlib.compress(TEXT.body))).failure is None


def test_vp21_an_error_that_is_compressed_is_read() -> None:
    body = json.dumps({"error": {"message": "the key is wrong"}}).encode()
    for coding, data in (("gzip", gzip.compress(body)), ("deflate", raw_deflate(body))):
        failure = ask(coded(coding, data, status=401)).failure

        assert failure is not None
        assert failure.message == "the key is wrong"


def bomb(size: int, coding: str) -> bytes:
    packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    head = b'{"choices": [{"message": {"content": "'
    packed = packer.compress(head)
    for _ in range(size // 1_000_000):
        packed += packer.compress(b"a" * 1_000_000)
    return packed + packer.compress(b'"}, "finish_reason": "stop"}]}') + packer.flush()


def endless_bomb(size: int, coding: str) -> bytes:
    """As `bomb`, and made at once: after a full flush, the same bytes may be repeated.

    Its end is missing, which nobody should come to.
    """
    packer = zlib.compressobj(9, wbits=31 if coding == "gzip" else 15)
    head = packer.compress(b'{"choices": [{"message": {"content": "')
    head += packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(b"a" * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * (size // 1_000_000)


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("status", [200, 500])
def test_vs08_a_few_bytes_that_become_gigabytes_are_refused(coding: str, status: int) -> None:
    answer = replace(
        coded(coding, endless_bomb(400_000_000, coding), status=status),
        content_type="application/json",
    )
    tracemalloc.start()
    response = ask(answer, streamed=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert response.failure is not None
    assert peak < 200_000_000
    if status == 200:
        assert response.failure.kind is FailureKind.PROTOCOL
        assert "max_response_bytes" in response.failure.message
        assert not response.failure.retryable


def test_vs08_an_answer_of_eight_megabytes_comes_through() -> None:
    for data, coding in ((bomb(8_000_000, "gzip"), "gzip"), (None, "identity")):
        whole = {"choices": [{"message": {"content": "a" * 8_000_000}, "finish_reason": "stop"}]}
        body = json.dumps(whole).encode() if data is None else data
        answer = replace(coded(coding, body), content_type="application/json")
        response = ask(answer, streamed=False)

        assert response.failure is None
        assert len(response.item.text) == 8_000_000


@pytest.mark.parametrize("streamed", [True, False])
def test_vs08_the_limit_can_be_set_and_keeps_what_came(streamed: bool) -> None:
    assert ask(TEXT, streamed=streamed, max_response_bytes=len(TEXT.body)).failure is None

    response = ask(TEXT, streamed=streamed, max_response_bytes=100)
    assert response.failure is not None
    assert "100 bytes" in response.failure.message


def test_vs08_one_line_of_a_stream_has_no_end_either() -> None:
    from agentkit_providers.endpoints import default_registry

    projection: Any = default_registry.projection(default_registry.get("compatible"))
    decoder = projection.decoder(ModelRequest(model="m", items=(Item.user("hi"),)))
    assert fold_response(decoder.feed(b"data: " + b"a" * 1000)).failure is not None
    response = ask(
        Answer(pieces=tuple(b"data: " + b"a" * 1000 for _ in range(50))), max_response_bytes=20_000
    )
    assert response.failure is not None
    assert "max_response_bytes" in response.failure.message
