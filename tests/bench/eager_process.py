"""Operators of dynamic mode on 4×4 tensors, timed in this process with the engine that is named: prints JSON.

Runs in any interpreter that has the engine: ``python tests/bench/eager_process.py gradtool|torch|paddle RUNS``.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

COUNT = 300
"""Operators in a chain."""
WARM_UP = 5
CHAINS = {
    "add": lambda f, h, a: h + a,
    "multiply": lambda f, h, a: h * a,
    "scale": lambda f, h, a: h * 0.9,
    "tanh": lambda f, h, a: f.tanh(h),
    "matmul": lambda f, h, a: f.matmul(h, a),
    "reshape": lambda f, h, a: f.reshape(f.reshape(h, [2, 8]), [4, 4]),
    "mixed": lambda f, h, a: f.tanh(h) * 0.9 + a,
}
"""One step of each chain: of the namespace, the value so far and the leaf ``a``."""
STEPS = {"mixed": 3, "reshape": 2}
"""Operators in one step, where it is not one."""


def engine(name: str) -> tuple[Any, str, Callable[[Any], Any]]:
    """The namespace of an engine, its version, and what makes a leaf of nested lists."""
    if name == "torch":
        import torch  # type: ignore[import-not-found]

        torch.set_num_threads(1)
        return torch, torch.__version__, lambda rows: torch.tensor(rows, requires_grad=True)
    if name == "paddle":
        import paddle  # type: ignore[import-not-found]
    else:
        import gradtool as paddle  # type: ignore[no-redef]
    return paddle, paddle.__version__, lambda rows: paddle.to_tensor(rows, stop_gradient=False)


def measured(
    f: Any, make: Callable[[Any], Any], step: Callable[[Any, Any, Any], Any], operators: int, runs: int
) -> tuple[float, float]:
    """Microseconds per operator: recorded, and recorded and run backward; medians."""
    rows = [[0.01 * (4 * i + j) + (i == j) * 0.9 for j in range(4)] for i in range(4)]
    forward, both = [], []
    for run in range(runs + WARM_UP):
        leaf = make(rows)
        start = time.perf_counter()
        h = leaf
        for _ in range(COUNT // operators):
            h = step(f, h, leaf)
        recorded = time.perf_counter()
        h.sum().backward()
        done = time.perf_counter()
        if run >= WARM_UP:
            forward.append(recorded - start)
            both.append(done - start)
    return statistics.median(forward) / COUNT * 1e6, statistics.median(both) / COUNT * 1e6


def main() -> None:
    f, version, make = engine(sys.argv[1])
    gc.collect()
    found = {name: measured(f, make, step, STEPS.get(name, 1), int(sys.argv[2])) for name, step in CHAINS.items()}
    print(json.dumps({"version": version, "found": found}))


if __name__ == "__main__":
    main()
