"""Weights that are used one behind another."""

from __future__ import annotations

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.depth import ForwardCall, find_longest_row
from gradtool.paddle.nn import functional as F


def towers(sizes: tuple[float, ...]) -> paddle.Tensor:
    """Return the loss of two towers, whose last layers are that large: of the first, of the second."""
    x, loss = paddle.rand([8, 4]), 0.0
    for size in sizes:
        hidden, last = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 1)
        last.weight.set_value(last.weight * size)
        loss = loss + (last(F.tanh(hidden(x))) ** 2).mean()
    assert isinstance(loss, paddle.Tensor)
    return loss


@pytest.mark.parametrize("sizes", [(1e-3, 10.0), (10.0, 1e-3), (1e-3, 1e-3)])
def test_towers_next_to_each_other_have_no_trend(dynamic: None, sizes: tuple[float, float]) -> None:
    """Gradients of an actor that begins at small values, of its critic: neither is behind the other."""
    paddle.seed(0)
    assert gradtool.stats(towers(sizes)).course is None


def test_layers_behind_each_other_have_one(dynamic: None) -> None:
    paddle.seed(0)
    h = x = paddle.rand([8, 4])
    layers = [paddle.nn.Linear(4, 4) for _ in range(8)]
    for layer in layers:
        h = F.sigmoid(layer(h) * 0.1) + 0.0 * paddle.nn.Linear(4, 4)(x)  # with a short way next to it
    course = gradtool.stats(h.mean()).course
    assert course is not None
    assert course.kind == "vanishing"
    assert course.factor < 0.1


def test_a_row_goes_through_weights_in_another_shape() -> None:
    calls = [
        ForwardCall("w", "t", True),
        ForwardCall("xt", "h"),
        ForwardCall("v", "u", True),
        ForwardCall("hu", "y"),
        ForwardCall("yw", "z"),
    ]
    assert find_longest_row(calls, "wv") == ["w", "v"]


def test_the_longer_way_counts() -> None:
    calls = [
        ForwardCall("xa", "p"),
        ForwardCall("pb", "q"),
        ForwardCall("xc", "r"),
        ForwardCall("qr", "s"),
        ForwardCall("sd", "loss"),
    ]
    assert find_longest_row(calls, "abcd") == ["a", "b", "d"]
    assert find_longest_row([], "a") == []
