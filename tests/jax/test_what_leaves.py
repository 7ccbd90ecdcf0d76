"""Questions on JAX, by the arrays that leave the device for them: numbers about arrays do, and no array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.core import settings
from gradtool.engine.kernels.jax.assumptions import FIRST_ROWS
from gradtool.engine.kernels.jax.measuring import _bits
from gradtool.paddle import static

from .leaving import Leaving


@pytest.fixture(autouse=True)
def _programs() -> Iterator[None]:
    with settings.keep_settings():
        paddle.enable_static()
        gradtool.set_backend("jax")
        yield
        paddle.disable_static()


def _dense(x: Any) -> Any:
    return paddle.mean(static.nn.fc(static.nn.fc(x, 48, activation="tanh"), 33) ** 2)


def _blocks(x: Any) -> Any:
    h = static.nn.fc(x, 48, activation="tanh")
    y = static.nn.while_loop(lambda n, y: n < 3, lambda n, y: [n + 1, paddle.tanh(y)], [paddle.zeros([1], "int64"), h])[
        1
    ]
    return paddle.mean(static.nn.cond(paddle.mean(y) > 100.0, lambda: y * 2, lambda: y + 1) * 3)


def _nested(x: Any) -> Any:
    h = static.nn.fc(x, 48, activation="tanh")

    def inner(m: Any, z: Any) -> list[Any]:
        return [m + 1, static.nn.cond(paddle.mean(z) > 0.0, lambda: paddle.tanh(z), lambda: z * 2)]

    def outer(n: Any, y: Any) -> list[Any]:
        return [n + 1, static.nn.while_loop(lambda m, z: m < n, inner, [paddle.zeros([1], "int64"), y])[1]]

    return paddle.mean(static.nn.while_loop(lambda n, y: n < 3, outer, [paddle.zeros([1], "int64"), h])[1] * 3)


NUMBERS = len(_bits("float32").begins) + 1
"""How many elements are of each power of ten: the longest of what is told of an array."""


@pytest.mark.sampled(4, "question")
@pytest.mark.parametrize(
    ("build", "question", "largest"),
    [
        (_dense, "nan", 1),
        (_dense, "stats", NUMBERS),
        (_dense, "saved", 4),
        (_dense, "profile", 0),
        (_blocks, "nan", 16),  # how often blocks ran, and what of branches is there
        (_blocks, "stats", NUMBERS * FIRST_ROWS),  # a row for each round
        (_blocks, "saved", 4 * FIRST_ROWS),
        (_blocks, "profile", 0),
        (_nested, "stats", NUMBERS * FIRST_ROWS**2),
    ],
)
def test_numbers_alone_leave(build: Any, question: str, largest: int) -> None:
    leaving = Leaving()
    values = np.random.default_rng(3).random((40, 50)).astype("float32")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        x = static.data("x", [40, 50])
        x.stop_gradient = False
        loss = build(x)
        static.Executor().run(static.default_startup_program())
        with leaving:
            getattr(gradtool, question)(loss, {"x": values})
    assert leaving.largest <= largest
    assert not {40 * 48, 40 * 50, 50 * 48} & {*leaving.sizes}  # no activation, no weight, no gradient of one
