"""Layers that make their own parameters compute what Paddle 3.1.1 was seen to compute, and its gradients."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradtool import paddle
from tests.paddle.static.layer_cases import CASES, run

RECORDS = json.loads(Path(__file__).with_name("layer_values.json").read_text())

KNOWN_WRONG = {("spectral_norm", "x@GRAD")}
"""Paddle multiplies arriving gradient and singular vectors element by element, where a sum belongs. With no step of
power iteration ours agrees with differences (``tests/ops``), and with many of them with the singular value's."""


@pytest.mark.parametrize("case", CASES)
def test_values_and_gradients_are_paddles(case: str) -> None:
    made, recorded = run(paddle, case), RECORDS[case]
    assert made["name"] == recorded["name"]
    assert list(made["values"]) == list(recorded["values"])
    for name, value in made["values"].items():
        if (case, name) in KNOWN_WRONG:
            continue
        expected = np.reshape(recorded["values"][name]["data"], recorded["values"][name]["shape"])
        assert value.shape == expected.shape, name
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=2e-5, err_msg=name)


def test_the_gradient_of_a_spectral_norm_is_that_of_the_largest_singular_value() -> None:
    w = paddle.static.create_parameter([4, 3], "float64")
    out = paddle.static.nn.spectral_norm(w, power_iters=60)
    (gradient,) = paddle.static.gradients([paddle.sum(out * out * out)], [w])
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    (found,) = executor.run(fetch_list=[gradient])
    matrix = np.array(w.get_value())

    def total(m: np.ndarray) -> float:
        return float(((m / np.linalg.svd(m)[1][0]) ** 3).sum())

    step = np.zeros_like(matrix)
    for i in np.ndindex(matrix.shape):
        step[i] = 1e-6
        assert found[i] == pytest.approx((total(matrix + step) - total(matrix - step)) / 2e-6, abs=1e-6)
        step[i] = 0
