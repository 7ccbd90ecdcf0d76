"""What recomputation saves and costs: bytes alive at the peak, and time.

Run from the top of the repository::

    python -m tests.bench recompute                       # MLPs of 16 to 256 layers, a transformer of 24 blocks
    python -m tests.bench recompute --layers 64 1024 --blocks 12 --no-eager

For each model: nothing computed again; a checkpoint after every √n-th layer; checkpoints chosen automatically. The
columns are

    keeps      how many checkpoints
    again      forward operators that run again
    MiB        values and gradients alive at the peak of a run that fetches the loss and one gradient, as counted
               (``Executor.peak``); parameters and feeds aside
    about      what the choice of checkpoints estimated for it
    ms         one run, the median of several, forward and backward
    build ms   append_backward, the choice included

and for dynamic mode, where every √n-th piece of the MLP is called through ``recompute``, MiB as Python's allocator saw
them at the peak of forward and backward. Times are a machine's; bytes are the same everywhere.
"""

from __future__ import annotations

import argparse
import gc
import math
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

MIB = 1 << 20
BATCH, WIDTH = 1024, 32
SEQUENCE, MODEL = 64, 64
WAYS = ("none", "sqrt", "auto")


def main() -> None:
    """Print the tables that the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench recompute", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--layers", nargs="*", type=int, default=[16, 64, 256], help="layers of the MLPs")
    parser.add_argument("--blocks", nargs="*", type=int, default=[24], help="blocks of the transformers")
    parser.add_argument("--runs", type=int, default=7, help="runs that the median is taken of")
    parser.add_argument("--no-eager", action="store_true", help="leave out dynamic mode")
    options = parser.parse_args()
    print(f"{'model':<18}{'way':<6}{'keeps':>6}{'again':>7}{'MiB':>8}{'about':>8}{'ms':>9}{'build ms':>10}")
    for build, name, sizes in ((mlp, "mlp", options.layers), (transformer, "transformer", options.blocks)):
        for size in sizes:
            for way in WAYS:
                row = static(build, size, way, options.runs)
                print(f"{f'{name} {size}':<18}{way:<6}{row}", flush=True)
    if options.no_eager:
        return
    print(f"\n{'dynamic mode':<18}{'way':<6}{'MiB':>8}{'ms':>9}")
    for size in options.layers:
        for pieces in (False, True):
            peak, took = eager(size, pieces, options.runs)
            print(
                f"{f'mlp {size}':<18}{'sqrt' if pieces else 'none':<6}{peak / MIB:>8.2f}{took * 1e3:>9.1f}", flush=True
            )


# -- static programs --------------------------------------------------------------------------------------------------


def mlp(size: int) -> tuple[Any, list[Any], dict[str, np.ndarray[Any, Any]]]:
    """The loss of *size* layers with relu, what each layer makes, and something to feed."""
    from gradtool import paddle

    h = paddle.static.data("x", [BATCH, WIDTH])
    layers = []
    for i in range(size):
        h = paddle.static.nn.fc(h, WIDTH, name=f"l{i}", activation="relu")
        layers.append(h)
    return paddle.mean(h), layers, {"x": np.random.default_rng(0).random((BATCH, WIDTH), "float32")}


def transformer(size: int) -> tuple[Any, list[Any], dict[str, np.ndarray[Any, Any]]]:
    """The same of *size* encoder blocks with dropout."""
    from gradtool import paddle

    h = paddle.static.data("x", [4, SEQUENCE, MODEL])
    blocks = []
    for _ in range(size):
        block = paddle.nn.TransformerEncoderLayer(MODEL, 4, 4 * MODEL, dropout=0.1, normalize_before=True)
        h = block(h)
        blocks.append(h)
    return paddle.mean(h * h), blocks, {"x": np.random.default_rng(0).random((4, SEQUENCE, MODEL), "float32")}


def every(parts: list[Any]) -> list[Any]:
    """Every √n-th of *parts*, without the last."""
    step = math.isqrt(len(parts))
    return parts[step - 1 : -1 : step]


def static(build: Callable[[int], Any], size: int, way: str, runs: int) -> str:
    """One row: the columns after the name."""
    from gradtool import paddle
    from gradtool.engine.autodiff.checkpoints import estimate

    paddle.enable_static()
    program, startup, scope = paddle.static.Program(), paddle.static.Program(), paddle.static.Scope()
    with paddle.static.program_guard(program, startup), paddle.static.scope_guard(scope):
        loss, parts, feed = build(size)
        forward = len(program.global_block().ops)
        checkpoints = {"none": None, "sqrt": every(parts), "auto": "auto"}[way]
        start = time.perf_counter()
        result = paddle.static.append_backward(loss, checkpoints=checkpoints)
        built = time.perf_counter() - start
        pairs, names = result if checkpoints else (result, [])
        ops = program.global_block().ops
        about = estimate(loss, [program.global_block().vars[n] for n in names]).peak
        exe = paddle.static.Executor()
        exe.run(startup)
        fetch = [loss, pairs[0][1]]
        peak = exe.peak(program, feed, fetch).nbytes
        took = median(lambda: exe.run(program, feed, fetch), runs)
    again = sum(op.repeats is not None for op in ops[forward:])
    return f"{len(names):>6}{again:>7}{peak / MIB:>8.2f}{about / MIB:>8.2f}{took * 1e3:>9.1f}{built * 1e3:>10.1f}"


def median(run: Callable[[], Any], runs: int) -> float:
    """Seconds of one call, after one that is not counted."""
    run()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


# -- dynamic mode -----------------------------------------------------------------------------------------------------


def eager(size: int, pieces: bool, runs: int) -> tuple[int, float]:
    """Bytes at the peak of one forward and backward, and seconds."""
    from gradtool import paddle

    paddle.disable_static()
    paddle.seed(0)
    layers = [paddle.nn.Linear(WIDTH, WIDTH) for _ in range(size)]
    x = paddle.to_tensor(np.random.default_rng(0).random((BATCH, WIDTH), "float32"))
    step = math.isqrt(size)

    def through(part: list[Any], h: Any) -> Any:
        for layer in part:
            h = paddle.nn.functional.relu(layer(h))
        return h

    def run() -> None:
        h = x
        for i in range(0, size, step):
            part = layers[i : i + step]
            again = pieces and i + step < size
            h = paddle.autograd.recompute(through, part, h, use_reentrant=False) if again else through(part, h)
        h.mean().backward()
        for layer in layers:
            layer.clear_gradients()

    took = median(run, runs)
    gc.collect()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1], took
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    main()
