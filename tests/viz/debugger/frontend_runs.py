"""Runs that the tests of the debugger's front end walk through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.executor.executor import Executor
from gradtool.engine.runs import of_program, of_tape
from gradtool.engine.runs.recorder import Recorder
from gradtool.engine.runs.timeline import Timeline
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.session import Session


def recorded(build: Callable[[Recorder], dict[str, Any]], budget: int | None = None) -> Timeline:
    """The timeline of a model of dynamic mode, whose local variables are named as *build* says."""
    paddle.disable_static()
    paddle.seed(3)
    recorder = Recorder(budget)
    with paddle.utils.unique_name.guard():
        named = build(recorder)
    tensors = {t: name for name, t in named.items() if isinstance(t, paddle.Tensor)}
    return of_tape.timeline(recorder, title="hunt", named=tensors)


def hunt(recorder: Recorder) -> dict[str, Any]:
    """Square roots of nothing: infinite gradients from finite values."""
    fc1 = paddle.nn.Linear(4, 4)
    inp = paddle.to_tensor(np.random.RandomState(2).randn(3, 4).astype("float32"))
    with recorder.record():
        h = fc1(inp)
        x = paddle.nn.functional.relu(h) - paddle.nn.functional.relu(h)
        z = paddle.sqrt(x)
        loss = (z * 2).mean()
        loss.backward()
    return {"inp": inp, "h": h, "x": x, "z": z, "loss": loss}


class Cube(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, dout: Any) -> Any:
        (x,) = ctx.saved_tensor()
        return 3 * x * x * dout


def own_python(recorder: Recorder) -> dict[str, Any]:
    """Everything that a file cannot run again: a PyLayer, hooks, random numbers; lists of results, and sums."""
    fc1, fc2 = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)
    x = paddle.to_tensor(np.random.RandomState(4).randn(3, 4).astype("float32"))
    fc2.weight.register_hook(lambda g: g + 1)
    with recorder.record():
        h = fc1(x)
        h.register_hook(lambda g: g * 2)
        k = Cube.apply(fc2(h) + fc1(h * 2))
        k = paddle.nn.functional.dropout(k, 0.5) + paddle.randn([3, 4])
        first, second = paddle.split(paddle.concat([k, h], axis=0), 2, axis=0)
        loss = (first * second).mean()
        loss.backward()
    return {"x": x, "h": h, "k": k, "loss": loss}


def lowered(build: Callable[[], tuple[Any, dict[str, Any]]], budget: int | None = None) -> Timeline:
    """The timeline of a static program: *build* gives the loss and what is fed."""
    paddle.enable_static()
    paddle.seed(5)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss, feed = build()
        gradients = {p.name: g for p, g in paddle.static.append_backward(loss)}
        executor = Executor()
        executor.run(startup)
        with executor.hold(main, feed, [loss, *gradients.values()]) as (plan, registers):
            return of_program.record(main, plan, registers, gradients, title="static", loss=loss, budget=budget)


def looping(step: float = 0.05) -> tuple[Any, dict[str, Any]]:
    """A loop, a branch and dropout; for larger steps the loop takes roots of negative numbers in its second run."""
    x = paddle.static.data("x", [3, 4])
    h = paddle.nn.functional.dropout(paddle.static.nn.fc(x, 4), 0.5)
    i = paddle.full([1], 0, "int64")

    def again(i: Any, s: Any) -> Any:
        return i < 4

    def body(i: Any, s: Any) -> Any:
        return [i + 1, paddle.sqrt(s - paddle.cast(i, "float32") * step)]

    _, s = paddle.static.nn.while_loop(again, body, [i, paddle.abs(h) + 0.1])
    q = paddle.static.nn.cond(paddle.mean(h) < 100.0, lambda: s * 2, lambda: s * 3)
    return paddle.mean(paddle.exp(q)), {"x": np.random.RandomState(0).randn(3, 4).astype("float32")}


def book_over(timeline: Timeline) -> Notebook:
    return Notebook(Session(timeline), "model.py")


def said(book: Notebook, *lines: str) -> str:
    """The text of the last of these cells."""
    text = ""
    for line in lines:
        text = book.execute(line)[0].text
    return text
