"""A task receives the events of a run, in order, and the run never waits for it unless told to."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.to_thread
import pytest

from agentkit_loop import Agent
from agentkit_loop.events import Diagnostic, Envelope, RunFinished, RunStarted
from agentkit_loop.testing import ScriptedModel
from agentkit_reporting import QueueOverflow
from agentkit_reporting.channel import ChannelReporter
from support.runs import enveloped

FIVE = enveloped([Diagnostic(str(at)) for at in range(5)])


def put(channel: ChannelReporter, envelopes: list[Envelope]) -> None:
    for envelope in envelopes:
        channel(envelope)


async def received(channel: ChannelReporter) -> list[Envelope]:
    return [envelope async for envelope in channel]


@contextmanager
def on_a_thread(work: threading.Thread) -> Iterator[None]:
    work.start()
    yield
    work.join(5)
    assert not work.is_alive()


async def test_a_task_receives_a_run_while_it_goes_on() -> None:
    channel = ChannelReporter()
    agent = Agent(model=ScriptedModel("Hello there."), reporters=[channel])
    seen: list[Envelope] = []

    async def run() -> None:
        with channel:
            await agent.run("go")
            assert seen, "they come while it runs"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        async for envelope in channel:
            seen.append(envelope)

    assert [envelope.seq for envelope in seen] == [*range(1, len(seen) + 1)]
    assert isinstance(seen[0].event, RunStarted)
    assert isinstance(seen[-1].event, RunFinished)
    assert channel.dropped == 0


async def test_a_run_may_be_on_another_thread() -> None:
    channel = ChannelReporter(capacity=2, overflow=QueueOverflow.BLOCK)
    agent = Agent(model=ScriptedModel("Hello there."), reporters=[channel])

    def run() -> None:
        with channel:
            agent.run_blocking("go")

    with anyio.fail_after(5):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.to_thread.run_sync, run)
            seen = await received(channel)

    assert [envelope.seq for envelope in seen] == [*range(1, len(seen) + 1)]
    assert isinstance(seen[-1].event, RunFinished)
    assert channel.dropped == 0


async def test_a_channel_may_be_received_on_another_thread_than_the_one_that_made_it() -> None:
    made: list[ChannelReporter] = []
    is_made, waits = threading.Event(), threading.Event()

    def report() -> None:
        with ChannelReporter(capacity=1, overflow=QueueOverflow.BLOCK) as channel:
            made.append(channel)
            is_made.set()
            waits.wait(5)
            put(channel, FIVE)

    async def let_it_report() -> None:
        await anyio.sleep(0.01)  # by then the receiver waits
        waits.set()

    with on_a_thread(threading.Thread(target=report)), anyio.fail_after(5):
        is_made.wait(5)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(let_it_report)
            assert await received(made[0]) == FIVE


@pytest.mark.parametrize(
    ("overflow", "kept"),
    [
        (QueueOverflow.DROP_OLDEST, FIVE[2:]),
        (QueueOverflow.DROP_NEWEST, FIVE[:3]),
        # On the receiver's own thread nobody can wait.
        (QueueOverflow.BLOCK, FIVE[:3]),
    ],
)
async def test_o03_a_full_channel_drops_and_counts(
    overflow: QueueOverflow, kept: list[Envelope]
) -> None:
    channel = ChannelReporter(capacity=3, overflow=overflow)
    put(channel, FIVE)
    channel.close()

    assert channel.dropped == 2
    assert await received(channel) == kept


async def test_a_receiver_that_leaves_lets_a_run_that_waits_go_on() -> None:
    channel = ChannelReporter(capacity=1, overflow=QueueOverflow.BLOCK)
    with on_a_thread(threading.Thread(target=put, args=(channel, FIVE))):
        async for _ in channel:
            break
        channel.close()
    channel(FIVE[0])

    assert channel.dropped == 0


async def test_what_was_put_in_before_it_was_closed_is_received() -> None:
    channel = ChannelReporter()
    put(channel, FIVE)
    channel.close()
    channel.close()
    put(channel, FIVE)

    assert await received(channel) == FIVE
    assert await received(channel) == []


async def test_a_full_channel_does_not_keep_other_tasks_waiting() -> None:
    channel = ChannelReporter()
    put(channel, FIVE)
    channel.close()
    order: list[str] = []

    async def other() -> None:
        order.append("other")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(other)
        async for _ in channel:
            order.append("event")

    assert order.index("other") < len(order) - 1


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity"):
        ChannelReporter(capacity=0)
    with pytest.raises(ValueError, match="overflow"):
        ChannelReporter(overflow="forget")  # type: ignore[arg-type]
