"""A step of seven models: gradtool on each backend beside a hand-written ``jax.jit`` of the same computation.

    python -m tests.bench step                       # all models, NumPy and JAX
    python -m tests.bench step --models mlp,chain --device gpu --runs 50

Milliseconds of one forward and backward pass, the best of the runs; every engine computes the loss and the gradients
of all parameters, which are compared before anything is timed. The target: ``jax`` at most 1.1 times the hand-written
one. Only ratios on one quiet machine mean anything. ``jax`` leaves data and gradients on the device, as the step
written by hand does (arrays of JAX are fed, ``return_numpy=False``); ``copied`` is the same step with what an executor
does by default: feeds go to the device every time, and all gradients come back as arrays of the caller's. ``watched``
is the step of ``jax`` while ``nan`` looks for what is not finite; the target: at most 1.3 times the bare step.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import gradtool as paddle
from gradtool import static
from gradtool.engine.answers.coverage import Coverage
from gradtool.engine.answers.events import Adapter
from gradtool.engine.answers.nan import Hunt
from gradtool.engine.core import watch
from gradtool.engine.kernels.choice import backend

F = paddle.nn.functional
Arrays = dict[str, Any]


def weight(rng: np.random.Generator, *shape: int, scale: float | None = None) -> Any:
    """Random numbers of the size that keeps activations as they are."""
    fan = shape[0] if len(shape) < 4 else np.prod(shape[1:])
    return (rng.standard_normal(shape) * (scale or 1 / np.sqrt(fan))).astype("float32")


class Paddle:
    """The operators as gradtool has them."""

    matmul, tanh, relu, sigmoid = paddle.matmul, paddle.tanh, F.relu, F.sigmoid
    gelu = F.gelu
    softmax = F.softmax
    embedding = F.embedding

    @staticmethod
    def norm(x: Any) -> Any:
        return F.layer_norm(x, x.shape[-1])

    @staticmethod
    def conv(x: Any, k: Any) -> Any:
        return F.conv2d(x, k, padding=1)

    @staticmethod
    def pool(x: Any) -> Any:
        return F.max_pool2d(x, 2, 2)

    @staticmethod
    def shaped(x: Any, *shape: int) -> Any:
        return paddle.reshape(x, list(shape))

    @staticmethod
    def turned(x: Any, *order: int) -> Any:
        return paddle.transpose(x, list(order))

    @staticmethod
    def split(x: Any, parts: int) -> Any:
        return paddle.split(x, parts, axis=-1)

    @staticmethod
    def joined(values: list[Any]) -> Any:
        return paddle.concat(values, axis=-1)

    @staticmethod
    def entropy(x: Any, y: Any) -> Any:
        return F.cross_entropy(x, paddle.reshape(y, [-1, 1]))

    @staticmethod
    def rounds(turn: Any, state: list[Any], each: Any) -> list[Any]:
        steps = each.shape[0]

        def step(i: Any, *state: Any) -> list[Any]:
            return [i + 1, *turn(paddle.squeeze(paddle.gather(each, i), 0), *state)]

        done: list[Any] = static.nn.while_loop(lambda i, *_: i < steps, step, [paddle.zeros([1], "int64"), *state])
        return done[1:]


class Jax:
    """The same, as one writes them with JAX."""

    matmul, tanh, relu, sigmoid, softmax = jnp.matmul, jnp.tanh, jax.nn.relu, jax.nn.sigmoid, jax.nn.softmax

    @staticmethod
    def gelu(x: Any) -> Any:
        return jax.nn.gelu(x, approximate=False)

    @staticmethod
    def embedding(ids: Any, table: Any) -> Any:
        return table[ids]

    @staticmethod
    def norm(x: Any) -> Any:
        centred = x - x.mean(-1, keepdims=True)
        return centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    @staticmethod
    def conv(x: Any, k: Any) -> Any:
        return jax.lax.conv_general_dilated(x, k, (1, 1), "SAME")

    @staticmethod
    def pool(x: Any) -> Any:
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")

    @staticmethod
    def shaped(x: Any, *shape: int) -> Any:
        return x.reshape(shape)

    @staticmethod
    def turned(x: Any, *order: int) -> Any:
        return x.transpose(order)

    @staticmethod
    def split(x: Any, parts: int) -> Any:
        return jnp.split(x, parts, -1)

    @staticmethod
    def joined(values: list[Any]) -> Any:
        return jnp.concatenate(values, -1)

    @staticmethod
    def entropy(x: Any, y: Any) -> Any:
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()

    @staticmethod
    def rounds(turn: Any, state: list[Any], each: Any) -> list[Any]:
        return list(jax.lax.scan(lambda state, x: (tuple(turn(x, *state)), None), tuple(state), each)[0])


Loss = Callable[[Any, Arrays, Arrays], Any]
Made = tuple[Arrays, Arrays, Loss]
TURN = 10
"""Runs of a step before the next one has its turn."""


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


def chain(rng: np.random.Generator) -> Made:
    """900 tiny operators: what an operator costs beyond its arithmetic."""
    params = {"a": weight(rng, 4, 4, scale=1.0)}
    data = {"x": np.ones((4, 4), "float32"), "y": np.zeros(4, "int64")}

    def loss(o: Any, p: Arrays, d: Arrays) -> Any:
        h = d["x"] * p["a"]
        for _ in range(300):
            h = o.tanh(h) * 0.9 + p["a"]
        return o.entropy(h, d["y"])

    return params, data, loss


MODELS = {f.__name__: f for f in (mlp, conv, transformer, lstm, loop, ctr, chain)}


def of_gradtool(made: Made, name: str, *, stays: bool = False) -> Callable[[], list[Any]]:
    """A step that fetches the loss and all gradients.

    Args:
        stays: data and what is fetched are on the device.
    """
    params, data, loss = made
    main, startup, scope = static.Program(), static.Program(), static.Scope()
    with static.program_guard(main, startup), static.scope_guard(scope):
        given = {
            k: paddle.create_parameter(
                list(v.shape), str(v.dtype), name=k, default_initializer=paddle.nn.initializer.Assign(v)
            )
            for k, v in params.items()
        }
        fed = {k: static.data(k, list(v.shape), str(v.dtype)) for k, v in data.items()}
        value = loss(Paddle, given, fed)
        pairs = static.append_backward(value, parameter_list=list(given.values()))
        exe = static.Executor(backend=name)
        exe.run(startup)
    fetch = [value, *(g for _, g in pairs)]

    def step() -> list[Any]:
        return exe.run(main, feed=data, fetch_list=fetch, scope=scope)

    if not stays:
        return step
    there = jax.device_put(data)

    def step_there() -> list[Any]:
        fetched = exe.run(main, feed=there, fetch_list=fetch, scope=scope, return_numpy=False)
        return jax.block_until_ready([handle.value for handle in fetched])

    return step_there


def watched(step: Callable[[], Any]) -> Callable[[], Any]:
    """*step* as ``nan`` runs it."""

    def run() -> Any:
        hunt = Hunt()
        adapter = Adapter(Coverage(hunt))
        with watch.watched(adapter):
            values = step()
            adapter.finish()
        assert hunt.steps == 1, "the backward pass was not looked at"
        assert hunt.story().clean, "something is not finite"
        return values

    return run


def of_jax(made: Made) -> Callable[[], list[Any]]:
    """A hand-written step, with parameters and data on the device."""
    params, data, loss = made
    function = jax.jit(jax.value_and_grad(lambda p, d: loss(Jax, p, d)))
    p, d = jax.device_put(params), jax.device_put(data)

    def step() -> list[Any]:
        value, gradients = jax.block_until_ready(function(p, d))
        return [value, *(gradients[k] for k in params)]

    return step


def milliseconds(steps: Sequence[Callable[[], Any]], runs: int) -> list[float]:
    """The best of the runs of each step. They take turns, a few runs each: what else the machine does hits all."""
    best = [math.inf] * len(steps)
    for _ in range(-(-runs // TURN)):
        for n, step in enumerate(steps):
            step()  # what the others have left in caches does not count
            for _ in range(TURN):
                start = time.perf_counter()
                step()
                best[n] = min(best[n], time.perf_counter() - start)
    return [seconds * 1e3 for seconds in best]


def compared(expected: list[Any], here: list[Any], what: str) -> None:
    """Raise where an engine computes something else: a fast wrong answer does not count."""
    for a, b in zip(expected, here, strict=True):
        a, b = np.asarray(a, "float64"), np.asarray(b, "float64")
        assert np.abs(a - b).max() <= 2e-3 * max(np.abs(a).max(), 1e-12), what


def main() -> None:
    """Print the table that is asked for."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench step", description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--device", help="cpu, gpu, tpu")
    options = parser.parse_args()
    paddle.enable_static()
    with backend("jax").settings(options.device):
        table(options.models.split(","), options.runs)


def table(models: Sequence[str], runs: int) -> None:
    """Print a row for each model."""
    headings = "".join(f"{h:>10}" for h in ("numpy", "copied", "watched", "jax", "jax.jit", "numba"))
    print(f"{'model':<12}{headings}{'ratio':>8}{'watched':>9}   (at most 1.1, and 1.3)")
    for name in models:
        made = MODELS[name](np.random.default_rng(7))
        by_hand = of_jax(made)
        reference, fused = of_gradtool(made, "numpy"), of_gradtool(made, "numba")
        step, copied = (of_gradtool(made, "jax", stays=stays) for stays in (True, False))
        expected = reference()
        compared(expected, by_hand(), f"jax.jit of {name}")
        for _ in range(3):  # groups are compiled after the first run, and compared in the second
            assert all(map(np.array_equal, expected, fused())), f"numba of {name}"
        compared(expected, step(), f"gradtool of {name}")
        compared(expected, copied(), f"gradtool of {name}, copied")
        asked = watched(step)
        compared(expected, asked(), f"gradtool of {name}, watched")
        row = milliseconds((reference, copied, asked, step, by_hand, fused), runs)
        ratios = f"{row[3] / row[4]:>8.2f}{row[2] / row[3]:>9.2f}"
        print(f"{name:<12}" + "".join(f"{t:>10.3f}" for t in row) + ratios, flush=True)


if __name__ == "__main__":
    main()
