"""Gradients of what loops begin with, also where not everything that they leave is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from tests.autodiff.nets import data, main, mean, op, run

X, W = np.array([0.1, 0.2, 0.3]), np.array([0.4, 0.5, 0.6])


def built() -> tuple[list[Any], Any, Any]:
    """A loss of each result of a loop, what the loop began with, and ``w``."""
    h, w = op("tanh", data("x", 3)), data("w", 3)
    results = paddle.static.nn.while_loop(
        lambda i, h, b: i < 3,
        lambda i, h, b: (i + 1, h * h + w, b * h),
        [paddle.zeros([1], "int64"), h, op("exp", w)],
    )
    return [mean(op("square", r)) for r in results[1:]], h, w


def computed(h: np.ndarray, w: np.ndarray, read: int) -> float:
    b = np.exp(w)
    for _ in range(3):
        h, b = h * h + w, b * h
    return float(np.mean((h, b)[read - 1] ** 2))


def differences(function: Callable[[np.ndarray], float], at: np.ndarray) -> list[float]:
    steps = 1e-6 * np.eye(3)
    return [(function(at + s) - function(at - s)) / 2e-6 for s in steps]


@pytest.mark.parametrize("read", [1, 2])
def test_a_variable_stands_for_what_it_held_before_the_loop(read: int) -> None:
    losses, h, w = built()
    loss = losses[read - 1]
    asked = paddle.static.gradients([loss], [h, w])
    value, of_h, of_w = run([loss, *asked], {"x": X, "w": W})
    start = np.tanh(X)
    assert value == pytest.approx(computed(start, W, read))
    np.testing.assert_allclose(of_h, differences(lambda v: computed(v, W, read), start), rtol=1e-5)
    np.testing.assert_allclose(of_w, differences(lambda v: computed(start, v, read), W), rtol=1e-5)


def test_gradients_of_gradients_of_a_loop() -> None:
    (_, loss), h, w = built()
    (first,) = paddle.static.gradients([loss], [w])
    (second,) = paddle.static.gradients([mean(op("square", first))], [h])

    def of_first(v: np.ndarray) -> float:
        return float(np.mean(np.square(differences(lambda u: computed(v, u, 2), W))))

    (slope,) = run([second], {"x": X, "w": W})
    steps = 1e-3 * np.eye(3)
    start = np.tanh(X)
    expected = [(of_first(start + s) - of_first(start - s)) / 2e-3 for s in steps]
    np.testing.assert_allclose(slope, expected, rtol=1e-3)
    assert any(o.type == "while" for o in main().global_block().ops)


def test_two_gradients_through_one_loop() -> None:
    """The second finds what the first read of every run, and nothing of it is used up too early."""
    losses, h, w = built()
    asked = [g for loss in losses for g in paddle.static.gradients([loss], [h, w])]
    start = np.tanh(X)
    for fetched in (asked, asked[::-1]):
        values = dict(zip((g.name for g in fetched), run(fetched, {"x": X, "w": W}), strict=True))
        for read, (of_h, of_w) in enumerate((asked[:2], asked[2:]), 1):
            np.testing.assert_allclose(
                values[of_h.name], differences(lambda v, read=read: computed(v, W, read), start), rtol=1e-5
            )
            np.testing.assert_allclose(
                values[of_w.name], differences(lambda v, read=read: computed(start, v, read), W), rtol=1e-5
            )


@pytest.mark.parametrize("start", [5, 2])
def test_a_loop_that_is_not_entered_gives_its_parameters_zeros(start: int) -> None:
    x, w = data("x", 3), data("w", 3)
    v = data("v", 2, 3)
    i = paddle.static.data("i", [1], "int64")
    _, h = paddle.static.nn.while_loop(
        lambda i, h: i < 3, lambda i, h: (i + 1, h * w + paddle.sum(v, axis=0)), [i, op("tanh", x)]
    )
    asked = paddle.static.gradients([paddle.sum(h)], [x, w, v])
    of_x, of_w, of_v = run(asked, {"x": X, "w": W, "v": np.ones((2, 3)), "i": np.array([start])})
    slope = 1 - np.tanh(X) ** 2
    entered = start < 3
    np.testing.assert_allclose(of_x, slope * W if entered else slope)
    np.testing.assert_allclose(of_w, np.tanh(X) if entered else np.zeros(3))
    np.testing.assert_allclose(of_v, np.full((2, 3), float(entered)))
