"""The benchmarks refuse columns that do less, and units that cost more."""

from __future__ import annotations

import asyncio
from importlib import import_module
from types import ModuleType

import pytest

from together.sources import ROOT

WORKER, INSTRUCTIONS, UNITS = "worker", "instructions", "units"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    """The modules of the benchmarks, by name; they lie in no package."""
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return {name: import_module(name) for name in (WORKER, INSTRUCTIONS, UNITS)}


@pytest.mark.parametrize("job", ["text-200", "tool-200", "loop-3-8", "streams-2-20", "cold-10"])
@pytest.mark.parametrize("missing", ["nothing", "a character", "a tool run"])
def test_a_column_that_does_less_fails_instead_of_looking_fast(
    bench: dict[str, ModuleType], job: str, missing: str
) -> None:
    worker = bench[WORKER]
    done = worker.expected(job)
    if missing == "a character":
        done = done._replace(characters=done.characters - 1)
    if missing == "a tool run":
        done = done._replace(calls=done.calls - 1)

    class Column:
        async def turn(self, model: str) -> object:
            return done

    if missing == "nothing":
        asyncio.run(worker.run(Column(), job))
    else:
        with pytest.raises(SystemExit, match=job):
            asyncio.run(worker.run(Column(), job))


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
            small, large = (once + each * size for size in sizes)
            assert unit.slope(small, large, sizes) == pytest.approx(each)
            assert unit.jobs(sizes)[0] != unit.jobs(sizes)[1]
