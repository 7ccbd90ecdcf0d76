"""Infinities and NaN are results: no warning from operators, and NumPy's own settings stay as they were."""

from __future__ import annotations

import contextvars

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.kernels import quiet


def test_operators_and_gradients_do_not_warn() -> None:
    paddle.disable_static()
    x = paddle.to_tensor([0.0, -1.0], stop_gradient=False)
    y = paddle.log(x) / x
    y.sum().backward()
    assert np.isnan(y.numpy()[1])
    with np.errstate(all="raise"):
        paddle.log(x)
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(1))


def test_settings_come_back_after_an_operator_failed() -> None:
    paddle.disable_static()
    before = np.geterr()
    with pytest.raises(ValueError, match="matmul"):
        paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3]))
    assert np.geterr() == before


def test_without_numpys_own_variable() -> None:
    hush, unhush, ignored = quiet.error_state("numpy.no_such_module")

    def silent() -> None:
        before = hush(ignored)
        assert set(np.geterr().values()) == {"ignore"}
        unhush(before)
        assert np.geterr()["divide"] == "raise"

    with np.errstate(all="raise"):
        contextvars.copy_context().run(silent)
