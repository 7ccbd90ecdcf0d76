"""Convolutions, forward and both gradients: NumPy, oneDNN, and PyTorch where it is installed beside it.

    python -m tests.bench convolutions
    python -m tests.bench convolutions --rounds 20 --layers depthwise,3x3 --peer PYTHON

Milliseconds for each product of a layer, the best of the rounds, which alternate between the engines: the convolution,
its derivative by the image and that by the filter. ``--peer`` names the Python of an environment with PyTorch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradtool.engine.kernels import threads
from gradtool.engine.kernels.choice import backend
from gradtool.engine.ops.library import convolve


class Layer(NamedTuple):
    """A square convolution: batch, channels in and out, size of the image and of the filter, stride, groups."""

    batch: int
    inputs: int
    outputs: int
    size: int
    window: int
    stride: int
    groups: int

    @property
    def padding(self) -> int:
        return self.window // 2

    @property
    def result(self) -> int:
        return (self.size + 2 * self.padding - self.window) // self.stride + 1


LAYERS = {
    "first": Layer(32, 3, 32, 32, 3, 1, 1),
    "stem": Layer(4, 3, 64, 112, 7, 2, 1),
    "3x3": Layer(32, 32, 64, 16, 3, 1, 1),
    "3x3 wide": Layer(32, 64, 128, 8, 3, 1, 1),
    "strided": Layer(8, 64, 128, 28, 3, 2, 1),
    "1x1": Layer(8, 64, 64, 28, 1, 1, 1),
    "grouped": Layer(8, 64, 64, 28, 3, 1, 4),
    "depthwise": Layer(8, 64, 64, 28, 3, 1, 64),
    "depthwise 7x7": Layer(8, 96, 96, 28, 7, 1, 96),
}

PEER = """
import json, sys, time, torch
torch.set_num_threads(THREADS)
CLOCK = time.process_time if THREADS == 1 else time.perf_counter
rows = {}
for name, (batch, inputs, outputs, size, window, stride, groups) in json.loads(sys.argv[1]).items():
    x, w = torch.randn(batch, inputs, size, size), torch.randn(outputs, inputs // groups, window, window)
    forward = lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=window // 2, groups=groups)
    y = torch.randn_like(forward())
    def backward(*mask):
        return torch.ops.aten.convolution_backward(
            y, x, w, None, [stride] * 2, [window // 2] * 2, [1, 1], False, [0, 0], groups, [*mask, False])
    best = []
    for action in (forward, lambda: backward(True, False), lambda: backward(False, True)):
        times = []
        for _ in range(int(sys.argv[2])):
            start = CLOCK()
            action()
            times.append(CLOCK() - start)
        best.append(min(times) * 1e3)
    rows[name] = best
print(json.dumps(rows))
"""


def products(layer: Layer, name: str) -> list[Callable[[], Any]]:
    """The three products of *layer* on that backend."""
    rng = np.random.default_rng(0)
    here = backend(name)
    geometry = convolve.Geometry((layer.stride,) * 2, (layer.padding,) * 2, (1, 1), layer.groups, "EXPLICIT", "NCHW")
    image, result = (layer.size,) * 2, (layer.result,) * 2
    x = rng.standard_normal((layer.batch, layer.inputs, *image)).astype("float32")
    w = rng.standard_normal((layer.outputs, layer.inputs // layer.groups, *(layer.window,) * 2)).astype("float32")
    y = rng.standard_normal((layer.batch, layer.outputs, *result)).astype("float32")
    forward, spread, weigh = map(here.primitive, (convolve.product, convolve.spread, convolve.weigh))
    return [
        lambda: forward(np, x, w, result, geometry),
        lambda: spread(np, w, y, image, geometry),
        lambda: weigh(np, x, y, w.shape, geometry),
    ]


def best_of(actions: Sequence[Callable[[], Any]], rounds: int, clock: Callable[[], float]) -> list[float]:
    """Milliseconds of each, the best of the rounds; in a round each is run once."""
    times = [float("inf")] * len(actions)
    for _ in range(rounds + 1):
        for i, action in enumerate(actions):
            start = clock()
            action()
            times[i] = min(times[i], clock() - start)
    return [seconds * 1e3 for seconds in times]


def main() -> None:
    """Print a row for each layer."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench convolutions", description=__doc__)
    parser.add_argument("--layers", default=",".join(LAYERS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer", metavar="PYTHON", help="an environment with PyTorch")
    parser.add_argument("--threads", type=int, default=2, help="of every engine; of one thread, times are those of CPU")
    options = parser.parse_args()
    layers = {name: LAYERS[name] for name in options.layers.split(",")}
    peer = of_peer(options.peer, layers, options.rounds, options.threads) if options.peer else {}
    engines = ("numpy", "onednn")
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"{'layer':<14}" + "".join(f"{h:>26}" for h in (*engines, *(["torch"] if peer else []))))
    for name, layer in layers.items():
        with threads.limit_threads(options.threads):
            actions = [action for engine in engines for action in products(layer, engine)]
            times = best_of(actions, options.rounds, clock)
        columns = [times[:3], times[3:], *([peer[name]] if peer else [])]
        print(f"{name:<14}" + "".join(f"{'  '.join(f'{t:6.2f}' for t in row):>26}" for row in columns), flush=True)


def of_peer(python: str, layers: dict[str, Layer], rounds: int, threads: int) -> dict[str, list[float]]:
    """PyTorch's times, from a process of its own."""
    code = PEER.replace("THREADS", str(threads))
    command = [python, "-c", code, json.dumps(layers), str(rounds)]
    rows: dict[str, list[float]] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return rows


if __name__ == "__main__":
    main()
