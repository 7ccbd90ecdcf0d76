"""The gradients of maximum and minimum choose by bits what the rule selects: the same numbers, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.engine.kernels.choice import reference
from gradtool.engine.ops.registry import get_by_type

ODD = (0.0, -0.0, 1.5, -2.0, np.inf, -np.inf, np.nan)


@pytest.mark.parametrize("wanted", [[[True], [True]], [[True], [False]], [[False], [True]]])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("op_type", ["elementwise_max", "elementwise_min"])
def test_they_are_those_of_the_rule(op_type: str, dtype: str, wanted: list[list[bool]]) -> None:
    op = get_by_type(op_type)
    assert op.grad_op is not None
    # every pair of odd numbers, with every odd gradient: ties, zeros of both signs, infinities and NaN among them
    x, y, dout = (a.astype(dtype) for a in np.meshgrid(ODD, ODD, ODD))
    quick = reference().bind_gradient(op, op.defaults, wanted)
    assert quick is not None
    with np.errstate(all="ignore"):
        gradients = quick(x, y, dout.transpose(0, 2, 1))
        rule = reference().general(op.grad_op, op.defaults, wanted)(x, y, dout.transpose(0, 2, 1))
    for gradient, by_rule, (want,) in zip(gradients, rule, wanted, strict=True):
        assert (gradient is not None) == (by_rule is not None) == want
        if want:
            assert gradient.dtype == dtype
            np.testing.assert_array_equal(np.signbit(gradient), np.signbit(by_rule))
            np.testing.assert_array_equal(gradient, by_rule)
