"""The benchmarks refuse columns that do less, and units that cost more."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from together.sources import ROOT

BENCH = ROOT / "bench"
WORKER, INSTRUCTIONS, UNITS, COLUMNS = "worker", "instructions", "units", "columns"
RUN, TABLE, ENVIRONMENTS, SERVER = "run", "table", "environments", "model_server"
JOBS = ["tool-20", "loop-2-2", "sessions-2-20", "cold-10", "warm-10"]
PIN = re.compile(r"[\w.-]+==[\w.]+( ; [\w. '<>=!]+)?")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The modules of the benchmarks, by name; they lie in no package."""
    monkeypatch.syspath_prepend(str(BENCH))
    names = (WORKER, INSTRUCTIONS, UNITS, COLUMNS, RUN, TABLE, ENVIRONMENTS, SERVER)
    return {name: import_module(name) for name in names}


@pytest.mark.parametrize("job", ["text-200", "tool-200", "loop-3-8", "sessions-2-20", "cold-10"])
@pytest.mark.parametrize(
    "missing", ["nothing", "a character", "a delta", "a tool run", "a session"]
)
def test_a_column_that_does_less_fails_instead_of_looking_fast(
    bench: dict[str, ModuleType], job: str, missing: str
) -> None:
    worker = bench[WORKER]
    sessions = 2 if job.startswith("sessions") else 1
    works = [worker.expected(job, session) for session in range(sessions)]
    done = works[-1]
    match missing:
        case "a character":
            works[-1] = done._replace(text=done.text[:-1])
        case "a delta":
            works[-1] = done._replace(deltas=done.deltas - 1)
        case "a tool run":
            works[-1] = done._replace(calls=done.calls - 1)
        case "a session":
            works = works[:-1]

    if missing == "nothing":
        worker.check(None, job, works)
    else:
        with pytest.raises(SystemExit, match=job):
            worker.check(None, job, works)


def test_a_session_that_has_the_text_of_another_is_told(bench: dict[str, ModuleType]) -> None:
    worker = bench[WORKER]
    first, second = (worker.expected("sessions-2-20", session) for session in range(2))
    assert len(first.text) == len(second.text)

    with pytest.raises(SystemExit, match="session 0"):
        worker.check(None, "sessions-2-20", [second, first])


@contextmanager
def prepared(worker: Any) -> Iterator[Any]:
    """Run coroutines of a worker in one event loop, and close it at the end."""
    with asyncio.Runner() as runner:
        yield runner.run
        runner.run(worker.close())


def test_sockets_and_agents_do_the_same_work(bench: dict[str, ModuleType]) -> None:
    worker, columns = bench[WORKER], bench[COLUMNS].COLUMNS
    with bench[SERVER].model_server() as base_url:
        for column in (columns["sockets"], columns["run"], columns["stream"]):
            new = column.new_worker(base_url, "anthropic")
            with prepared(new) as run:
                for job in JOBS:
                    run(new.prepare(job))
                    worker.check(new, job, run(worker.run(new, job)))
                assert run(new.begin("bench-loop-1-1"))


def test_a_unit_is_measured_in_new_processes_and_is_a_line_of_the_table(
    bench: dict[str, ModuleType],
) -> None:
    by_name = bench[COLUMNS].COLUMNS
    shown = ["floor", "stream"]
    sizes = (2, 4)
    unit = bench[UNITS].Unit("tiny, per delta", "text-{}", sizes, 0.33)
    with bench[SERVER].model_server() as base_url:
        measuring = bench[RUN].Bench([by_name[name] for name in shown], base_url, repeat=1)
        (row,) = measuring.unit(unit, "openai", sizes)

    assert {*row.least} == {*row.median} == {*shown}
    assert measuring.failures == []
    columns = len(shown) + 2
    assert [line.count("|") for line in bench[TABLE].head(shown).splitlines()] == [columns + 1] * 2
    assert row.line(shown).count("|") == columns + 1


def test_a_peer_that_fails_is_left_out_and_named_and_others_end_the_run(
    bench: dict[str, ModuleType],
) -> None:
    unavailable = bench[ENVIRONMENTS].Unavailable
    floor, peer = bench[COLUMNS].FLOOR, bench[COLUMNS].PEERS[0]

    def take(column: Any) -> float:
        if column is not failing:
            return 1.0
        raise unavailable(column.name, "no network")

    measuring = bench[RUN].Bench([floor, peer], "", repeat=2)
    failing = peer
    assert measuring.samples("a unit", [floor, peer], take) == {"floor": [1.0, 1.0]}
    assert measuring.failures == [f"a unit: {peer.name}: no network"]
    failing = floor
    with pytest.raises(unavailable, match="no network"):
        measuring.samples("a unit", [floor, peer], take)


def test_a_peer_that_cannot_be_installed_is_left_out_with_the_reason(
    bench: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environments = bench[ENVIRONMENTS]
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    monkeypatch.setattr(environments, "uv", lambda: str(tmp_path / "uv"))
    environments.locked.cache_clear()
    found, failures = bench[RUN].installed(bench[COLUMNS].PEERS[:1])
    assert found == []
    assert len(failures) == 1
    assert "openai: " in failures[0]
    assert "No such file" in failures[0]


def test_what_is_over_its_goal_is_bold_and_what_was_not_measured_is_a_dash(
    bench: dict[str, ModuleType],
) -> None:
    costs = {"floor": 2.0, "stream": 3.0}
    row = bench[TABLE].Row("a unit", "openai", "µs", costs, costs, goal=1.4)
    assert [row.cell(name) for name in ("floor", "stream", "run")] == [
        "2.00 µs",
        "**1.50 (1.50)**",
        "-",
    ]
    size = bench[TABLE].Row("a size", "openai", "KiB", costs, costs, goal=3.0, is_ratio=False)
    assert size.cell("stream") == "1.50 (1.50)"


def test_every_peer_has_a_module_and_a_lock_file_of_exact_versions(
    bench: dict[str, ModuleType],
) -> None:
    environments, peers = bench[ENVIRONMENTS], bench[COLUMNS].PEERS
    assert len(bench[COLUMNS].COLUMNS) == len(bench[COLUMNS].OWN) + len(peers)
    files = {path.stem for path in (BENCH / "peers").glob("*.py")}
    assert files == {peer.module.removeprefix("peers.") for peer in peers}
    assert {path.stem for path in (BENCH / "locks").iterdir()} == {*environments.requirements()}
    for peer in peers:
        module = ast.parse((BENCH / f"{peer.module.replace('.', '/')}.py").read_text("utf-8"))
        assert peer.worker in {node.name for node in module.body if isinstance(node, ast.ClassDef)}
        ast.parse(peer.imports)
        assert peer.dialects
    for name, required in environments.requirements().items():
        lines = environments.lock(name).read_text("utf-8").splitlines()
        assert [line for line in lines if not PIN.fullmatch(line)] == []
        pinned = {line.partition("==")[0] for line in lines}
        assert {requirement.partition("[")[0] for requirement in required} <= pinned
        assert environments.locked_version(name)


def test_peers_are_chosen_by_name(
    bench: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    parsed = bench[RUN].parsed
    assert parsed([]).peers == []
    assert parsed(["--peers"]).peers == [*bench[COLUMNS].PEERS]
    assert [peer.name for peer in parsed(["--peers", "litellm,openai"]).peers] == [
        "openai",
        "litellm",
    ]
    with pytest.raises(SystemExit):
        parsed(["--peers", "openai,httpx"])
    assert "no peer is called ['httpx']" in capsys.readouterr().err


def test_a_unit_that_costs_more_than_five_hundredths_more_is_told(
    bench: dict[str, ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = {"dear": 100_000, "fair": 100_000, "cheap": 100_000, "small": 300}
    found = {"dear": 105_001, "fair": 105_000, "cheap": 50_000, "small": 1_300, "new": 1}
    over = bench[INSTRUCTIONS].compare(found, kept)
    lines = capsys.readouterr().out.splitlines()
    assert over == 1
    assert [line.split()[0] for line in lines if "TOO MANY" in line] == ["dear"]


def test_the_cost_of_a_unit_leaves_out_what_a_turn_costs_once(
    bench: dict[str, ModuleType],
) -> None:
    for unit in bench[UNITS].UNITS:
        once, each = 7_000.0, 11.0
        for sizes in filter(None, (unit.sizes, unit.quick_sizes, unit.counted_sizes)):
            if unit.sessions > 1:
                assert unit.cost([each * unit.sessions], sizes) == pytest.approx(each)
                continue
            spent = [once + each * size for size in sizes]
            assert unit.cost(spent, sizes) == pytest.approx(each)
            assert len({*unit.jobs(sizes)}) == 2
