"""States as bytes: whole, in order, and refused when they are something else."""

import json

import pytest

from agentkit_core import Item, RecordError
from agentkit_loop import LoopConfig, decode_state, encode_state
from agentkit_loop.kernel import Submit, step
from support.rig import Rig


def test_the_order_of_calls_survives_a_store_that_sorts_keys() -> None:
    rig = Rig().ask().answer("z", "a")
    stored = json.dumps(json.loads(encode_state(rig.state)), sort_keys=True).encode()

    loaded = decode_state(stored)

    assert loaded == rig.state
    assert loaded.turn is not None
    assert [call.id for call in loaded.turn.calls] == ["z", "a"]


def test_a_state_of_another_version_is_refused() -> None:
    newer = json.loads(encode_state(Rig().state)) | {"version": 99}

    with pytest.raises(RecordError, match="version 99"):
        decode_state(json.dumps(newer).encode())


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"\xff", b'{"session_id": 1}'])
def test_bytes_that_are_no_state_are_refused(data: bytes) -> None:
    with pytest.raises(RecordError):
        decode_state(data)


def test_text_that_is_no_unicode_can_be_saved() -> None:
    state, _ = step(Rig().state, Submit((Item.user("half \ud83d"),)), 0)

    ((item,),) = decode_state(encode_state(state)).inputs

    assert item.text == "half \ufffd"


def test_a_config_under_which_no_tool_could_run_is_refused() -> None:
    with pytest.raises(ValueError, match="max_parallel is 0; use 1 or more"):
        LoopConfig(max_parallel=0)
