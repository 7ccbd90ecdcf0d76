"""The models of ``python -m tests.bench step`` in the operators of an engine, in a process of its own.

Runs in any interpreter that has the engine: ``python -m tests.bench.step_engines gradtool|torch|paddle|paddle-static``.
It reads a line of JSON at a time: ``{"model": …, "file": …}`` computes a step, and leaves the loss and the gradients
in that file; ``{"runs": …}`` times this step, and answers with the best in seconds.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.bench.step_models import MODELS, Arrays

Step = Callable[[], list[Any]]


class Paddle:
    """The operators as gradtool and Paddle have them."""

    def __init__(self, paddle: Any) -> None:
        self.paddle = paddle
        self.F = paddle.nn.functional
        self.matmul, self.tanh = paddle.matmul, paddle.tanh
        self.relu, self.sigmoid, self.gelu, self.softmax = self.F.relu, self.F.sigmoid, self.F.gelu, self.F.softmax
        self.embedding = self.F.embedding

    def norm(self, x: Any) -> Any:
        return self.F.layer_norm(x, x.shape[-1])

    def conv(self, x: Any, k: Any, stride: int = 1, groups: int = 1) -> Any:
        return self.F.conv2d(x, k, stride=stride, padding=k.shape[-1] // 2, groups=groups)

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        channels = [scale.shape[0]]
        running = self.paddle.zeros(channels), self.paddle.ones(channels)
        return self.F.batch_norm(x, *running, weight=scale, bias=shift, training=True)

    def averaged(self, x: Any) -> Any:
        return self.paddle.mean(x, axis=[2, 3])

    def doubled(self, x: Any) -> Any:
        return self.F.interpolate(x, scale_factor=2, mode="nearest")

    def beside(self, values: list[Any]) -> Any:
        return self.paddle.concat(values, axis=1)

    def pool(self, x: Any) -> Any:
        return self.F.max_pool2d(x, 2, 2)

    def shaped(self, x: Any, *shape: int) -> Any:
        return self.paddle.reshape(x, list(shape))

    def turned(self, x: Any, *order: int) -> Any:
        return self.paddle.transpose(x, list(order))

    def split(self, x: Any, parts: int) -> Any:
        return self.paddle.split(x, parts, axis=-1)

    def joined(self, values: list[Any]) -> Any:
        return self.paddle.concat(values, axis=-1)

    def entropy(self, x: Any, y: Any) -> Any:
        return self.F.cross_entropy(x, self.paddle.reshape(y, [-1, 1]))

    def rounds(self, turn: Any, state: list[Any], each: Any) -> list[Any]:
        for x in each:
            state = turn(x, *state)
        return state

    def step(self, params: Arrays, data: Arrays, loss: Any) -> Step:
        """A step that gives the loss and all gradients."""
        leaves = {k: self.paddle.to_tensor(v, stop_gradient=False) for k, v in params.items()}
        given = {k: self.paddle.to_tensor(v) for k, v in data.items()}

        def step() -> list[Any]:
            for leaf in leaves.values():
                leaf.clear_grad()
            value = loss(self, leaves, given)
            value.backward()
            return [value, *(leaf.grad for leaf in leaves.values())]

        return step


class Static(Paddle):
    """The operators of programs."""

    def rounds(self, turn: Any, state: list[Any], each: Any) -> list[Any]:
        p, steps = self.paddle, each.shape[0]

        def step(i: Any, *state: Any) -> list[Any]:
            return [i + 1, *turn(p.squeeze(p.gather(each, i), 0), *state)]

        done: list[Any] = p.static.nn.while_loop(lambda i, *_: i < steps, step, [p.zeros([1], "int64"), *state])
        return done[1:]

    def step(self, params: Arrays, data: Arrays, loss: Any) -> Step:
        run, fetched = self.program(params, data, loss)
        return lambda: run(feed=data, fetch_list=fetched)

    def program(self, params: Arrays, data: Arrays, loss: Any, **options: Any) -> tuple[Callable[..., Any], list[Any]]:
        """What runs the program of a step, and what it has to fetch: the loss and all gradients.

        Args:
            options: of the executor.
        """
        p = self.paddle
        main, startup, scope = p.static.Program(), p.static.Program(), p.static.Scope()
        with p.static.program_guard(main, startup), p.static.scope_guard(scope):
            given = {
                k: p.create_parameter(
                    list(v.shape), str(v.dtype), name=k, default_initializer=p.nn.initializer.Assign(v)
                )
                for k, v in params.items()
            }
            fed = {k: p.static.data(k, list(v.shape), str(v.dtype)) for k, v in data.items()}
            value = loss(self, given, fed)
            pairs = p.static.append_backward(value, parameter_list=list(given.values()))
            gradients = {of.name: g for of, g in pairs}  # Paddle gives none of what is read in loops alone
            if missing := sorted(given.keys() - gradients.keys()):
                raise LookupError(f"no gradients of {', '.join(missing)}")
            exe = p.static.Executor(**options)
            exe.run(startup)
        return partial(exe.run, main, scope=scope), [value, *(gradients[k] for k in given)]


class Torch(Paddle):
    """The operators as PyTorch has them."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.F = torch.nn.functional
        self.matmul, self.tanh, self.relu, self.sigmoid = torch.matmul, torch.tanh, torch.relu, torch.sigmoid
        self.gelu, self.embedding = self.F.gelu, self.F.embedding

    def softmax(self, x: Any) -> Any:
        return self.torch.softmax(x, -1)

    def norm(self, x: Any) -> Any:
        return self.F.layer_norm(x, x.shape[-1:])

    def batch_norm(self, x: Any, scale: Any, shift: Any) -> Any:
        return self.F.batch_norm(x, None, None, scale, shift, training=True)

    def averaged(self, x: Any) -> Any:
        return x.mean((2, 3))

    def beside(self, values: list[Any]) -> Any:
        return self.torch.cat(values, 1)

    def shaped(self, x: Any, *shape: int) -> Any:
        return self.torch.reshape(x, shape)

    def turned(self, x: Any, *order: int) -> Any:
        return self.torch.permute(x, order)

    def split(self, x: Any, parts: int) -> Any:
        return self.torch.chunk(x, parts, -1)

    def joined(self, values: list[Any]) -> Any:
        return self.torch.cat(values, -1)

    def entropy(self, x: Any, y: Any) -> Any:
        return self.F.cross_entropy(x, y)

    def step(self, params: Arrays, data: Arrays, loss: Any) -> Step:
        leaves = {k: self.torch.tensor(v, requires_grad=True) for k, v in params.items()}
        given = {k: self.torch.tensor(v) for k, v in data.items()}

        def step() -> list[Any]:
            for leaf in leaves.values():
                leaf.grad = None
            value = loss(self, leaves, given)
            value.backward()
            return [value.detach(), *(leaf.grad for leaf in leaves.values())]

        return step


ENGINES = {"gradtool": Paddle, "torch": Torch, "paddle": Paddle, "paddle-static": Static}


ON_ONE_THREAD = os.environ.get("OMP_NUM_THREADS") == "1"
clock = time.process_time if ON_ONE_THREAD else time.perf_counter
"""Where there is one thread, time of CPU: what else the machine does hardly changes it."""


def best(step: Callable[[], Any], runs: int) -> float:
    """The shortest of the runs, in seconds, after one that does not count: others have used the caches."""
    step()
    times = []
    for _ in range(runs):
        start = clock()
        step()
        times.append(clock() - start)
    return min(times)


def main() -> None:
    """Answer what is asked on standard input."""
    name = sys.argv[1]
    home = name.partition("-")[0]
    package = importlib.import_module("gradtool.paddle" if home == "gradtool" else home)
    if name != home:
        package.enable_static()
    engine = ENGINES[name](package)
    print(json.dumps({"version": package.__version__}), flush=True)
    step: Step = list
    for line in sys.stdin:
        asked = json.loads(line)
        if "model" in asked:
            made = MODELS[asked["model"]](np.random.default_rng(7))
            try:
                step = engine.step(*made)
            except LookupError as error:
                print(json.dumps({"lacks": str(error)}), flush=True)
                continue
            np.savez(asked["file"], *[np.asarray(v) for v in step()])
            print("{}", flush=True)
        else:
            print(json.dumps({"best": best(step, asked["runs"])}), flush=True)


if __name__ == "__main__":
    main()
