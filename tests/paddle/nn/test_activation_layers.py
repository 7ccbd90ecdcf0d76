"""Activations as layers, in both modes: names, settings and text of Paddle 3.1.1, values of the functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn

TEXTS = {
    "CELU": "celu_0 CELU(alpha=1.0)",
    "ELU": "elu_0 ELU(alpha=1.0)",
    "Hardshrink": "hardshrink_0 Hardshrink(threshold=0.5)",
    "Hardsigmoid": "hardsigmoid_0 Hardsigmoid()",
    "Hardswish": "hardswish_0 Hardswish()",
    "Hardtanh": "hardtanh_0 Hardtanh(min=-1.0, max=1.0)",
    "LeakyReLU": "leaky_re_lu_0 LeakyReLU(negative_slope=0.01)",
    "LogSigmoid": "log_sigmoid_0 LogSigmoid()",
    "LogSoftmax": "log_softmax_0 LogSoftmax(axis=-1)",
    "Mish": "mish_0 Mish()",
    "ReLU6": "re_lu6_0 ReLU6()",
    "SELU": "selu_0 SELU(scale=1.0507009873554805, alpha=1.6732632423543772)",
    "Silu": "silu_0 Silu()",
    "Softplus": "softplus_0 Softplus(beta=1, threshold=20)",
    "Softshrink": "softshrink_0 Softshrink(threshold=0.5)",
    "Softsign": "softsign_0 Softsign()",
    "Swish": "swish_0 Swish()",
    "Tanhshrink": "tanhshrink_0 Tanhshrink()",
    "ThresholdedReLU": "thresholded_re_lu_0 ThresholdedReLU(threshold=1.0, value=0.0)",
}
X = np.array([-2.0, -0.3, 0.4, 1.5], "float32")


@pytest.mark.parametrize("kind", TEXTS)
def test_names_and_texts(kind: str) -> None:
    with paddle.utils.unique_name.guard():
        layer = getattr(nn, kind)()
    assert f"{layer.full_name()} {layer}" == TEXTS[kind]
    plain = TEXTS[kind].split(" ", 1)[1]
    with_name = plain.replace("()", "(name=q)") if "()" in plain else plain.replace(")", ", name=q)")
    assert str(getattr(nn, kind)(name="q")) == with_name


@pytest.mark.parametrize("kind", TEXTS)
def test_both_modes_compute_the_function(kind: str) -> None:
    layer = getattr(nn, kind)()
    out = layer(paddle.static.data("x", [4]))
    (static,) = paddle.static.Executor().run(feed={"x": X}, fetch_list=[out])
    paddle.disable_static()
    x = paddle.to_tensor(X, stop_gradient=False)
    dynamic = layer(x)
    np.testing.assert_allclose(dynamic.numpy(), static, rtol=1e-6)
    np.testing.assert_array_equal(dynamic.numpy(), getattr(nn.functional, layer.function)(x).numpy())
    dynamic.sum().backward()
    assert x.grad.shape == [4]


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (lambda: nn.LeakyReLU(0.5), [-1.0, -0.15, 0.4, 1.5]),
        (lambda: nn.Hardtanh(-0.25, max=1.0), [-0.25, -0.25, 0.4, 1.0]),
        (lambda: nn.ThresholdedReLU(1.0, -1.0), [-1.0, -1.0, -1.0, 1.5]),
        (lambda: nn.Identity(3, size=4), X),
    ],
)
def test_settings(layer: Any, expected: Any) -> None:
    paddle.disable_static()
    np.testing.assert_allclose(layer()(paddle.to_tensor(X)).numpy(), expected, rtol=1e-6)


def test_settings_that_are_not_there_are_refused() -> None:
    with pytest.raises(TypeError, match="beta"):
        nn.ELU(beta=1.0)
    with pytest.raises(TypeError, match="too many"):
        nn.Mish("name", 1)
