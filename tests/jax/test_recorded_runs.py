"""``debug`` of programs on JAX: recorded where they are computed, within a budget; what is looked at is fetched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.kernels.jax.kept_results import NotingCompilation
from gradtool.engine.runs import of_program
from gradtool.engine.runs.branch import Branch
from gradtool.engine.runs.timeline import NOBODY, Timeline
from gradtool.paddle import static

from .leaving import Leaving

Build = Callable[[Any], Any]


def _dense(x: Any) -> Any:
    h = static.nn.fc(x, 6, activation="tanh")
    return paddle.mean(static.nn.fc(paddle.nn.functional.dropout(h, 0.5), 3) ** 2)


def _blocks(x: Any) -> Any:
    h = static.nn.fc(x, 6, activation="tanh")
    y = static.nn.while_loop(lambda n, y: n < 3, lambda n, y: [n + 1, paddle.tanh(y)], [paddle.zeros([1], "int64"), h])[
        1
    ]
    return paddle.mean(static.nn.cond(paddle.mean(y) > 100.0, lambda: y * 2, lambda: y + 1) * 3)


def _split(x: Any) -> Any:
    w = paddle.create_parameter([4, 6], "float32", default_initializer=paddle.nn.initializer.Constant(0.5))
    return paddle.sum(paddle.tanh(paddle.masked_select(paddle.tanh(x * w), x > 0.2)))


def _refused(x: Any) -> Any:
    table = paddle.create_parameter([3, 2], "float32")
    return paddle.mean(paddle.nn.functional.embedding(paddle.cast(paddle.tanh(x) * 0 + 7, "int64"), table))


pytestmark = pytest.mark.usefixtures("static_programs")


def recorded(build: Build, backend: str, budget: int | None = None, leaving: Leaving | None = None) -> Timeline:
    gradtool.set_backend(backend)
    values = np.random.default_rng(3).random((4, 6)).astype("float32")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        paddle.seed(3)
        x = static.data("x", [4, 6])
        loss = build(x)
        static.Executor().run(static.default_startup_program())
        program = static.default_main_program()
        gradients = {p.name: g for p, g in static.append_backward(loss)}
        executor = static.Executor()
        fetch = [loss, *gradients.values()]
        with executor.hold(program, feed={"x": values}, fetch_list=fetch) as (plan, registers), leaving or Leaving():
            return of_program.record(program, plan, registers, gradients, loss=loss, budget=budget)


def expect_alike(here: Timeline, there: Timeline) -> None:
    """Every value that an operator made is the same on both; looking at one is what computes it again."""
    mine, theirs = Branch(here), Branch(there)
    for number, value in enumerate(there.values):
        expected = None if value.maker == NOBODY else theirs.make(number)
        if isinstance(expected, np.ndarray):
            got = mine.make(number)
            assert type(got) is np.ndarray
            assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6, err_msg=value.name)


@pytest.mark.parametrize("build", [_dense, _blocks, _split])
def test_values_are_those_of_numpy(build: Build) -> None:
    expect_alike(recorded(build, "jax"), recorded(build, "numpy"))


@pytest.mark.parametrize("build", [_dense, _blocks])
def test_what_is_looked_at_leaves_the_device(build: Build) -> None:
    recording, looking = Leaving(), Leaving()
    run = recorded(build, "jax", leaving=recording)
    assert recording.largest <= 1  # flags, and how far the stream of random numbers is
    tanh = next(e for e in run.entries if e.type == "tanh")
    with looking:
        array = Branch(run).make(tanh.made[0])
        again = Branch(run).make(tanh.made[0])
    assert looking.sizes == [array.size]
    assert again is array


def test_no_more_is_held_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    parts: list[int] = []
    run = NotingCompilation._run

    def noting(self: NotingCompilation, part: Any, regs: list[Any]) -> Any:
        told = run(self, part, regs)
        if len(part.span) > 1:
            parts.append(sum(leaf.nbytes for leaf in jax.tree_util.tree_leaves([t.outputs for t in told])))
        return told

    monkeypatch.setattr(NotingCompilation, "_run", noting)
    here, there = recorded(_blocks, "jax", 1600), recorded(_blocks, "numpy")
    assert len(parts) > 1
    assert max(parts) <= 1600 // of_program.PARTS
    assert here.store.dropped
    assert here.store.bytes <= 1600
    expect_alike(here, there)


def test_random_numbers_are_drawn_again_as_they_were() -> None:
    run = recorded(_dense, "jax")
    dropout = next(e for e in run.entries if e.type == "dropout")
    before = [np.array(run.store.get(n)) for n in dropout.made]
    assert dropout.drawn is not None
    for n in dropout.made:
        run.store.drop(n)
    again = Branch(run)
    for n, array in zip(dropout.made, before, strict=True):
        np.testing.assert_allclose(again.make(n), array, rtol=1e-6)


def test_an_operator_that_fails_is_told_with_what_came_before_it() -> None:
    here, there = recorded(_refused, "jax"), recorded(_refused, "numpy")
    assert here.failed is not None
    assert there.failed is not None
    assert (here.failed[0], str(here.failed[1])) == (there.failed[0], str(there.failed[1]))
    before = here.entries[here.failed[0] - 1]
    np.testing.assert_array_equal(here.store.get(before.made[0]), there.store.get(before.made[0]))
