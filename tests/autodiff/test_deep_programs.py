"""Depth: nothing walks a program by recursion."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.program import Program
from tests.autodiff.nets import backward_ops, data, main, mean, op, run

DEPTH = 2000


@pytest.fixture(autouse=True)
def _little_stack() -> Iterator[None]:
    """A recursion limit that the test runner and a hundred frames beyond it keep within, and DEPTH does not."""
    frame, used = sys._getframe(), 0
    while frame is not None:
        used += 1
        frame = frame.f_back  # type: ignore[assignment]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(used + 200)
    yield
    sys.setrecursionlimit(before)


def test_a_long_chain() -> None:
    x = data("x", 2)
    h = x
    for _ in range(DEPTH):
        h = op("tanh", h)
    ((_, gradient),) = paddle.static.append_backward(mean(h), [x])
    assert len(backward_ops()) == DEPTH + 2
    text = str(main())
    copy = main().clone()
    assert len(copy.global_block().ops) == 2 * DEPTH + 3
    assert len(str(Program.parse_from_string(text))) == len(text)
    (value,) = run([gradient], {"x": np.zeros(2)})
    np.testing.assert_allclose(value, [0.5, 0.5])


def test_a_long_chain_twice_differentiated() -> None:
    x = data("x", 2)
    h = x
    for _ in range(DEPTH // 10):
        h = op("scale", op("square", h), scale=0.5, bias=0.5)
    (first,) = paddle.static.gradients(h, x)
    (second,) = paddle.static.gradients(first, x)
    slope, curvature = run([first, second], {"x": np.ones(2)})
    np.testing.assert_allclose(slope, np.ones(2))
    np.testing.assert_allclose(curvature, np.full(2, DEPTH // 10))


def test_a_variable_with_many_consumers() -> None:
    x = data("x", 2)
    loss = mean(op("sum", [op("tanh", x) for _ in range(DEPTH)]))
    ((_, gradient),) = paddle.static.append_backward(loss, [x])
    assert len(backward_ops()[-1].input("X")) == DEPTH
    (value,) = run([gradient], {"x": np.zeros(2)})
    np.testing.assert_allclose(value, np.full(2, DEPTH / 2))


def test_a_variable_written_many_times() -> None:
    x = data("x", 2)
    h = op("tanh", x)
    for _ in range(DEPTH // 4):
        main().global_block().append_op("tanh", {"X": h}, {"Out": h})
    (gradient,) = paddle.static.gradients(h, x)
    (value,) = run([gradient], {"x": np.zeros(2)})
    np.testing.assert_allclose(value, [1.0, 1.0])
