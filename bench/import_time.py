"""Compares the time of `import agentkit_…` with that of importing its dependencies alone.

Each import runs in a new interpreter, and the statements take turns. The best of many runs counts,
minus the time of an interpreter that imports nothing.
"""

import subprocess
import sys
import time

RUNS = 15

COMPARED = {
    "import agentkit_core": "import msgspec",
    "import agentkit_core, agentkit_loop, agentkit_providers": "import msgspec, anyio, httpx",
}
"""Each import, and the import of its dependencies alone."""


def seconds(statement: str) -> float:
    """Return how long a new interpreter takes to run a statement."""
    began = time.perf_counter()
    subprocess.run([sys.executable, "-I", "-c", statement], check=True)
    return time.perf_counter() - began


def main() -> None:
    """Measure and print one line per comparison, with times in milliseconds."""
    statements = ["pass", *COMPARED, *COMPARED.values()]
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(RUNS):
        for statement in statements:
            best[statement] = min(best[statement], seconds(statement))

    for ours, floor in COMPARED.items():
        ours_ms = (best[ours] - best["pass"]) * 1000
        floor_ms = (best[floor] - best["pass"]) * 1000
        print(f"{ours_ms / floor_ms:5.2f}x  {ours} {ours_ms:.1f} ms; {floor} {floor_ms:.1f} ms")


if __name__ == "__main__":
    main()
