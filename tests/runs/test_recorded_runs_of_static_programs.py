"""A timeline of a static program is a run of it, to the bit, whatever runs later; and what a repair gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.runs import of_program
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.timeline import Timeline
from gradtool.viz.debugger.session import Session

F = paddle.nn.functional
END = 10**9
CASES: dict[str, Callable[[Any, Any], Any]] = {}


def case(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    CASES[function.__name__] = function
    return function


@case
def layers(x: Any, w: Any) -> Any:
    return (paddle.tanh(paddle.matmul(x, w)) * 2.0).mean()


@case
def dropout(x: Any, w: Any) -> Any:
    h = F.dropout(paddle.matmul(x, w), 0.5)
    return (F.dropout(h, 0.3) * paddle.rand([5, 4])).sum()


@case
def branches(x: Any, w: Any) -> Any:
    h = paddle.matmul(x, w)
    return paddle.static.nn.cond(h.sum() > 0.0, lambda: F.dropout(h, 0.5).sum(), lambda: (h * h).sum())


@case
def loops(x: Any, w: Any) -> Any:
    i = paddle.full([1], 0, "int64")
    h = paddle.matmul(x, w)
    _, h = paddle.static.nn.while_loop(lambda i, h: i < 3, lambda i, h: [i + 1, paddle.tanh(h) * w.sum()], [i, h])
    return h.sum()


@case
def rows(x: Any, w: Any) -> Any:
    h = F.embedding(paddle.to_tensor(np.array([2, 0, 2])), w, sparse=True)
    return (h * h).sum() + x.sum()


@case
def used_often(x: Any, w: Any) -> Any:
    h = paddle.matmul(x, w)
    for _ in range(5):
        h = paddle.tanh(h + paddle.matmul(x, w))
    return h.sum()


class Model:
    """A program with its gradients, in a scope of its own."""

    def __init__(self, function: Callable[[Any, Any], Any], checkpoints: Any = None, update: bool = False) -> None:
        self.main, startup = paddle.static.Program(), paddle.static.Program()
        self.scope = paddle.static.Scope()
        self.executor = paddle.static.Executor()
        self.feed = {"x": np.random.default_rng(1).uniform(-1, 1, (5, 3)).astype("float32")}
        with paddle.static.program_guard(self.main, startup), paddle.static.scope_guard(self.scope):
            x = paddle.static.data("x", [5, 3], "float32")
            w = paddle.static.create_parameter([3, 4], "float32", name="w")
            self.loss = function(x, w)
            if update:
                _, pairs = paddle.optimizer.Adam(0.1).minimize(self.loss)
            else:
                result = paddle.static.append_backward(self.loss, checkpoints=checkpoints)
                pairs = result if checkpoints is None else result[0]
            self.gradients = {p.name: g for p, g in pairs}
            self.executor.run(startup)
            self.scope.values["w"] = np.random.default_rng(2).uniform(-1, 1, (3, 4)).astype("float32")

    def run(self) -> list[Any]:
        paddle.seed(4)
        with paddle.static.scope_guard(self.scope):
            fetch = [self.loss, *self.gradients.values()]
            return [np.asarray(a) for a in self.executor.run(self.main, feed=self.feed, fetch_list=fetch)]

    def record(self, budget: int | None = None) -> Timeline:
        paddle.seed(4)
        fetch = [self.loss, *self.gradients.values()]
        with (
            paddle.static.scope_guard(self.scope),
            self.executor.hold(self.main, self.feed, fetch) as (plan, registers),
        ):
            return of_program.record(self.main, plan, registers, self.gradients, loss=self.loss, budget=budget)


def results(line: Timeline, branch: Branch) -> list[Any]:
    assert line.loss is not None
    numbers = [line.loss, *line.results.values()]
    return [np.asarray(branch.value(n, END)) for n in numbers if n is not None]


def same(came: list[Any], expected: list[Any]) -> None:
    for a, b in zip(came, expected, strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", CASES)
def test_a_recorded_run_is_the_run(name: str) -> None:
    model = Model(CASES[name])
    expected = model.run()
    stream = state.random.position
    line = model.record()
    assert line.failed is None
    assert state.random.position == stream
    same(results(line, Branch(line)), expected)
    same(model.run(), expected)


@pytest.mark.parametrize("name", CASES)
def test_what_was_let_go_of_comes_out_the_same(name: str) -> None:
    model = Model(CASES[name])
    line, small = model.record(), model.record(0)
    full, branch = Branch(line), Branch(small)
    for number, value in enumerate(line.values):
        if value.maker >= 0 and hasattr(full.make(number), "dtype"):
            np.testing.assert_array_equal(np.asarray(branch.make(number)), np.asarray(full.make(number)), value.name)


@pytest.mark.parametrize("name", CASES)
def test_another_parameter_gives_what_a_run_with_it_gives(name: str) -> None:
    model = Model(CASES[name])
    line = model.record()
    array = model.scope.values["w"] * np.float32(-0.5)
    branch = Branch(line, cursor=0)
    branch.edit(line.versions("w")[0], array, "")
    model.scope.values["w"] = array
    same(results(line, branch), model.run())


def test_checkpoints() -> None:
    def deep(x: Any, w: Any) -> Any:
        h = paddle.matmul(x, w)
        for _ in range(8):
            h = F.dropout(paddle.tanh(h) * 1.1, 0.2)
        return h.sum()

    model = Model(deep, checkpoints="auto")
    line = model.record()
    same(results(line, Branch(line)), model.run())
    array = model.scope.values["w"] * np.float32(0.3)
    branch = Branch(line, cursor=0)
    branch.edit(line.versions("w")[0], array, "")
    model.scope.values["w"] = array
    same(results(line, branch), model.run())


def test_steps_of_training_change_nothing_recorded() -> None:
    model = Model(layers, update=True)
    line = model.record()
    before = {n: np.array(np.asarray(a)) for n, a in line.store.items() if hasattr(a, "dtype")}
    for _ in range(3):
        model.run()
    model.feed["x"][...] = 7.0
    for n, array in before.items():
        np.testing.assert_array_equal(np.asarray(line.store.get(n)), array, line.values[n].name)


def test_an_edit_that_repairs_what_failed_lets_the_run_go_on() -> None:
    def failing(x: Any, w: Any) -> Any:
        where = paddle.cast(x[0, 0:1] * 0.0 + 9.0, "int64")
        return paddle.gather(w * 2.0, where, axis=0).sum()

    model = Model(failing)
    line = model.record()
    assert line.failed is not None
    at, error = line.failed
    assert line.entries[at].type == "gather"
    assert "gather" in str(error)
    session = Session(line)
    assert session.cursor == at
    assert session.step().why == "error"
    where = line.entries[at].inputs[1]
    session.branch.edit(where, np.array([1]), "")
    while session.current is not None:
        assert session.step(20).why in ("done", "end")
    after = results(line, session.branch)
    expected = np.zeros((3, 4), np.float32)
    expected[1] = 2.0
    np.testing.assert_array_equal(after[1], expected)
