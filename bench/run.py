"""Runs floor and contender side by side and prints the cost per unit of each, and their ratio."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent

SCENARIOS = {
    # name: (jobs of two sizes, their sizes, the unit, units per second)
    "text": (("text-2000", "text-20000"), (2_000, 20_000), "µs per text delta", 1e6),
    "tool_arguments": (("tool-2000", "tool-20000"), (2_000, 20_000), "µs per delta", 1e6),
    "loop1": (("loop-10-1", "loop-50-1"), (10, 50), "ms per round of 1 call", 1e3),
    "loop8": (("loop-10-8", "loop-50-8"), (10, 50), "ms per round of 8 calls", 1e3),
    "history": (("text-10+1000", "text-10+5000"), (1_000, 5_000), "µs per message", 1e6),
}


def sample(worker: str, base_url: str, jobs: tuple[str, ...]) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, HERE / worker, base_url, *jobs], stdout=subprocess.PIPE, check=True
    )
    spent: dict[str, float] = json.loads(done.stdout)
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scenario", nargs="*", choices=[*SCENARIOS, []], help="default: text")
    parser.add_argument("--repeat", type=int, default=5, help="samples of each (default: 5)")
    options = parser.parse_args()
    server = subprocess.Popen([sys.executable, HERE / "model_server.py"], stdout=subprocess.PIPE)
    try:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        for name in options.scenario or ["text"]:
            jobs, sizes, unit, scale = SCENARIOS[name]
            costs: dict[str, list[dict[str, float]]] = {"floor.py": [], "contender.py": []}
            for _ in range(options.repeat):
                for worker, samples in costs.items():
                    samples.append(sample(worker, base_url, jobs))
            slopes = {}
            for worker, samples in costs.items():
                small, large = (min(times[job] for times in samples) for job in jobs)
                slopes[worker] = (large - small) / (sizes[1] - sizes[0]) * scale
            floor, ours = slopes["floor.py"], slopes["contender.py"]
            print(
                f"{name}: floor {floor:.2f}, agentkit {ours:.2f} {unit}, ratio {ours / floor:.2f}",
                flush=True,
            )
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
