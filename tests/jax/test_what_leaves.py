"""Questions on JAX, by the arrays that leave the device for them: numbers about arrays do, and no array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtool as paddle
from gradtool import static
from gradtool.engine.kernels.jax.measuring import _bits

from .leaving import Leaving


@pytest.fixture(autouse=True)
def _programs() -> Iterator[None]:
    before = paddle.get_backend()
    paddle.enable_static()
    paddle.set_backend("jax")
    yield
    paddle.disable_static()
    paddle.set_backend(before)


def _dense(x: Any) -> Any:
    return paddle.mean(static.nn.fc(static.nn.fc(x, 48, activation="tanh"), 33) ** 2)


NUMBERS = len(_bits("float32").begins) + 1
"""How many elements are of each power of ten: the longest of what is told of an array."""


@pytest.mark.parametrize(("question", "largest"), [("find_nan", 1), ("stats", NUMBERS), ("saved", 4), ("profile", 0)])
def test_numbers_alone_leave(question: str, largest: int) -> None:
    leaving = Leaving()
    values = np.random.default_rng(3).random((40, 50)).astype("float32")
    with static.program_guard(static.Program(), static.Program()), static.scope_guard(static.Scope()):
        x = static.data("x", [40, 50])
        x.stop_gradient = False
        loss = _dense(x)
        static.Executor().run(static.default_startup_program())
        with leaving:
            getattr(paddle, question)(loss, {"x": values})
    assert leaving.largest <= largest
