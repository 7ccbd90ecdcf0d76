"""Sparse gradients: a training step with a large table, whose gradient is dense or holds the rows looked up.

    python -m tests.bench sparse
    python -m tests.bench sparse --rows 100k 1M 10M --batch 256

Each line is one process: a look-up of ``--batch`` random rows of a table of sixteen columns, a loss, backward and an
update. Shown are milliseconds per step (the median of some steps after two for warming up) and the memory of the
process beyond the table and the state of the optimizer, at its highest.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics

from tests.bench.measuring import child, number, timed

COLUMNS = 16
OPTIMIZERS = ("SGD", "lazy Adam")
TABLES = {"SGD": 1, "lazy Adam": 3}
"""Tables that the optimizer holds, the values themselves among them."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench sparse", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=number, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--dense-up-to", type=number, default=10_000_000, help="rows beyond which dense is left out")
    parser.add_argument("--measure", nargs=3, metavar=("MODE", "OPTIMIZER", "KIND"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        print(json.dumps(measured(*options.measure, options.rows[0], options.batch, options.steps)))
        return
    print(f"{'rows':>10}  {'mode':<8} {'optimizer':<10} {'gradient':<8} {'ms/step':>9} {'extra MB':>9}")
    for rows in options.rows:
        for mode in ("dynamic", "static"):
            for optimizer in OPTIMIZERS:
                for kind in ("sparse", "dense") if rows <= options.dense_up_to else ("sparse",):
                    settings = ["--rows", str(rows), "--batch", str(options.batch), "--steps", str(options.steps)]
                    ms, extra = child("sparse", *settings, "--measure", mode, optimizer, kind)
                    print(f"{rows:>10}  {mode:<8} {optimizer:<10} {kind:<8} {ms:>9.2f} {extra:>9.0f}")


def measured(mode: str, optimizer: str, kind: str, rows: int, batch: int, steps: int) -> tuple[float, float]:
    """Milliseconds per step, and megabytes beyond the tables."""
    import numpy as np

    from gradtool import paddle

    rng = np.random.default_rng(0)
    ids = [rng.integers(0, rows, batch) for _ in range(steps + 2)]

    def make(**settings: object) -> object:
        if optimizer == "SGD":
            return paddle.optimizer.SGD(0.1, **settings)
        return paddle.optimizer.Adam(0.1, lazy_mode=True, **settings)

    times = []
    if mode == "dynamic":
        paddle.disable_static()
        layer = paddle.nn.Embedding(
            rows,
            COLUMNS,
            sparse=kind == "sparse",
            weight_attr=paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5)),
        )
        updates = make(parameters=layer.parameters())

        def step(which: object) -> None:
            (layer(paddle.to_tensor(which)) ** 2).mean().backward()
            updates.step()  # type: ignore[attr-defined]
            updates.clear_grad()  # type: ignore[attr-defined]
    else:
        paddle.enable_static()
        x = paddle.static.data("ids", [None], "int64")
        attr = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.5))
        vectors = paddle.static.nn.embedding(x, [rows, COLUMNS], is_sparse=kind == "sparse", param_attr=attr)
        make().minimize((vectors * vectors).mean())  # type: ignore[attr-defined]
        exe = paddle.static.Executor()
        exe.run(paddle.static.default_startup_program())

        def step(which: object) -> None:
            exe.run(feed={"ids": which})

    for which in ids:
        times.append(timed(lambda which=which: step(which))[1])  # type: ignore[misc]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tables = TABLES[optimizer] * rows * COLUMNS * 4 / 2**20
    return statistics.median(times[2:]) * 1e3, peak - tables


if __name__ == "__main__":
    main()
