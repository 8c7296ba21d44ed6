"""One coroutine for both worlds: it runs to its end at once, or says that it needs a loop."""

import asyncio

import pytest

from agentkit_tools_core.sync import NeedsEventLoop, await_if_needed, run_at_once


async def double(number: int) -> int:
    return 2 * number


async def added(*numbers: object) -> list[object]:
    return [await await_if_needed(number) for number in numbers]


def test_values_and_awaitables_come_to_the_same() -> None:
    assert run_at_once(added(1, double(2))) == [1, 4]
    assert asyncio.run(added(1, double(2))) == [1, 4]


def test_what_suspends_is_closed_and_named() -> None:
    cleaned = []

    async def waits() -> None:
        try:
            await asyncio.sleep(0)
        finally:
            cleaned.append(True)

    with pytest.raises(NeedsEventLoop, match="asynchronous"):
        run_at_once(waits())
    assert cleaned == [True]


def test_what_a_coroutine_raises_is_raised() -> None:
    async def fails() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError):
        run_at_once(fails())
