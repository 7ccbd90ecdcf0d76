"""``gradcheck`` on JAX: the run is computed again there in double precision, and numbers alone leave the device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.gradcheck import ELEMENTS, LeafCheck
from gradtool.paddle import static

from .leaving import Leaving

Build = Callable[[Any], Any]
X = np.random.default_rng(1).random((4, 6)).astype("float32")


pytestmark = pytest.mark.usefixtures("static_programs")


def _weights(shape: list[int], value: float) -> Any:
    return paddle.create_parameter(shape, "float32", default_initializer=paddle.nn.initializer.Constant(value))


def _smooth(x: Any) -> Any:
    h = paddle.transpose(static.nn.fc(x, 6, activation="tanh"), [1, 0])
    return paddle.mean(paddle.nn.functional.dropout(h, 0.5) ** 2)


def _kinked(x: Any) -> Any:
    return paddle.mean(paddle.nn.functional.relu(_weights([4, 6], 0.0) * x)) + paddle.mean(_weights([6], 0.2) * x)


def _wrong(x: Any) -> Any:
    w = _weights([6], 0.3)
    return paddle.mean(w * x) + paddle.mean(w.detach() * x)


def _large(x: Any) -> Any:
    w = _weights([400], 0.3)
    return paddle.mean(w) + paddle.mean(w.detach() ** 2) * paddle.mean(x)


def _infinite(x: Any) -> Any:
    return paddle.mean(paddle.sqrt(x * _weights([6], 0.0)))


def _between_parts(x: Any) -> Any:
    return paddle.sum(paddle.masked_select(x * _weights([6], 0.3), x > 0.2) ** 2)


def _looped(x: Any) -> Any:
    w = _weights([6], 0.3)
    y = static.nn.while_loop(
        lambda n, y: n < 2, lambda n, y: [n + 1, paddle.tanh(y * w)], [paddle.zeros([1], "int64"), x]
    )[1]
    return paddle.mean(y)


def told(build: Build, backend: str, order: int = 1, leaving: Leaving | None = None) -> list[LeafCheck]:
    gradtool.set_backend(backend)
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        paddle.seed(3)
        loss = build(static.data("x", [4, 6]))
        static.Executor().run(static.default_startup_program())
        if leaving is None:
            return gradtool.gradcheck(loss, None, {"x": X}, order=order).entries
        with leaving:
            return gradtool.gradcheck(loss, None, {"x": X}, order=order).entries


def _verdicts(entries: list[LeafCheck]) -> list[Any]:
    return [(e.name, e.shape, e.dtype, e.order, e.status, e.cause, e.loc, e.index) for e in entries]


@pytest.mark.parametrize(
    ("build", "order", "most"),
    [(_smooth, 2, 1), (_kinked, 1, 1), (_wrong, 1, 6), (_infinite, 1, 1)],
)
def test_verdicts_are_those_of_numpy_and_numbers_alone_leave(build: Build, order: int, most: int) -> None:
    leaving = Leaving()
    here, there = told(build, "jax", order, leaving), told(build, "numpy", order)
    assert _verdicts(here) == _verdicts(there)
    np.testing.assert_allclose([e.element or 0 for e in here], [e.element or 0 for e in there], rtol=1e-4)
    assert leaving.sizes
    assert leaving.largest <= most  # of a gradient that is wrong, the elements that are looked at


@pytest.mark.parametrize("build", [_between_parts, _looped])
def test_what_is_not_compiled_whole_is_compared_too(build: Build) -> None:
    assert _verdicts(told(build, "jax")) == _verdicts(told(build, "numpy"))


def test_of_a_large_gradient_few_elements_leave() -> None:
    leaving = Leaving()
    (entry,) = told(_large, "jax", 1, leaving)
    assert entry.status == "wrong"
    assert leaving.largest == ELEMENTS


def test_differences_are_of_numbers_in_double_precision() -> None:
    (here, *_), (there, *_) = told(_smooth, "jax"), told(_smooth, "numpy")
    for e in (here, there):  # a step of 1e-6 would show nothing in single precision
        assert abs(e.analytic - e.numeric) < 1e-6 * max(1.0, abs(e.numeric))
