"""What a name stands for where a gradient is asked for, and what runs once although its part is computed again."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from tests.autodiff.nets import data, mean, op, run


@pytest.mark.parametrize("by", ["name", "variable"])
def test_what_is_fed_and_overwritten_later(by: str) -> None:
    """The gradient is that of what was fed."""
    x = data("x", 3)
    y = op("square", x)
    paddle.assign(op("sin", x), x)
    loss = mean(op("elementwise_mul", y, x))
    ((_, gradient),) = paddle.static.append_backward(loss, parameter_list=[x.name if by == "name" else x])
    at = np.array([0.5, 1.0, 2.0])
    (value,) = run([gradient], {"x": at})
    np.testing.assert_allclose(value, (2 * at * np.sin(at) + at**2 * np.cos(at)) / 3)


def test_a_print_in_a_part_that_is_computed_again(capfd: pytest.CaptureFixture[str]) -> None:
    x = data("x", 3)
    first = op("tanh", x)
    printed = paddle.static.Print(op("sin", first), message="once", print_phase="forward")
    last = op("exp", op("cos", printed))
    loss = mean(op("square", last))
    ((_, gradient),), _ = paddle.static.append_backward(loss, [x], checkpoints=[first, last])
    run([gradient], {"x": np.ones(3)})
    assert sum(text.count("once") for text in capfd.readouterr()) == 1
