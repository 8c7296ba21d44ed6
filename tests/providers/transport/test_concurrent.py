"""However an answer is left, its connection is free again: on asyncio and on trio."""

import asyncio
import gc
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from contextlib import aclosing

import anyio
import pytest
import trio

from agentkit_core import Item, ModelRequest
from agentkit_core.provider import ModelEvent
from agentkit_providers import Endpoint, HttpModel
from agentkit_providers.replay import Answer, ReplayServer, Request, Script, Stall
from providers.transports import pooled_client
from support.tiny_chat import TinyChat, tiny_answer

Serve = Callable[[Script], ReplayServer]
Make = Callable[..., HttpModel]
Ask = Callable[..., ModelRequest]


LIBRARIES = ["default", "httpx", pytest.param("httpx2", marks=pytest.mark.slow)]
"""Whose client is used."""


class Broken(Exception):
    pass


async def read_one(model: HttpModel, request: ModelRequest) -> None:
    async with aclosing(model.stream(request)) as batches:
        async for _ in batches:
            break


async def drop(model: HttpModel, request: ModelRequest) -> None:
    async for _ in model.stream(request):
        break
    gc.collect()


async def never_start(model: HttpModel, request: ModelRequest) -> None:
    model.stream(request)
    await model.stream(request).aclose()


async def raise_in_the_consumer(model: HttpModel, request: ModelRequest) -> None:
    try:
        async with aclosing(model.stream(request)) as batches:
            async for _ in batches:
                raise Broken
    except Broken:
        pass
    else:
        pytest.fail("the consumer's own error was lost")


async def cancel_within_a_read(model: HttpModel, request: ModelRequest) -> None:
    with anyio.move_on_after(0.03):
        async for _ in model.stream(request):
            pass


async def cancel_before_the_first_read(model: HttpModel, request: ModelRequest) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        async for _ in model.stream(request):
            pass


async def cancel_in_the_consumer(model: HttpModel, request: ModelRequest) -> None:
    with anyio.move_on_after(0.03):
        async for _ in model.stream(request):
            await anyio.sleep_forever()


async def close_twice(model: HttpModel, request: ModelRequest) -> None:
    batches = model.stream(request)
    await anext(batches)
    await batches.aclose()
    await batches.aclose()
    with pytest.raises(StopAsyncIteration):
        await anext(batches)


WAYS = [
    read_one,
    drop,
    never_start,
    raise_in_the_consumer,
    cancel_within_a_read,
    cancel_before_the_first_read,
    cancel_in_the_consumer,
    close_twice,
]


async def freed(server: ReplayServer) -> None:
    """Wait until the server has seen all connections close, and not for long."""
    with anyio.fail_after(5.0):
        while server.open_connections:
            await anyio.sleep(0.005)


@pytest.mark.parametrize("leave", WAYS)
@pytest.mark.parametrize("library", LIBRARIES)
async def test_x04_an_answer_that_is_left_early_frees_its_connection(
    library: str,
    leave: Callable[[HttpModel, ModelRequest], Awaitable[None]],
    serve: Serve,
    tiny: Make,
    ask: Ask,
) -> None:
    left: Answer = tiny_answer("a", "b").with_fault(Stall(after_events=1))
    script = [left] * 12

    def answer(request: Request) -> Answer:
        return tiny_answer("at once") if last else script.pop()

    last = False
    server = serve(answer)
    async with pooled_client(library, max_connections=2) as client:
        model = tiny(server, client=client)
        for _ in range(4):  # twice as often as there are connections
            await leave(model, ask())
        last = True
        with anyio.fail_after(5.0):
            response = await model.complete(ask())

        assert response.item.text == "at once"
        with anyio.fail_after(5.0):
            while server.open_connections > 1:
                await anyio.sleep(0.005)
    if client is not None:
        await freed(server)


async def test_x04_cancelling_a_request_that_has_no_answer_yet_frees_its_connection(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("a").with_fault(Stall())] * 10)
    model = tiny(server)

    for _ in range(10):
        with anyio.move_on_after(0.01):
            await model.complete(ask())

    await freed(server)


@pytest.mark.parametrize("library", LIBRARIES)
def test_x04_cancelling_twice_frees_the_connection(
    library: str, serve: Serve, tiny: Make, ask: Ask
) -> None:
    """The second time by asyncio's own means, which no shield holds off."""
    server = serve([tiny_answer("a", "b").with_fault(Stall(after_events=1))] * 20)

    async def cancel_twice(model: HttpModel, between: int) -> None:
        async def read() -> None:
            async for _ in model.stream(ask()):
                pass

        reading = asyncio.create_task(read())
        await asyncio.sleep(0.02)
        reading.cancel()
        for _ in range(between):
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    async def main() -> None:
        async with pooled_client(library, max_connections=2) as client:
            for between in range(8):
                await cancel_twice(tiny(server, client=client), between)
            await freed(server)
            answering = serve([tiny_answer("at once")])
            async with asyncio.timeout(5.0):
                response = await tiny(answering, client=client).complete(ask())
            assert response.item.text == "at once"

    asyncio.run(main())


@pytest.mark.parametrize("library", LIBRARIES)
def test_x04_cancelling_at_any_moment_frees_the_connection(
    library: str, serve: Serve, tiny: Make, ask: Ask
) -> None:
    """After each number of turns of the event loop, from before the connection to after the end."""
    server = serve(lambda request: tiny_answer("a", "b"))

    async def main() -> None:
        finished = 0
        async with pooled_client(library, max_connections=1) as client:
            model = tiny(server, client=client)
            for turns in range(80):
                asking = asyncio.create_task(model.complete(ask()))
                for _ in range(turns):
                    await asyncio.sleep(0.0002 if turns % 2 else 0)
                asking.cancel()
                await asyncio.wait([asking])
                finished += not asking.cancelled()
                async with asyncio.timeout(5.0):
                    assert (await model.complete(ask())).item.text == "ab"
                assert asyncio.all_tasks() == {asyncio.current_task()}
                assert server.open_connections <= 2, "one idle, one that the server still closes"
        assert 0 < finished < 80

    asyncio.run(main())


async def test_x04_cancelling_an_upload_leaves_nothing(tiny: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        row = Endpoint(
            name="tiny",
            base_url=f"http://127.0.0.1:{deaf.getsockname()[1]}",
            key_required=False,
        )
        model = HttpModel("m", endpoint=row, projection=TinyChat())
        with anyio.move_on_after(0.1) as scope:
            await model.complete(ModelRequest(model="m", items=[Item.user("x" * 20_000_000)]))

        assert scope.cancelled_caught
        gc.collect()


async def test_what_a_read_brought_is_not_kept_while_the_next_one_is_waited_for(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    model = tiny(serve([tiny_answer("a", "b").with_fault(Stall(after_events=1))]))

    async with aclosing(model.stream(ask())) as batches:
        batch = await anext(batches)
        async with anyio.create_task_group() as group:
            group.start_soon(anext, batches)
            await anyio.sleep(0.01)
            holders = sys.getrefcount(batch)
            group.cancel_scope.cancel()

    held_here = [object()]
    assert holders == sys.getrefcount(held_here), "the stream holds the batch too"


async def test_k04_a_deadline_of_the_callers_is_the_callers(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    """It ends the call by cancelling it, and is not taken for a limit of ours."""
    server = serve([tiny_answer("a").with_fault(Stall(after_events=1))])
    model = tiny(server)
    came: list[ModelEvent] = []

    with anyio.move_on_after(0.05) as scope:
        async for events in model.stream(ask(total_s=30.0, no_content_s=30.0)):
            came += events

    assert scope.cancelled_caught
    assert not any(type(event).__name__ == "ResponseFailed" for event in came)


@pytest.mark.parametrize("run", [asyncio.run, trio.run])
def test_k02_one_model_serves_one_event_loop_after_another(
    run: Callable[..., object], serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer(f"{number}") for number in range(3)])
    model = tiny(server)
    said = []

    async def main() -> None:
        said.append((await model.complete(ask())).item.text)

    for _ in range(3):
        run(main) if run is trio.run else run(main())
        gc.collect()

    assert said == ["0", "1", "2"]
    anyio.run(freed, server)


def test_k02_one_model_serves_two_threads_each_with_its_own_loop(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve(lambda request: tiny_answer("a", "b").with_pace(0.01))
    model = tiny(server)
    said = []

    async def main() -> None:
        for _ in range(3):
            said.append((await model.complete(ask())).item.text)

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert said == ["ab"] * 6
    assert server.connections == 2


def test_k02_a_loop_that_was_closed_without_winding_up_is_forgotten(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    from agentkit_providers.transport import _clients

    server = serve(lambda request: tiny_answer("a").with_headers(connection="close"))
    model = tiny(server)
    for _ in range(3):
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(model.complete(ask())).item.text == "a"
        loop.close()

    assert len(_clients._of_loop) <= 1

    asyncio.run(model.complete(ask()))
    assert len(_clients._of_loop) == 0


async def test_many_answers_at_once_share_nothing_but_the_client(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve(lambda request: tiny_answer("a", "b", "c").with_pace(0.01))
    model = tiny(server)
    said = []

    async def one() -> None:
        said.append((await model.complete(ask())).item.text)

    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(one)

    assert said == ["abc"] * 50
