"""Kernels of layers on NumPy, forward and their gradients, and PyTorch where it is installed beside it.

    python -m tests.bench kernels
    python -m tests.bench kernels --rounds 20 --layers lstm,batch_norm --peer PYTHON

Milliseconds of CPU time on one thread in dynamic mode, the best of the rounds, which a busy machine tells, too.
``--peer`` names the Python of an environment with PyTorch.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import gradtool
import gradtool.paddle.nn.functional as F
from gradtool import paddle


class Layer(NamedTuple):
    """A layer.

    Attributes:
        shapes: of what it is given, all of which gets gradients.
        ours: of these, on gradtool.
        theirs: the same for PyTorch, as it is written there.
    """

    shapes: list[list[int]]
    ours: Callable[..., Any]
    theirs: str


def _batch_norm(x: Any, w: Any, b: Any) -> Any:
    return F.batch_norm(x, paddle.zeros([64]), paddle.ones([64]), w, b, training=True)


def _recurrent(mode: str, gates: int) -> Layer:
    shapes = [[32, 32, 64], [gates * 128, 64], [gates * 128, 128], [gates * 128], [gates * 128]]
    states = [paddle.zeros([1, 32, 128]) for _ in range(2 if mode == "LSTM" else 1)]
    attrs = {"input_size": 64, "hidden_size": 128, "mode": mode}

    def ours(x: Any, *weights: Any) -> Any:
        from gradtool.paddle._dispatch import apply

        return apply("rnn", x, states, list(weights), None, attrs=attrs)[0]

    theirs = {"LSTM": "torch.lstm(a, (z, z)", "GRU": "torch.gru(a, z"}[mode]
    return Layer(shapes, ours, theirs + ", p, True, 1, 0.0, True, False, False)[0]")


def _of_elements(ours: Callable[..., Any], theirs: str) -> Callable[[], Layer]:
    return lambda: Layer([[8192, 256]], ours, theirs)


IMAGES = [32, 64, 28, 28]
LAYERS: dict[str, Callable[[], Layer]] = {
    "batch_norm": lambda: Layer(
        [IMAGES, [64], [64]], _batch_norm, "F.batch_norm(a, torch.zeros(64), torch.ones(64), *p, True)"
    ),
    "group_norm": lambda: Layer(
        [IMAGES, [64], [64]], lambda x, w, b: F.group_norm(x, 8, weight=w, bias=b), "F.group_norm(a, 8, *p)"
    ),
    "layer_norm": lambda: Layer(
        [[64, 128, 256], [256], [256]], lambda x, w, b: F.layer_norm(x, [256], w, b), "F.layer_norm(a, (256,), *p)"
    ),
    "max_pool 2": lambda: Layer([IMAGES], lambda x: F.max_pool2d(x, 2), "F.max_pool2d(a, 2)"),
    "max_pool 3/2": lambda: Layer([IMAGES], lambda x: F.max_pool2d(x, 3, 2, 1), "F.max_pool2d(a, 3, 2, 1)"),
    "avg_pool 2": lambda: Layer([IMAGES], lambda x: F.avg_pool2d(x, 2), "F.avg_pool2d(a, 2)"),
    "nearest": lambda: Layer(
        [IMAGES], lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), "F.interpolate(a, scale_factor=2)"
    ),
    "bilinear": lambda: Layer(
        [IMAGES],
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        "F.interpolate(a, scale_factor=2, mode='bilinear')",
    ),
    "depthwise 3": lambda: Layer(
        [IMAGES, [64, 1, 3, 3]],
        lambda x, w: F.conv2d(x, w, padding=1, groups=64),
        "F.conv2d(a, *p, padding=1, groups=64)",
    ),
    "depthwise 7": lambda: Layer(
        [[8, 96, 28, 28], [96, 1, 7, 7]],
        lambda x, w: F.conv2d(x, w, padding=3, groups=96),
        "F.conv2d(a, *p, padding=3, groups=96)",
    ),
    **{
        name: _of_elements(ours, theirs)
        for name, (ours, theirs) in {
            "relu": (F.relu, "F.relu(a)"),
            "relu6": (F.relu6, "F.relu6(a)"),
            "leaky_relu": (F.leaky_relu, "F.leaky_relu(a)"),
            "hardswish": (F.hardswish, "F.hardswish(a)"),
            "silu": (F.silu, "F.silu(a)"),
            "gelu": (F.gelu, "F.gelu(a)"),
            "elu": (F.elu, "F.elu(a)"),
            "erf": (paddle.erf, "torch.erf(a)"),
            "clip": (lambda x: paddle.clip(x, -0.5, 0.5), "a.clamp(-0.5, 0.5)"),
            "x ** 3": (lambda x: x**3, "a**3"),
            "softmax": (lambda x: F.softmax(x, -1), "F.softmax(a, -1)"),
            "log_softmax": (lambda x: F.log_softmax(x, -1), "F.log_softmax(a, -1)"),
            "max of rows": (lambda x: paddle.max(x, -1), "torch.amax(a, -1)"),
            "max of columns": (lambda x: paddle.max(x, 0), "torch.amax(a, 0)"),
            "sort": (lambda x: paddle.sort(x, -1), "torch.sort(a, -1)[0]"),
            "cumsum": (lambda x: paddle.cumsum(x, -1), "torch.cumsum(a, -1)"),
            "cumsum of columns": (lambda x: paddle.cumsum(x, 0), "torch.cumsum(a, 0)"),
        }.items()
    },
    "lstm": lambda: _recurrent("LSTM", 4),
    "gru": lambda: _recurrent("GRU", 3),
}

PEER = """
import json, sys, time, torch
import torch.nn.functional as F
torch.set_num_threads(1)
z, rows = torch.zeros(1, 32, 128), {}
for name, (shapes, text) in json.loads(sys.argv[1]).items():
    a, *p = (torch.randn(s).mul(0.3).requires_grad_() for s in shapes)
    forward = eval("lambda: " + text)
    y = forward()
    g = torch.randn_like(y)
    best = []
    for action in (forward, lambda: torch.autograd.grad(y, [a, *p], g, retain_graph=True)):
        times = []
        for _ in range(int(sys.argv[2]) + 1):
            start = time.process_time()
            action()
            times.append(time.process_time() - start)
        best.append(min(times) * 1e3)
    rows[name] = best
print(json.dumps(rows))
"""


def here(layer: Layer, rounds: int) -> list[float]:
    """Milliseconds of the layer and of its gradients."""
    rng = np.random.default_rng(0)
    operands = [
        paddle.to_tensor(rng.standard_normal(s).astype("float32") * np.float32(0.3), stop_gradient=False)
        for s in layer.shapes
    ]
    y = layer.ours(*operands)
    g = paddle.to_tensor(rng.standard_normal(y.shape).astype("float32"))
    actions = (
        lambda: layer.ours(*operands),
        lambda: paddle.grad([y], operands, [g], retain_graph=True),
    )
    times = [float("inf")] * 2
    for _ in range(rounds + 1):
        for i, action in enumerate(actions):
            start = time.process_time()
            action()
            times[i] = min(times[i], time.process_time() - start)
    return [seconds * 1e3 for seconds in times]


def main() -> None:
    """Print a row for each layer."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench kernels", description=__doc__)
    parser.add_argument("--layers", default=",".join(LAYERS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--peer", metavar="PYTHON", help="an environment with PyTorch")
    options = parser.parse_args()
    gradtool.set_backend("numpy")
    layers = {name: LAYERS[name]() for name in options.layers.split(",")}
    peer = of_peer(options.peer, layers, options.rounds) if options.peer else {}
    engines = ["numpy", *(["torch"] if peer else [])]
    print(f"{'layer':<16}" + "".join(f"{h:>20}" for h in engines))
    for name, layer in layers.items():
        with threadpool_limits(1):
            columns = [here(layer, options.rounds), *([peer[name]] if peer else [])]
        print(f"{name:<16}" + "".join(f"{'  '.join(f'{t:7.2f}' for t in row):>20}" for row in columns), flush=True)


def of_peer(python: str, layers: dict[str, Layer], rounds: int) -> dict[str, list[float]]:
    """PyTorch's times, from a process of its own."""
    told = {name: (layer.shapes, layer.theirs) for name, layer in layers.items()}
    command = [python, "-c", PEER, json.dumps(told), str(rounds)]
    rows: dict[str, list[float]] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return rows


if __name__ == "__main__":
    main()
