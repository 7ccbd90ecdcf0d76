"""The models of ``python -m tests.bench step``, in operators that each engine brings along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = dict[str, Any]
Loss = Callable[[Any, Arrays, Arrays], Any]
Made = tuple[Arrays, Arrays, Loss]
"""Parameters, data, and the loss of both in the operators of an engine."""


def weight(rng: np.random.Generator, *shape: int, scale: float | None = None) -> Any:
    """Random numbers of the size that keeps activations as they are."""
    fan = shape[0] if len(shape) < 4 else np.prod(shape[1:])
    return (rng.standard_normal(shape) * (scale or 1 / np.sqrt(fan))).astype("float32")


def mlp(rng: np.random.Generator) -> Made:
    """Four layers with gelu: matrix products."""
    sizes = [784, 512, 512, 512, 10]
    params = {f"w{i}": weight(rng, *sizes[i : i + 2]) for i in range(4)}
    params |= {f"b{i}": np.zeros(sizes[i + 1], "float32") for i in range(4)}
    data = {"x": rng.standard_normal((64, 784)).astype("float32"), "y": rng.integers(0, 10, 64)}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        h = d["x"]
        for i in range(4):
            h = o.matmul(h, p[f"w{i}"]) + p[f"b{i}"]
            h = o.gelu(h) if i < 3 else h
        return o.entropy(h, d["y"])

    return params, data, loss


def conv(rng: np.random.Generator) -> Made:
    """Three convolutions of 3×3 with max pooling."""
    channels = [3, 32, 64, 128]
    params = {f"k{i}": weight(rng, channels[i + 1], channels[i], 3, 3) for i in range(3)}
    params["w"] = weight(rng, 2048, 10)
    data = {"x": rng.standard_normal((32, 3, 32, 32)).astype("float32"), "y": rng.integers(0, 10, 32)}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        h = d["x"]
        for i in range(3):
            h = o.pool(o.relu(o.conv(h, p[f"k{i}"])))
        return o.entropy(o.matmul(o.shaped(h, 32, 2048), p["w"]), d["y"])

    return params, data, loss


def transformer(rng: np.random.Generator) -> Made:
    """Two blocks of attention with a mask and a feed-forward net."""
    rows, length, width, heads, words = 8, 64, 128, 4, 1000
    params = {"emb": weight(rng, words, width, scale=0.1), "pos": weight(rng, length, width, scale=0.1)}
    for i in range(2):
        params |= {f"qkv{i}": weight(rng, width, 3 * width), f"o{i}": weight(rng, width, width)}
        params |= {f"u{i}": weight(rng, width, 4 * width), f"d{i}": weight(rng, 4 * width, width)}
    params["out"] = weight(rng, width, words)
    mask = np.triu(np.full((length, length), -1e9, "float32"), 1)
    data = {"x": rng.integers(0, words, (rows, length)), "y": rng.integers(0, words, rows * length), "mask": mask}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        def head(t: Any) -> Any:
            return o.turned(o.shaped(t, rows, length, heads, width // heads), 0, 2, 1, 3)

        h = o.embedding(d["x"], p["emb"]) + p["pos"]
        for i in range(2):
            q, k, v = map(head, o.split(o.matmul(o.norm(h), p[f"qkv{i}"]), 3))
            scores = o.matmul(q, o.turned(k, 0, 1, 3, 2)) * float(1 / np.sqrt(width // heads)) + d["mask"]
            mixed = o.turned(o.matmul(o.softmax(scores), v), 0, 2, 1, 3)
            h = h + o.matmul(o.shaped(mixed, rows, length, width), p[f"o{i}"])
            h = h + o.matmul(o.gelu(o.matmul(o.norm(h), p[f"u{i}"])), p[f"d{i}"])
        return o.entropy(o.shaped(o.matmul(h, p["out"]), rows * length, words), d["y"])

    return params, data, loss


def lstm(rng: np.random.Generator) -> Made:
    """32 unrolled steps: many small operators."""
    rows, steps, inputs, width = 32, 32, 64, 128
    params = {"wx": weight(rng, inputs, 4 * width), "wh": weight(rng, width, 4 * width)}
    params |= {"b": np.zeros(4 * width, "float32"), "w": weight(rng, width, 10)}
    data = {f"x{t}": rng.standard_normal((rows, inputs)).astype("float32") for t in range(steps)}
    zeros = np.zeros((rows, width), "float32")
    data |= {"y": rng.integers(0, 10, rows), "h": zeros, "c": zeros}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        h, c = d["h"], d["c"]
        for t in range(steps):
            i, f, u, q = o.split(o.matmul(d[f"x{t}"], p["wx"]) + o.matmul(h, p["wh"]) + p["b"], 4)
            c = o.sigmoid(f) * c + o.sigmoid(i) * o.tanh(u)
            h = o.sigmoid(q) * o.tanh(c)
        return o.entropy(o.matmul(h, p["w"]), d["y"])

    return params, data, loss


def loop(rng: np.random.Generator) -> Made:
    """64 rounds of a recurrent cell in a while loop; ``lax.scan`` where it is written by hand."""
    rows, steps, inputs, width = 32, 64, 64, 128
    params = {"wx": weight(rng, inputs, 4 * width), "wh": weight(rng, width, 4 * width)}
    params |= {"b": np.zeros(4 * width, "float32"), "w": weight(rng, width, 10)}
    zeros = np.zeros((rows, width), "float32")
    data = {"x": rng.standard_normal((steps, rows, inputs)).astype("float32"), "y": rng.integers(0, 10, rows)}
    data |= {"h": zeros, "c": zeros}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        def turn(x: Any, h: Any, c: Any) -> list[Any]:
            i, f, u, q = o.split(o.matmul(x, p["wx"]) + o.matmul(h, p["wh"]) + p["b"], 4)
            c = o.sigmoid(f) * c + o.sigmoid(i) * o.tanh(u)
            return [o.sigmoid(q) * o.tanh(c), c]

        return o.entropy(o.matmul(o.rounds(turn, [d["h"], d["c"]], d["x"])[0], p["w"]), d["y"])

    return params, data, loss


def ctr(rng: np.random.Generator) -> Made:
    """Eight embeddings and two layers."""
    params = {f"e{i}": weight(rng, 5000, 16, scale=0.1) for i in range(8)}
    params |= {"w0": weight(rng, 128, 64), "b0": np.zeros(64, "float32"), "w1": weight(rng, 64, 10)}
    data = {f"i{i}": rng.integers(0, 5000, 256) for i in range(8)}
    data["y"] = rng.integers(0, 10, 256)

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        h = o.joined([o.embedding(d[f"i{i}"], p[f"e{i}"]) for i in range(8)])
        return o.entropy(o.matmul(o.relu(o.matmul(h, p["w0"]) + p["b0"]), p["w1"]), d["y"])

    return params, data, loss


ROUNDS = 300
CHAINED = 3 * ROUNDS + 3
"""The operators of ``chain``: with the first product, the shape of the labels, and the loss."""


def chain(rng: np.random.Generator) -> Made:
    """900 tiny operators: what an operator costs beyond its arithmetic."""
    params = {"a": weight(rng, 4, 4, scale=1.0)}
    data = {"x": np.ones((4, 4), "float32"), "y": np.zeros(4, "int64")}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        h = d["x"] * p["a"]
        for _ in range(ROUNDS):
            h = o.tanh(h) * 0.9 + p["a"]
        return o.entropy(h, d["y"])

    return params, data, loss


MODELS = {f.__name__: f for f in (mlp, conv, transformer, lstm, loop, ctr, chain)}
