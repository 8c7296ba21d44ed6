"""The body of a request in pieces: block by block, it is the same bytes, and no block is long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_providers._protocol_kit import _encoded_request
from agentkit_providers._protocol_kit._encoded_request import BLOCK_BYTES, RequestBody


@given(
    st.lists(st.binary(max_size=9), max_size=20),
    st.sampled_from([b"", b",", b"--"]),
    st.integers(1, 40),
)
def test_the_blocks_of_a_body_are_the_body(
    pieces: list[bytes], separator: bytes, block_bytes: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_encoded_request, "BLOCK_BYTES", block_bytes)
        body = RequestBody(pieces, separator)
        first, again = list(body.blocks()), list(body.blocks())

    assert b"".join(first) == body.whole() == separator.join(pieces)
    assert body.size == len(body.whole())
    assert again == first  # a request that is sent again begins anew


def test_no_block_is_much_longer_than_the_limit() -> None:
    pieces = [b"x" * 1_000] * 3_000
    blocks = list(RequestBody(pieces, b",").blocks())

    assert len(blocks) == 3
    assert all(len(block) <= BLOCK_BYTES * 1.01 for block in blocks)


def test_a_piece_is_not_copied_where_it_is_the_whole_body() -> None:
    piece = b"x" * (2 * BLOCK_BYTES)

    assert RequestBody((piece,)).whole() is piece
    assert next(RequestBody((piece,)).blocks()) is piece
