"""A reporter that raises, blocks or is slow at every event changes nothing of a run.

Only `fail_fast` stops a run, which is what it is for. The runs are random: answers, calls that
work, fail or are denied, and model calls that fail and are tried again.
"""

from __future__ import annotations

import errno
import io
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit_core import Item, ModelOptions
from agentkit_loop import Agent, TurnResult
from agentkit_loop.events import Envelope
from agentkit_loop.testing import ManualClock, Reply, Scripted, ScriptedModel, call, fail, say
from agentkit_reporting import (
    BackgroundReporter,
    BufferedReporter,
    FailurePolicy,
    GuardedReporter,
    JsonlReporter,
    QueueOverflow,
    TeeReporter,
    TextReporter,
    TranscriptReporter,
)
from agentkit_reporting.channel import ChannelReporter
from agentkit_tools_core import tool
from support.examples import examples
from support.forms import FORMS, Form

Reporter = Callable[[Envelope], None]

TOLERANT = [policy for policy in FailurePolicy if policy is not FailurePolicy.FAIL_FAST]


@tool
def look() -> str:
    """Look."""
    return "seen"


@tool
def trip() -> str:
    """Fail."""
    raise RuntimeError("it broke")


@tool(needs_approval=True)
def pay() -> str:
    """Pay."""
    return "paid"


TOOLS = [look, trip, pay]

names = st.sampled_from(["look", "trip", "pay", "nothing"])
rounds = st.lists(names, min_size=1, max_size=3).map(
    lambda chosen: Reply.of("So.", *(call(name, {}, f"c{at}") for at, name in enumerate(chosen)))
)
steps = st.one_of(rounds, st.just(fail()), st.just(Reply.of("Hel", failure=fail())))
ends = st.sampled_from([say("Done."), Reply.of(""), fail(retryable=False)])
scripts = st.tuples(st.lists(steps, max_size=3), ends).map(lambda parts: [*parts[0], parts[1]])


def raises(_: Envelope) -> None:
    raise ValueError("telemetry is down")


def leaves_a_mess(envelope: Envelope) -> None:
    envelope.no_such_thing  # type: ignore[attr-defined]  # noqa: B018


def is_slow(_: Envelope) -> None:
    time.sleep(0.0002)


def is_slow_and_raises(envelope: Envelope) -> None:
    is_slow(envelope)
    raises(envelope)


@contextmanager
def guarded(policy: FailurePolicy) -> Iterator[Reporter]:
    yield GuardedReporter(raises, policy)


@contextmanager
def beside_others(policy: FailurePolicy) -> Iterator[Reporter]:
    yield TeeReporter(raises, BufferedReporter(leaves_a_mess, 3), is_slow, policy=policy)


@contextmanager
def blocked(policy: FailurePolicy, overflow: QueueOverflow) -> Iterator[Reporter]:
    gate = threading.Event()

    def wait(_: Envelope) -> None:
        gate.wait(10)

    report = BackgroundReporter(wait, capacity=3, overflow=overflow, policy=policy)
    yield report
    gate.set()
    report.close()
    assert report.dropped > 0


@contextmanager
def slow_on_a_thread(policy: FailurePolicy) -> Iterator[Reporter]:
    with BackgroundReporter(
        is_slow_and_raises, capacity=1, overflow=QueueOverflow.BLOCK, policy=policy
    ) as report:
        yield report
    assert report.dropped == 0


@contextmanager
def unread(overflow: QueueOverflow) -> Iterator[Reporter]:
    with ChannelReporter(capacity=2, overflow=overflow) as channel:
        yield channel
    assert channel.dropped > 0


@contextmanager
def plain(reporter: Reporter) -> Iterator[Reporter]:
    yield reporter


class Broken(io.StringIO):
    """A terminal that is closed, or a disk that is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self.error = error

    def write(self, _: str) -> int:
        raise self.error


TRIALS: dict[str, Callable[[], AbstractContextManager[Reporter]]] = {
    "raises": partial(plain, raises),
    "leaves a mess": partial(plain, leaves_a_mess),
    "slow": partial(plain, is_slow),
    "closed pipe": partial(plain, TextReporter(Broken(BrokenPipeError()))),
    "full disk": partial(plain, JsonlReporter(Broken(OSError(errno.ENOSPC, "no space left")))),
    **{f"guarded, {each}": partial(guarded, each) for each in TOLERANT},
    **{f"beside others, {each}": partial(beside_others, each) for each in TOLERANT},
    **{f"slow on a thread, {each}": partial(slow_on_a_thread, each) for each in TOLERANT},
    "blocked, drops oldest": partial(blocked, FailurePolicy.LOG, QueueOverflow.DROP_OLDEST),
    "blocked, drops newest": partial(blocked, FailurePolicy.IGNORE, QueueOverflow.DROP_NEWEST),
    **{f"unread, {each}": partial(unread, each) for each in QueueOverflow},
}


def run(
    form: Form, script: list[Scripted], *reporters: Reporter
) -> tuple[tuple[Item, ...], TurnResult]:
    clock = ManualClock(1_000)
    agent = Agent(
        model=ScriptedModel(*script),
        tools=TOOLS,
        options=ModelOptions(temperature=0.0),
        reporters=reporters,
        on_approval=lambda request: request.id.endswith(tuple("02468ace")),
        clock=clock,
        jitter=lambda: 0.0,
    )

    async def in_form() -> tuple[tuple[Item, ...], TurnResult]:
        async with form.opened(agent) as session:
            result = await form.do(session, "prompt", "go")
            return tuple(session.transcript), result

    return form.run(in_form)


@pytest.mark.parametrize("form", FORMS)
@given(script=scripts, data=st.data())
@examples(10)
def test_o03_no_reporter_changes_a_run(
    form: str, script: list[Scripted], data: st.DataObject
) -> None:
    expected, result = run(Form(form), script)
    name = data.draw(st.sampled_from([*TRIALS]))
    before, after = TranscriptReporter(), TranscriptReporter()
    with TRIALS[name]() as reporter:
        transcript, outcome = run(Form(form), script, before, reporter, after)

    assert transcript == expected
    assert outcome == result
    assert before.items == after.items == transcript


@pytest.mark.parametrize("name", TRIALS)
def test_o03_this_reporter_changes_nothing_of_a_run_with_all_there_is(name: str) -> None:
    both = Reply.of("So.", call("pay", {}, "a"), call("trip", {}, "b"), call("look", {}, "c"))
    script: list[Scripted] = [both, Reply.of("Hel", failure=fail()), say("Done.")]
    form = Form("blocking")
    expected = run(form, script)
    others = TranscriptReporter()
    with TRIALS[name]() as reporter:
        assert run(form, script, reporter, others) == expected

    assert others.items == expected[0]
    assert others.complete
