"""A failing reporter harms nobody, and its failures mean what its policy says."""

from __future__ import annotations

import logging

import pytest

from agentkit_loop import ReporterFailed
from agentkit_loop.events import Diagnostic, Envelope, RunFinished
from agentkit_reporting import FailurePolicy, GuardedReporter, TeeReporter
from support.runs import enveloped

THREE = enveloped([Diagnostic("a"), Diagnostic("b"), RunFinished()])


class Broken:
    """Fails at every event."""

    def __init__(self) -> None:
        self.received: list[Envelope] = []

    def __call__(self, envelope: Envelope) -> None:
        self.received.append(envelope)
        raise ValueError(f"no {envelope.seq}")


def tell(report: GuardedReporter | TeeReporter) -> None:
    for envelope in THREE:
        report(envelope)


def test_r06_ignored_failures_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    broken = Broken()
    guarded = GuardedReporter(broken, FailurePolicy.IGNORE)
    tell(guarded)

    assert (guarded.failures, guarded.take_errors(), caplog.records) == (3, [], [])
    assert broken.received == THREE, "it goes on being told"


def test_o03_a_failure_is_logged_once_then_counted_and_summed_up_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    guarded = GuardedReporter(Broken())
    with caplog.at_level(logging.ERROR, "agentkit_reporting"):
        tell(guarded)

    first, last = caplog.records
    assert first.exc_info
    assert "Broken" in first.getMessage()
    assert "3 times" in last.getMessage()


def test_z06_what_an_event_holds_does_not_reach_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    (envelope,) = enveloped([Diagnostic("sk-test-SECRET123")])
    for policy in FailurePolicy:
        guarded = GuardedReporter(Broken(), policy)
        if policy is FailurePolicy.FAIL_FAST:
            with pytest.raises(ReporterFailed) as caught:
                guarded(envelope)
            assert "SECRET123" not in f"{caught.value!r} {caught.value.to_json()}"
        else:
            guarded(envelope)
        assert "SECRET123" not in repr(guarded)

    assert caplog.records
    assert "SECRET123" not in caplog.text


def test_one_failure_needs_no_sum(caplog: pytest.LogCaptureFixture) -> None:
    guarded = GuardedReporter(Broken())
    guarded(THREE[0])
    guarded.reporter = lambda envelope: None
    guarded(THREE[2])

    assert len(caplog.records) == 1


def test_r06_accumulated_errors_are_taken_once() -> None:
    guarded = GuardedReporter(Broken(), FailurePolicy.ACCUMULATE)
    tell(guarded)

    assert [str(error) for error in guarded.take_errors()] == ["no 1", "no 2", "no 3"]
    assert guarded.take_errors() == []
    assert guarded.failures == 3


def test_accumulated_errors_are_bounded() -> None:
    guarded = GuardedReporter(Broken(), FailurePolicy.ACCUMULATE)
    for _ in range(150):
        guarded(THREE[0])

    assert (len(guarded.take_errors()), guarded.failures) == (100, 150)


def test_r06_fail_fast_asks_the_driver_to_stop() -> None:
    guarded = GuardedReporter(Broken(), FailurePolicy.FAIL_FAST)

    with pytest.raises(ReporterFailed, match="ValueError: no 1") as caught:
        guarded(THREE[0])
    assert isinstance(caught.value.__cause__, ValueError)


def stop(envelope: Envelope) -> None:
    raise ReporterFailed("enough")


@pytest.mark.parametrize("policy", FailurePolicy)
def test_a_reporter_that_wants_to_stop_the_run_does(policy: FailurePolicy) -> None:
    with pytest.raises(ReporterFailed, match="enough"):
        GuardedReporter(stop, policy)(THREE[0])


def test_what_is_meant_to_end_the_program_passes_through() -> None:
    def interrupt(envelope: Envelope) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GuardedReporter(interrupt, FailurePolicy.IGNORE)(THREE[0])


def test_r05_o03_all_are_told_in_order_though_one_fails() -> None:
    order: list[str] = []
    good: list[Envelope] = []

    def first(envelope: Envelope) -> None:
        order.append("first")
        raise ValueError

    def last(envelope: Envelope) -> None:
        order.append("last")
        good.append(envelope)

    tee = TeeReporter(first, last, policy=FailurePolicy.IGNORE)
    tell(tee)

    assert good == THREE
    assert order == ["first", "last"] * 3
    assert tee.failures == 3


def test_o03_all_are_told_before_the_run_is_stopped() -> None:
    good: list[Envelope] = []
    fast = GuardedReporter(Broken(), FailurePolicy.FAIL_FAST)

    with pytest.raises(ReporterFailed, match="no 1"):
        TeeReporter(fast, stop, good.append)(THREE[0])
    assert good == THREE[:1]


def test_a_guarded_reporter_keeps_its_policy_in_a_tee(caplog: pytest.LogCaptureFixture) -> None:
    remaining = GuardedReporter(Broken(), FailurePolicy.ACCUMULATE)
    tell(TeeReporter(remaining))

    assert len(remaining.take_errors()) == 3
    assert caplog.records == []
