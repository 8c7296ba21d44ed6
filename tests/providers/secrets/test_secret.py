import copy
import json
import pickle
import traceback

import msgspec
import pytest

from agentkit_providers import Secret

KEY = "sk-test-SECRET123"


@pytest.mark.parametrize(
    "write",
    [
        repr,
        str,
        "{}".format,
        "{:>40}".format,
        "{!r}".format,
        lambda secret: repr({"key": [secret]}),
        lambda secret: json.dumps(secret, default=str),
        lambda secret: msgspec.json.encode(secret, enc_hook=repr).decode(),
        lambda secret: str(vars(type(secret))),
    ],
)
def test_z06_a_secret_is_masked_wherever_it_is_written(write) -> None:  # type: ignore[no-untyped-def]
    assert "SECRET123" not in write(Secret(KEY))


@pytest.mark.parametrize(
    "write", [pickle.dumps, json.dumps, msgspec.json.encode, msgspec.msgpack.encode]
)
def test_z06_a_secret_cannot_be_stored_and_the_refusal_does_not_show_it(write) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(TypeError) as refused:
        write(Secret(KEY))

    assert "SECRET123" not in "".join(traceback.format_exception(refused.value))


def test_a_secret_is_revealed_to_who_asks_for_it() -> None:
    assert Secret(KEY).reveal() == KEY


def test_white_space_around_a_key_is_dropped() -> None:
    assert Secret(f" {KEY}\r\n").reveal() == KEY


def test_secrets_are_equal_when_their_values_are_and_never_equal_to_text() -> None:
    assert Secret(KEY) == Secret(KEY)
    assert hash(Secret(KEY)) == hash(Secret(KEY))
    assert Secret(KEY) != Secret("other")
    assert Secret(KEY) != KEY


def test_an_empty_secret_is_false() -> None:
    assert not Secret("  ")
    assert Secret(KEY)


def test_a_copy_within_the_process_is_the_same_secret() -> None:
    assert copy.deepcopy({"key": Secret(KEY)})["key"].reveal() == KEY
    assert copy.copy(Secret(KEY)).reveal() == KEY


@pytest.mark.parametrize("value", [KEY.encode(), None, 12345678, [KEY]])
def test_vs16_a_secret_holds_a_string(value: object) -> None:
    with pytest.raises(TypeError, match="a Secret holds a string") as refused:
        Secret(value)  # type: ignore[arg-type]

    assert "SECRET123" not in str(refused.value)


def test_vs16_the_state_of_a_secret_is_not_given_away() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        Secret(KEY).__getstate__()
