"""Dynamic mode under its old names, and ``paddle.nn.utils``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.nn import utils

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(values: Any, gradient: Any = None) -> Any:
    p = paddle.create_parameter(
        list(np.shape(values)), "float32", default_initializer=paddle.nn.initializer.Assign(np.asarray(values, "f"))
    )
    if gradient is not None:
        p.grad = paddle.to_tensor(np.asarray(gradient, "float32"))
    return p


# -- paddle.base.dygraph ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("static", [True, False])
def test_guard_computes_at_once_and_restores_the_mode(static: bool) -> None:
    if static:
        paddle.enable_static()
    dygraph = paddle.base.dygraph
    with dygraph.guard(paddle.CPUPlace()):
        assert dygraph.enabled()
        x = dygraph.to_variable(np.array([1.0, 2.0], "float32"))
        x.stop_gradient = False
        (x * x).sum().backward()
        assert x.gradient().tolist() == [2.0, 4.0]
        with dygraph.no_grad():
            assert (x * x).stop_gradient
    assert paddle.in_dynamic_mode() is not static


def test_the_guard_of_fluid_ends_with_an_error_too() -> None:
    fluid = paddle.fluid
    paddle.enable_static()
    with pytest.raises(ZeroDivisionError), fluid.dygraph.guard():
        raise ZeroDivisionError
    assert not fluid.dygraph.enabled()


def test_to_variable() -> None:
    to_variable = paddle.fluid.dygraph.to_variable
    paddle.disable_static()
    x = to_variable([1.0, 2.0], name="mine")
    assert (x.name, x.dtype.name, x.stop_gradient) == ("mine", "float32", True)
    assert to_variable(x) is x
    assert to_variable(np.array([1]), dtype="float64").dtype.name == "float64"
    with pytest.raises(TypeError, match=r"numpy\.ndarray"):
        to_variable(3)


# -- paddle.nn.utils (values of Paddle 3.1.1) -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("order", "limit", "norm", "after"),
    [
        (2.0, 1.0, 10.0, [0.6, 0.8]),
        (2.0, 100.0, 10.0, [6.0, 8.0]),
        (float("inf"), 1.0, 8.0, [0.75, 1.0]),
        (1, 1.0, 14.0, [0.4285714, 0.5714285]),
    ],
)
def test_norms_are_clipped(order: float, limit: float, norm: float, after: list[float]) -> None:
    p = leaf([3.0, 4.0], [6.0, 8.0])
    before = utils.clip_grad_norm_(p, limit, norm_type=order)
    assert (before.item(), before.shape) == (norm, [])
    np.testing.assert_allclose(p.grad.numpy(), after, rtol=1e-6)


def test_several_gradients_are_clipped_as_one_vector() -> None:
    parameters = [leaf([0.0], [3.0]), leaf([[0.0]], [[4.0]]), leaf([0.0])]
    assert utils.clip_grad_norm_(iter(parameters), 1.0).item() == 5.0
    np.testing.assert_allclose([p.grad.item() for p in parameters[:2]], [0.6, 0.8], rtol=1e-6)
    assert parameters[2].grad is None
    assert utils.clip_grad_norm_([], 1.0).item() == 0.0


def test_values_are_clipped() -> None:
    p = leaf([0.0, 0.0], [6.0, -8.0])
    utils.clip_grad_value_([p], 7)
    assert p.grad.tolist() == [6.0, -7.0]
    with pytest.raises(ValueError, match="negative"):
        utils.clip_grad_value_([p], -1)


def test_norms_that_are_no_numbers() -> None:
    p = leaf([0.0, 0.0], [float("nan"), 1.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
    assert p.grad.numpy()[1] == 1.0
    with pytest.raises(ValueError, match="norm_type"):
        utils.clip_grad_norm_([p], 1.0, norm_type=3)


def test_parameters_become_a_vector_and_come_back() -> None:
    p, q = leaf([3.0, 4.0]), leaf(np.ones((2, 2)))
    vector = utils.parameters_to_vector([p, q])
    assert vector.tolist() == [3.0, 4.0, 1.0, 1.0, 1.0, 1.0]
    (vector * vector).sum().backward()
    assert p.grad.tolist() == [6.0, 8.0]
    utils.vector_to_parameters(vector * 2, [p, q])
    assert (p.tolist(), q.tolist(), q.is_leaf) == ([6.0, 8.0], [[2.0, 2.0], [2.0, 2.0]], True)
    with pytest.raises(ValueError, match="6 elements"):
        utils.vector_to_parameters(paddle.ones([5]), [p, q])


def test_they_are_refused_in_static_mode() -> None:
    paddle.enable_static()
    for call in (lambda: utils.clip_grad_norm_([], 1.0), lambda: utils.parameters_to_vector([])):
        with pytest.raises(RuntimeError, match="dynamic mode"):
            call()
