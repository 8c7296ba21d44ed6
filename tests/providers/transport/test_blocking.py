"""What only callers without an event loop can see."""

import os
import sys
import threading
import time
from collections.abc import Callable

import httpx
import pytest

from agentkit_core import ModelRequest
from agentkit_providers import HttpModel
from agentkit_providers.replay import ReplayServer, Script, Stall
from support.tiny_chat import tiny_answer

Serve = Callable[[Script], ReplayServer]
Make = Callable[..., HttpModel]
Ask = Callable[..., ModelRequest]


def wait_until_free(server: ReplayServer) -> None:
    give_up_at = time.monotonic() + 5.0
    while server.open_connections and time.monotonic() < give_up_at:
        time.sleep(0.005)
    assert server.open_connections == 0


@pytest.mark.parametrize("how", ["close", "drop", "raise"])
def test_x04_an_answer_that_is_left_early_frees_its_connection(
    how: str, serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve([tiny_answer("a", "b").with_fault(Stall(after_events=1))] * 10)
    pool = httpx.Limits(max_connections=2)
    with httpx.Client(limits=pool, trust_env=False, verify=False) as client:
        model = tiny(server, client=client)
        for _ in range(10):
            batches = model.stream_blocking(ask())
            next(batches)
            if how == "close":
                batches.close()
            elif how == "raise":
                with pytest.raises(KeyboardInterrupt):
                    batches.throw(KeyboardInterrupt)
            del batches

        wait_until_free(server)
        assert not client.is_closed
        answering = serve([tiny_answer("at once")])
        assert tiny(answering, client=client).complete_blocking(ask()).item.text == "at once"


def test_a_client_of_the_other_kind_is_not_used_for_blocking_calls(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    model = tiny(serve([tiny_answer("a")]), client=httpx.AsyncClient(trust_env=False, verify=False))

    assert model.complete_blocking(ask()).item.text == "a"


def test_many_threads_may_ask_one_model(serve: Serve, tiny: Make, ask: Ask) -> None:
    model = tiny(serve(lambda request: tiny_answer("a", "b").with_pace(0.01)))
    said = []

    def one() -> None:
        said.append(model.complete_blocking(ask()).item.text)

    threads = [threading.Thread(target=one) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert said == ["ab"] * 10


def test_no_event_loop_is_needed_or_started(serve: Serve, tiny: Make, ask: Ask) -> None:
    before = {thread.ident for thread in threading.enumerate()}
    server = serve([tiny_answer("a")])
    serving = {thread.ident for thread in threading.enumerate()} - before

    tiny(server).complete_blocking(ask())

    assert {thread.ident for thread in threading.enumerate()} - before == serving


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_does_not_speak_on_its_parents_connections(
    serve: Serve, tiny: Make, ask: Ask
) -> None:
    server = serve(lambda request: tiny_answer(request.headers["x-who"]))
    assert tiny(server, headers={"x-who": "one"}).complete_blocking(ask()).item.text == "one"
    pid = os.fork()
    if pid == 0:
        said = tiny(server, headers={"x-who": "two"}).complete_blocking(ask()).item.text
        os._exit(0 if said == "two" else 1)

    assert os.waitpid(pid, 0)[1] == 0
    assert tiny(server, headers={"x-who": "one"}).complete_blocking(ask()).item.text == "one"
    assert server.connections == 2
