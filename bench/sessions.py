"""Measures many sessions: the memory of an idle one, and the CPU time of a tool round.

The floor of the memory is what a hand-written loop keeps of a conversation: a list of messages. The
floor of the CPU time is that loop on httpx, with as many connections as there are conversations.

Each sample is a separate process; floor and contender take turns, as in `run.py`.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
from contender import Contender
from floor import Floor
from model_server import SHORT, text_length

HERE = Path(__file__).parent
AT_REST = 1_000
WARM = 50
ROUNDS = {1: 100, 100: 10, 1_000: 2}
"""Number of sessions at once, to the tool rounds of each. The connection pools search all
connections for each request, so a round costs more when there are many sessions."""
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=100, keepalive_expiry=30.0)
"""The limits of the contender's client."""

Talk = Callable[[str], Awaitable[Any]]
"""Runs one turn with the named model, checks it, and returns what has to stay in memory."""


def require(text: int, model: str) -> None:
    if text != text_length(SHORT):
        sys.exit(f"{model}: the text has {text} characters, expected {text_length(SHORT)}")


async def sample(who: str, base_url: str, job: str) -> float:
    async with AsyncExitStack() as stack:
        if who == "floor":
            floor = Floor(base_url, LIMITS)
            stack.push_async_callback(floor.close)

            async def talk(model: str) -> Any:
                messages = [{"role": "user", "content": "hi"}]
                text, _, _ = await floor.converse(model, messages)
                require(text, model)
                return messages

        else:
            contender = Contender(base_url)
            agents = {
                model: contender.agent(model) for model in map(model_name, (1, *ROUNDS.values()))
            }

            async def talk(model: str) -> Any:
                session = await stack.enter_async_context(agents[model].session())
                result = await session.prompt("hi")
                require(len(result.text), model)
                return session

        if job == "rest":
            return await memory(talk)
        return await cpu(talk, int(job))


def model_name(rounds: int) -> str:
    return f"loop-{rounds}-1"


async def memory(talk: Talk) -> float:
    """Return the bytes that one conversation holds after a turn with one tool round."""
    conversations = [await talk(model_name(1)) for _ in range(WARM)]
    tracemalloc.start()
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    conversations += [await talk(model_name(1)) for _ in range(AT_REST)]
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return (after - before) / AT_REST


async def cpu(talk: Talk, count: int) -> float:
    """Return the CPU seconds of a tool round, including connecting and the final answer."""
    model = model_name(ROUNDS[count])
    await talk(model)
    gc.collect()
    before = time.process_time()
    await asyncio.gather(*(talk(model) for _ in range(count)))
    return (time.process_time() - before) / (count * ROUNDS[count])


def allow_files() -> None:
    """Allow this process and its children one connection per session."""
    try:
        import resource
    except ImportError:
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = max(ROUNDS) + 200
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def measure(who: str, base_url: str, job: str) -> float:
    done = subprocess.run(
        [sys.executable, __file__, who, base_url, job], stdout=subprocess.PIPE, check=True
    )
    spent: float = json.loads(done.stdout)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    jobs = ["rest", *map(str, ROUNDS)]
    parser.add_argument("job", nargs="*", choices=[*jobs, []], help="default: all")
    parser.add_argument("--repeat", type=int, default=3, help="samples of each (default: 3)")
    options = parser.parse_args()
    allow_files()
    server = subprocess.Popen([sys.executable, HERE / "model_server.py"], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        for job in options.job or jobs:
            best = {"floor": float("inf"), "contender": float("inf")}
            for _ in range(1 if job == "1000" else options.repeat):
                for who in best:
                    best[who] = min(best[who], measure(who, base_url, job))
            floor, ours = best.values()
            if job == "rest":
                what, scale, unit = "idle", 1 / 1024, "KiB per session"
            else:
                what, scale, unit = f"{job} at once", 1e3, "ms per tool round"
            print(
                f"{what}: floor {floor * scale:.2f}, agentkit {ours * scale:.2f} {unit}, "
                f"ratio {ours / floor:.2f}",
                flush=True,
            )
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    if sys.argv[1:2] in (["floor"], ["contender"]):
        print(json.dumps(asyncio.run(sample(*sys.argv[1:4]))))
    else:
        main()
