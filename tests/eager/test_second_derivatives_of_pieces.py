"""Operators of straight pieces: their second derivative is zero, and an error about it names the operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool.paddle.nn.functional as F
from gradtool import paddle
from gradtool.engine.eager.piecewise_linear import BENT
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import Trait

pytestmark = pytest.mark.usefixtures("dynamic")

CALLS: dict[str, Callable[[Any], Any]] = {
    "abs": paddle.abs,
    "brelu": F.hardtanh,
    "clip": lambda x: paddle.clip(x, -0.5, 0.5),
    "elementwise_fmax": lambda x: paddle.fmax(x, x.detach() * 0.5),
    "elementwise_fmin": lambda x: paddle.fmin(x, x.detach() * 0.5),
    "elementwise_max": lambda x: paddle.maximum(x, x.detach() * 0.5),
    "elementwise_min": lambda x: paddle.minimum(x, x.detach() * 0.5),
    "hard_shrink": F.hardshrink,
    "hard_sigmoid": F.hardsigmoid,
    "leaky_relu": F.leaky_relu,
    "max_pool2d_with_index": lambda x: F.max_pool2d(x.reshape([1, 1, 4, 2]), 2, 2, return_mask=True)[0],
    "max_pool3d_with_index": lambda x: F.max_pool3d(x.reshape([1, 1, 2, 2, 2]), 2, 2, return_mask=True)[0],
    "reduce_amax": paddle.amax,
    "reduce_amin": paddle.amin,
    "reduce_max": paddle.max,
    "reduce_min": paddle.min,
    "relu": F.relu,
    "relu6": F.relu6,
    "softshrink": F.softshrink,
    "thresholded_relu": F.thresholded_relu,
}
VALUES = [1.5, -2.0, 0.3, 0.8, -0.2, 2.5, -1.1, 0.6]


def leaf() -> Any:
    return paddle.to_tensor(VALUES, stop_gradient=False)


def first(function: Callable[[Any], Any], x: Any) -> Any:
    (gradient,) = paddle.grad(function(x).sum(), x, create_graph=True)
    return gradient


def test_each_operator_has_a_call() -> None:
    assert CALLS.keys() == BENT.keys()


@pytest.mark.parametrize("op_type", BENT)
def test_the_operator_is_named_where_its_second_derivative_is_missing(op_type: str) -> None:
    x = leaf()
    gradient = first(CALLS[op_type], x)
    (second,) = paddle.grad(gradient, x, allow_unused=True, retain_graph=True)
    if second is not None:  # it has one, and it is zero
        assert not second.numpy().any()
        return
    sentence = f"the second derivative of {BENT[op_type]} is zero everywhere: at test_second_derivatives_of_pieces.py"
    with pytest.raises(ValueError, match="does not appear in the backward graph") as caught:
        paddle.grad(gradient, x)
    assert sentence in str(caught.value)


def test_every_function_of_one_tensor_that_is_made_of_pieces_is_in_the_table() -> None:
    found = set()
    for op in registry.all_ops():
        if op.forward is not None or op.rule is None or not op.trait & Trait.UNARY:
            continue
        reads = [i for i, r in enumerate(op.rule.reads) if r.kind in ("in", "out") and not r.like]
        grad = op.grad_op
        if reads and grad is not None and grad.rule is not None and not set(reads) & set(grad.rule.wrt):
            found.add(op.type)
    assert found - set(BENT) == {"scale"}  # which has no pieces: it is a line


def test_another_tensor_has_another_reason() -> None:
    x, other = leaf(), leaf()
    gradient = first(F.relu, x)
    with pytest.raises(ValueError, match="were not computed from it"):
        paddle.grad(gradient, other)


def test_a_network_is_told_the_line_of_the_activation() -> None:
    net = paddle.nn.Sequential(paddle.nn.Linear(1, 4), paddle.nn.LeakyReLU(), paddle.nn.Linear(4, 1))
    x = leaf().reshape([8, 1]).detach()
    x.stop_gradient = False
    with pytest.raises(ValueError, match="the second derivative of leaky_relu is zero everywhere: at test_second"):
        paddle.grad(first(net, x)[:, 0], x)


def test_a_smooth_function_between_has_a_second_derivative() -> None:
    x = leaf()
    (second,) = paddle.grad(first(lambda t: F.relu(t) * paddle.tanh(t), x), x)
    assert np.abs(second.numpy()).sum() > 0
