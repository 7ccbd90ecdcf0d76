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
    "add": lambda e, h, a: h + a,
    "multiply": lambda e, h, a: e.f.multiply(h, a),
    "scale": lambda e, h, a: h * 0.9,
    "tanh": lambda e, h, a: e.f.tanh(h),
    "sigmoid": lambda e, h, a: e.n.sigmoid(h),
    "relu": lambda e, h, a: e.n.relu(h),
    "gelu": lambda e, h, a: e.n.gelu(h),
    "softmax": lambda e, h, a: e.n.softmax(h, -1),
    "matmul": lambda e, h, a: e.f.matmul(h, a),
    "linear": lambda e, h, a: e.n.linear(h, a, e.bias),
    "layer_norm": lambda e, h, a: e.n.layer_norm(h, [4], e.gain, e.bias),
    "dropout": lambda e, h, a: e.n.dropout(h, 0.1),
    "embedding": lambda e, h, a: e.n.embedding(e.ids, h),
    "cross_entropy": lambda e, h, a: h + e.n.cross_entropy(h, e.ids),
    "sum": lambda e, h, a: h + h.sum(-1),
    "mean": lambda e, h, a: h + h.mean(),
    "reshape": lambda e, h, a: e.f.reshape(e.f.reshape(h, [2, 8]), [4, 4]),
    "transpose": lambda e, h, a: e.transpose(h, [1, 0]),
    "unsqueeze": lambda e, h, a: e.f.squeeze(e.f.unsqueeze(h, 0), 0),
    "concat": lambda e, h, a: e.concat([h[:2], a[2:]], 0),
    "stack": lambda e, h, a: e.f.stack([h, a])[0],
    "split": lambda e, h, a: e.concat(e.halves(h), 0),
    "index": lambda e, h, a: h + h[0],
    "cast": lambda e, h, a: e.cast(e.cast(h, "float64"), "float32"),
    "mixed": lambda e, h, a: e.f.tanh(h) * 0.9 + a,
}
"""One step of each chain: of the engine, the value so far and the leaf ``a``."""
STEPS = {
    "linear": 2,
    "cross_entropy": 2,
    "sum": 2,
    "mean": 2,
    "reshape": 2,
    "unsqueeze": 2,
    "concat": 3,
    "stack": 2,
    "split": 2,
    "index": 2,
    "cast": 2,
    "mixed": 3,
}
"""Calls in one step, where it is not one; an affine map counts for two."""


class Engine:
    """The namespaces of an engine, and what its functions are called where the names differ."""

    def __init__(self, name: str) -> None:
        if name == "torch":
            import torch  # type: ignore[import-not-found]

            torch.set_num_threads(1)
            self.f = torch
            self.leaf: Callable[[Any], Any] = lambda rows: torch.tensor(rows, requires_grad=True)
            self.ids = torch.tensor([0, 1, 2, 3])
            self.transpose, self.concat = torch.permute, torch.cat
            self.halves: Callable[[Any], Any] = lambda h: torch.split(h, 2, 0)
            self.cast: Callable[[Any, str], Any] = lambda h, dtype: h.to(getattr(torch, dtype))
        else:
            if name == "paddle":
                import paddle  # type: ignore[import-not-found]
            else:
                from gradtool import paddle  # type: ignore[no-redef]
            self.f = paddle
            self.leaf = lambda rows: paddle.to_tensor(rows, stop_gradient=False)
            self.ids = paddle.to_tensor([0, 1, 2, 3])
            self.transpose, self.concat = paddle.transpose, paddle.concat
            self.halves = lambda h: paddle.split(h, 2, 0)
            self.cast = lambda h, dtype: h.astype(dtype)
        self.n = self.f.nn.functional
        self.gain = self.leaf([1.0, 0.75, 1.25, 0.5])
        self.bias = self.leaf([1.0, 0.5, 0.25, 0.125])


def measured(engine: Engine, step: Callable[[Any, Any, Any], Any], operators: int, runs: int) -> tuple[float, float]:
    """Microseconds per operator: recorded, and recorded and run backward; medians."""
    rows = [[0.01 * (4 * i + j) + (i == j) * 0.9 for j in range(4)] for i in range(4)]
    forward, both = [], []
    for run in range(runs + WARM_UP):
        leaf = engine.leaf(rows)
        start = time.perf_counter()
        h = leaf
        for _ in range(COUNT // operators):
            h = step(engine, h, leaf)
        recorded = time.perf_counter()
        h.sum().backward()
        done = time.perf_counter()
        if run >= WARM_UP:
            forward.append(recorded - start)
            both.append(done - start)
    return statistics.median(forward) / COUNT * 1e6, statistics.median(both) / COUNT * 1e6


def main() -> None:
    engine = Engine(sys.argv[1])
    gc.collect()
    times = {name: measured(engine, step, STEPS.get(name, 1), int(sys.argv[2])) for name, step in CHAINS.items()}
    print(json.dumps({"version": engine.f.__version__, "found": times}))


if __name__ == "__main__":
    main()
