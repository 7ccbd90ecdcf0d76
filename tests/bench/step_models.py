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


class Layers:
    """Parameters of convolutional layers, made one after the other."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.params: Arrays = {}

    def normed(self, name: str, inputs: int, outputs: int, window: int, groups: int = 1) -> None:
        """A convolution without bias, and what batch norm multiplies and adds."""
        self.params[name] = weight(self.rng, outputs, inputs // groups, window, window)
        # without a shift, what multiplies before relu and another batch norm has no gradient
        numbers = self.rng.uniform(0.5, 1, (2, outputs)).astype("float32")
        self.params |= {f"{name} scale": numbers[0], f"{name} shift": numbers[1] - 0.5}


def images(rng: np.random.Generator, rows: int) -> Arrays:
    """Small coloured images with their classes."""
    return {"x": rng.standard_normal((rows, 3, 32, 32)).astype("float32"), "y": rng.integers(0, 10, rows)}


def resnet(rng: np.random.Generator) -> Made:
    """Three residual blocks with batch norm."""
    layers, blocks = Layers(rng), [(16, 16, 1), (16, 32, 2), (32, 64, 2)]
    layers.normed("first", 3, 16, 3)
    for i, (inputs, outputs, _) in enumerate(blocks):
        layers.normed(f"{i}a", inputs, outputs, 3)
        layers.normed(f"{i}b", outputs, outputs, 3)
        if inputs != outputs:
            layers.normed(f"{i}c", inputs, outputs, 1)
    params = {**layers.params, "w": weight(rng, 64, 10)}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        def normed(x: Any, name: str, stride: int = 1) -> Any:
            return o.batch_norm(o.conv(x, p[name], stride), p[f"{name} scale"], p[f"{name} shift"])

        h = o.relu(normed(d["x"], "first"))
        for i, (inputs, outputs, stride) in enumerate(blocks):
            passed = h if inputs == outputs else normed(h, f"{i}c", stride)
            h = o.relu(normed(o.relu(normed(h, f"{i}a", stride)), f"{i}b") + passed)
        return o.entropy(o.matmul(o.averaged(h), p["w"]), d["y"])

    return params, images(rng, 16), loss


def separable(rng: np.random.Generator) -> Made:
    """Four depthwise separable blocks with batch norm."""
    layers, blocks = Layers(rng), [(16, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2)]
    layers.normed("first", 3, 16, 3)
    for i, (inputs, outputs, _) in enumerate(blocks):
        layers.normed(f"{i}a", inputs, inputs, 3, groups=inputs)
        layers.normed(f"{i}b", inputs, outputs, 1)
    params = {**layers.params, "w": weight(rng, 128, 10)}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        def layer(x: Any, name: str, stride: int = 1, groups: int = 1) -> Any:
            h = o.conv(x, p[name], stride, groups)
            return o.relu(o.batch_norm(h, p[f"{name} scale"], p[f"{name} shift"]))

        h = layer(d["x"], "first")
        for i, (inputs, _, stride) in enumerate(blocks):
            h = layer(layer(h, f"{i}a", stride, inputs), f"{i}b")
        return o.entropy(o.matmul(o.averaged(h), p["w"]), d["y"])

    return params, images(rng, 16), loss


def decoder(rng: np.random.Generator) -> Made:
    """An encoder, and a decoder that makes images large again and reads those of the encoder beside them."""
    sizes = {"d1": (16, 3), "d2": (32, 16), "deep": (64, 32), "u2": (32, 96), "u1": (16, 48)}
    params = {name: weight(rng, *channels, 3, 3) for name, channels in sizes.items()}
    params |= {"out": weight(rng, 10, 16, 1, 1)}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        def layer(x: Any, name: str) -> Any:
            return o.relu(o.conv(x, p[name]))

        wide = layer(d["x"], "d1")
        half = layer(o.pool(wide), "d2")
        h = layer(o.pool(half), "deep")
        h = layer(o.beside([o.doubled(h), half]), "u2")
        h = layer(o.beside([o.doubled(h), wide]), "u1")
        return o.entropy(o.averaged(o.conv(h, p["out"])), d["y"])

    return params, images(rng, 8), loss


MODELS = {f.__name__: f for f in (mlp, conv, resnet, separable, decoder, transformer, lstm, loop, ctr, chain)}
