"""Dynamic mode: what a deep perceptron retains for backward, and how the peak of the backward pass follows it.

    python -m tests.bench memory
    python -m tests.bench memory --depths 8 128 --width 256 --batch 512

Kilobytes, as tracemalloc counts them (NumPy reports its arrays to it). Each row is a fresh process; the columns are

    retained   what the recorded graph keeps: allocated after the forward part, the loss alone still being held
    gradients  of the parameters, which stay
    peak       the most that was allocated at once during backward, with retain_graph=False
    ratio      peak / (retained + one layer's gradients)
    left       after backward: gradients and little else
    kept peak  the peak with retain_graph=True, where the graph and all gradients are there at the end
    kept left  after that
"""

from __future__ import annotations

import argparse
import gc
import json
import tracemalloc
from typing import Any

from tests.bench.measuring import child

COLUMNS = ("retained", "gradients", "peak", "ratio", "left", "kept peak", "kept left")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench memory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--depths", nargs="*", type=int, default=[4, 8, 16, 32, 64, 128], help="layers")
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--one", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    print(f"{'depth':<8}" + "".join(f"{c:>11}" for c in COLUMNS))
    for depth in options.depths:
        row = child("memory", "--one", str(depth), str(options.width), str(options.batch))
        print(f"{depth:<8}" + "".join(f"{row[c]:>11.2f}" if c == "ratio" else f"{row[c]:>11.0f}" for c in COLUMNS))


def measure(depth: int, width: int, batch: int) -> dict[str, float]:
    import gradtool as paddle

    layers = [paddle.nn.Linear(width, width) for _ in range(depth)]
    x = paddle.randn([batch, width])
    one_pass(paddle, layers, x, False)  # what is made once: operators, bound kernels
    gradients = sum(p.grad.numpy().nbytes for layer in layers for p in layer.parameters())
    sizes: dict[str, float] = {"gradients": gradients}
    sizes["retained"], sizes["peak"], sizes["left"] = one_pass(paddle, layers, x, False)
    sizes["ratio"] = sizes["peak"] / (sizes["retained"] + gradients / depth)
    _, sizes["kept peak"], sizes["kept left"] = one_pass(paddle, layers, x, True)
    return {name: value if name == "ratio" else value / 1024 for name, value in sizes.items()}


def one_pass(paddle: Any, layers: list[Any], x: Any, retain_graph: bool) -> tuple[int, int, int]:
    """Bytes retained after the forward part, at the peak of backward, and left after it."""
    for layer in layers:
        layer.clear_gradients(False)
    gc.collect()
    tracemalloc.start()
    h = x
    for layer in layers:
        h = paddle.tanh(layer(h))
    loss = paddle.mean(h)
    del h
    retained = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    loss.backward(retain_graph=retain_graph)
    left, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return retained, peak, left


if __name__ == "__main__":
    main()
