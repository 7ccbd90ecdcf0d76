"""A step of ten models: gradtool on each backend beside a hand-written ``jax.jit``, and in dynamic mode beside peers.

    python -m tests.bench step                       # all models, NumPy and JAX, then dynamic mode
    python -m tests.bench step --models mlp,chain --device gpu --runs 50
    python -m tests.bench step --dynamic --peer torch=/path/to/python --peer paddle=/path/to/python

Milliseconds of one forward and backward pass, the best of the runs; every engine computes the loss and the gradients
of all parameters, which are compared before anything is timed. The target: ``jax`` at most 1.1 times the hand-written
one. Only ratios on one quiet machine mean anything; with OMP_NUM_THREADS=1 (and OPENBLAS_NUM_THREADS=1) times are those
of CPU, which a busy one hardly changes. ``jax`` leaves data and gradients on the device, as the step
written by hand does (arrays of JAX are fed, ``return_numpy=False``); ``copied`` is the same step with what an executor
does by default: feeds go to the device every time, and all gradients come back as arrays of the caller's. ``watched``
is the step of ``jax`` while ``nan`` looks for what is not finite; the target: at most 1.3 times the bare step.

The second table has dynamic mode: each engine in a process of its own, beside the static program on NumPy. A peer is
named with the interpreter that has it; GRADTOOL_BENCH_PEERS may hold the same, with commas between them. The last row
is the time of ``chain`` by its operators, forward and backward: what an operator on 4×4 tensors costs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
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
from gradtool.engine.kernels import choice
from gradtool.engine.kernels.numba import hot
from tests.bench.measuring import ROOT, interpreters
from tests.bench.step_dynamic import Paddle, best
from tests.bench.step_models import CHAINED, MODELS, Made


class Static(Paddle):
    """The operators of programs."""

    def rounds(self, turn: Any, state: list[Any], each: Any) -> list[Any]:
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
    def conv(x: Any, k: Any, stride: int = 1, groups: int = 1) -> Any:
        pads = [(k.shape[-1] // 2,) * 2] * 2
        return jax.lax.conv_general_dilated(x, k, (stride, stride), pads, feature_group_count=groups)

    @staticmethod
    def batch_norm(x: Any, scale: Any, shift: Any) -> Any:
        centred = x - x.mean((0, 2, 3), keepdims=True)
        normal = centred / jnp.sqrt((centred**2).mean((0, 2, 3), keepdims=True) + 1e-5)
        return normal * scale[:, None, None] + shift[:, None, None]

    @staticmethod
    def averaged(x: Any) -> Any:
        return x.mean((2, 3))

    @staticmethod
    def doubled(x: Any) -> Any:
        return x.repeat(2, 2).repeat(2, 3)

    @staticmethod
    def beside(values: list[Any]) -> Any:
        return jnp.concatenate(values, 1)

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
        value = loss(Static(paddle), given, fed)
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


TURN = 10
"""Runs of a step before the next one has its turn."""


class Dynamic:
    """An engine's dynamic mode, in a process of its own that waits while others have their turn."""

    def __init__(self, name: str, python: str) -> None:
        command = [python, "-W", "ignore", "-m", "tests.bench.step_dynamic", name]
        environment = {**os.environ, "GLOG_minloglevel": "3"}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)
        self.name = f"{name} {self._answer()['version'].partition('+')[0]}"

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self._process.args!r} has ended")
        return dict(json.loads(line))

    def _ask(self, **asked: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def take(self, model: str) -> list[Any]:
        """Make the step of *model*; the loss and the gradients that it gives."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "values.npz"
            self._ask(model=model, file=str(file))
            with np.load(file) as values:
                return [values[f"arr_{i}"] for i in range(len(values))]

    def best(self, runs: int) -> float:
        """Seconds of the shortest of the runs."""
        return float(self._ask(runs=runs)["best"])

    def end(self) -> None:
        """End its process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def milliseconds(steps: Sequence[Callable[[int], float]], runs: int) -> list[float]:
    """The best of the runs of each. They take turns, a few runs each: what else the machine does hits all.

    Args:
        steps: each gives the seconds of the shortest of so many runs.
    """
    shortest = [math.inf] * len(steps)
    for _ in range(-(-runs // TURN)):
        for n, step in enumerate(steps):
            shortest[n] = min(shortest[n], step(TURN))
    return [seconds * 1e3 for seconds in shortest]


def made_hot(step: Callable[[], Any]) -> None:
    """Run *step* until groups of its plan are compiled."""
    for _ in range(hot.RUNS + 1):
        step()
    hot.waited()


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
    parser.add_argument("--peer", action="append", metavar="NAME=PYTHON", help="torch=… or paddle=…; repeatable")
    parser.add_argument("--dynamic", action="store_true", help="only the second table")
    options = parser.parse_args()
    engines = [Dynamic(*pair) for pair in interpreters(parser, options.peer).items()]
    models = options.models.split(",")
    paddle.enable_static()
    if not options.dynamic:
        with choice.backend("jax").settings(options.device):
            table(models, options.runs)
        print()
    dynamic(models, engines, options.runs)
    for engine in engines:
        engine.end()


def table(models: Sequence[str], runs: int) -> None:
    """Print a row for each model."""
    headings = "".join(f"{h:>10}" for h in ("numpy", "copied", "watched", "jax", "jax.jit", "numba", "onednn"))
    print(f"{'model':<12}{headings}{'ratio':>8}{'watched':>9}   (at most 1.1, and 1.3)")
    for name in models:
        made = MODELS[name](np.random.default_rng(7))
        by_hand = of_jax(made)
        reference, fused, convolved = (of_gradtool(made, backend) for backend in ("numpy", "numba", "onednn"))
        step, copied = (of_gradtool(made, "jax", stays=stays) for stays in (True, False))
        expected = reference()
        compared(expected, by_hand(), f"jax.jit of {name}")
        for _ in range(3):  # groups are compiled after the first run, and compared in the second
            assert all(map(np.array_equal, expected, fused())), f"numba of {name}"
        made_hot(convolved)
        compared(expected, convolved(), f"onednn of {name}")
        compared(expected, step(), f"gradtool of {name}")
        compared(expected, copied(), f"gradtool of {name}, copied")
        asked = watched(step)
        compared(expected, asked(), f"gradtool of {name}, watched")
        steps = (reference, copied, asked, step, by_hand, fused, convolved)
        row = milliseconds([partial(best, each) for each in steps], runs)
        ratios = f"{row[3] / row[4]:>8.2f}{row[2] / row[3]:>9.2f}"
        print(f"{name:<12}" + "".join(f"{t:>10.3f}" for t in row) + ratios, flush=True)


def dynamic(models: Sequence[str], engines: Sequence[Dynamic], runs: int) -> None:
    """Print a row of dynamic mode for each model, beside the static program on NumPy and with oneDNN."""
    print(f"{'dynamic mode':<12}{'static':>10}{'onednn':>10}" + "".join(f"{e.name:>20}" for e in engines))
    for name in models:
        made = MODELS[name](np.random.default_rng(7))
        reference, convolved = (of_gradtool(made, backend) for backend in ("numpy", "onednn"))
        expected = reference()
        made_hot(convolved)
        for engine in engines:
            compared(expected, engine.take(name), f"{engine.name} of {name}")
        steps = [partial(best, step) for step in (reference, convolved)]
        row = milliseconds([*steps, *(engine.best for engine in engines)], runs)
        print(f"{name:<12}" + "".join(f"{t:>10.3f}" for t in row[:2]) + "".join(f"{t:>20.3f}" for t in row[2:]))
        if name == "chain":
            print(f"{'µs per op':<22}" + "".join(f"{t / CHAINED * 1e3:>20.2f}" for t in row[2:]), flush=True)


if __name__ == "__main__":
    main()
