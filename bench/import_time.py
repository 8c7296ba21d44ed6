"""What `import agentkit_…` costs, as a ratio to what it cannot do without.

Each import runs in a new interpreter, by turns; the best of many runs counts, less the cost of
an interpreter that imports nothing.
"""

import subprocess
import sys
import time

RUNS = 15

COMPARED = {
    "import agentkit_core": "import msgspec",
    "import agentkit_core, agentkit_loop, agentkit_providers": "import msgspec, anyio, httpx",
}
"""What we import, and the same without us."""


def seconds(statement: str) -> float:
    """How long a new interpreter takes for a statement."""
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
