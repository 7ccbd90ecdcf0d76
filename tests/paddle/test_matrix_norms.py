"""Matrix norms made of singular values: p = 2, -2 and ``"nuc"`` of :func:`paddle.norm`.

Values are NumPy's. First gradients are those that Paddle 3.3.1 and torch 2.13 give, who agree; second ones are those of
torch, as Paddle has none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.executor.scope import Scope, scope_guard
from gradtool.engine.ir import default
from gradtool.paddle import static
from tests.paddle.test_calls_that_paddle_computes import BOTH

Run = Callable[..., list[Any]]
CUBE = np.random.default_rng(5).normal(size=(2, 3, 4))
ORDERS = pytest.mark.parametrize("order", [2, -2, "nuc"])


@BOTH
@ORDERS
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("axis", [[0, 1], [1, 0], (-1, 0), [1, 2]])
def test_values_and_gradients(run: Run, axis: Any, keep: bool, order: Any) -> None:
    value, gradient = run(lambda x: paddle.norm(x, order, axis, keep), CUBE)
    expected = np.linalg.norm(CUBE, order, axis=tuple(axis), keepdims=keep)
    assert value.shape == expected.shape
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    direction, step = np.cos(np.arange(24.0)).reshape(2, 3, 4), 1e-6
    ends = [np.linalg.norm(CUBE + s * direction, order, axis=tuple(axis)).sum() for s in (step, -step)]
    np.testing.assert_allclose((gradient * direction).sum(), (ends[0] - ends[1]) / (2 * step), rtol=1e-7)


RECORDED = [
    ([[2.0, 0.0], [0.0, 2.0]], 2, 2.0, [[0.5, 0.0], [0.0, 0.5]]),
    ([[2.0, 0.0], [0.0, 2.0]], -2, 2.0, [[0.5, 0.0], [0.0, 0.5]]),
    ([[2.0, 0.0], [0.0, 2.0]], "nuc", 4.0, [[1.0, 0.0], [0.0, 1.0]]),
    ([[1.0, 2.0], [2.0, 4.0]], 2, 5.0, [[0.2, 0.4], [0.4, 0.8]]),
    ([[1.0, 2.0], [2.0, 4.0]], -2, 0.0, [[0.8, -0.4], [-0.4, 0.2]]),
    ([[1.0, 2.0], [2.0, 4.0]], "nuc", 5.0, [[1.0, 0.0], [0.0, 1.0]]),
    ([[0.0, 0.0], [0.0, 0.0]], 2, 0.0, [[0.5, 0.0], [0.0, 0.5]]),
    ([[0.0, 0.0], [0.0, 0.0]], -2, 0.0, [[0.5, 0.0], [0.0, 0.5]]),
    ([[0.0, 0.0], [0.0, 0.0]], "nuc", 0.0, [[1.0, 0.0], [0.0, 1.0]]),
]
"""Matrix, order, norm and gradient in Paddle and in torch, where values are equal or 0."""


@BOTH
@pytest.mark.parametrize(("matrix", "order", "norm", "expected"), RECORDED)
def test_where_singular_values_are_equal_or_zero(
    run: Run, matrix: list[list[float]], order: Any, norm: float, expected: list[list[float]]
) -> None:
    value, gradient = run(lambda x: paddle.norm(x, order, [0, 1]), np.array(matrix))
    np.testing.assert_allclose(value, norm, atol=1e-12)
    np.testing.assert_allclose(gradient, expected, atol=1e-12)


def second(matrix: Any, order: Any, weights: Any) -> Any:
    """The gradient of the weighted gradient."""
    paddle.disable_static()
    x = paddle.to_tensor(matrix, dtype="float64", stop_gradient=False)
    (first,) = paddle.grad([paddle.norm(x, order, [0, 1])], [x], create_graph=True)
    return paddle.grad([(first * paddle.to_tensor(weights, dtype="float64")).sum()], [x])[0].numpy()


@pytest.mark.parametrize(
    ("matrix", "order", "expected"),
    [
        (
            [[3.0, 1.0], [-1.0, 2.5]],
            2,
            [[0.08730662195645744, 4.759906789619732], [5.240093210380247, 0.08730662195645]],
        ),
        (
            [[3.0, 1.0], [-1.0, 2.5]],
            -2,
            [[0.08730662195645, -5.240093210380247], [-4.759906789619731, 0.08730662195645]],
        ),
        (
            [[3.0, 1.0], [-1.0, 2.5]],
            "nuc",
            [[0.1746132439129, -0.480186420760514], [0.480186420760515, 0.1746132439129]],
        ),
        ([[1.0, 2.0], [2.0, 4.0]], 2, [[-0.016, -0.112], [0.088, 0.016]]),
        ([[1.0, 2.0], [2.0, 4.0]], -2, [[0.016, -0.088], [0.112, -0.016]]),
    ],
)
def test_second_order_as_in_torch(matrix: Any, order: Any, expected: Any) -> None:
    np.testing.assert_allclose(second(matrix, order, [[1.0, 2.0], [3.0, 5.0]]), expected, atol=1e-12)


@ORDERS
def test_second_order_is_not_finite_where_values_are_equal(order: Any) -> None:
    """No number rather than a wrong one."""
    assert np.isnan(second(np.eye(2), order, np.ones((2, 2)))).all()


@ORDERS
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_bad_number_loses_its_matrix_and_no_other(order: Any, bad: float) -> None:
    paddle.disable_static()
    x = CUBE.copy()
    x[1, 0, 2] = bad
    t = paddle.to_tensor(x, stop_gradient=False)
    norms = paddle.norm(t, order, [1, 2])
    norms.sum().backward()
    assert np.isfinite(norms.numpy()).tolist() == [True, False]
    assert np.isfinite(t.grad.numpy()).all((1, 2)).tolist() == [True, False]
    np.testing.assert_allclose(norms.numpy()[0], np.linalg.norm(CUBE[0], order), rtol=1e-12)


@ORDERS
def test_complex_matrices(order: Any) -> None:
    paddle.disable_static()
    matrix = np.array([[1 + 2j, 2], [3, 1j]])
    np.testing.assert_allclose(paddle.norm(paddle.to_tensor(matrix), order, [0, 1]), np.linalg.norm(matrix, order))


def test_the_nuclear_norm_takes_a_matrix_as_it_is() -> None:
    paddle.disable_static()
    value = paddle.norm(paddle.to_tensor(CUBE[0]), "nuc")
    np.testing.assert_allclose(value.numpy(), np.linalg.norm(CUBE[0], "nuc"))


def test_operators_are_those_of_paddle() -> None:
    paddle.enable_static()
    try:
        for order, reduction in ((2, "reduce_max"), (-2, "reduce_min"), ("nuc", "reduce_sum")):
            with default.fresh_programs() as (main, _), scope_guard(Scope()):
                x = static.data("x", [-1, 3, -1], "float64")
                assert paddle.norm(x, order, [0, 2], True).shape == (1, 3, 1)
                assert [o.type for o in main.global_block().ops] == [
                    *["transpose2", "svd", reduction, "unsqueeze2", "transpose2"]
                ]
                (svd,) = (o for o in main.global_block().ops if o.type == "svd")
                assert svd.attr("full_matrices") is False
    finally:
        paddle.disable_static()


def test_a_block_takes_the_operator_with_whole_bases() -> None:
    paddle.enable_static()
    try:
        with default.fresh_programs() as (main, _), scope_guard(Scope()):
            block = main.global_block()
            x = static.data("x", [2, 3], "float64")
            outputs = {slot: [block.create_var(name=slot, dtype="float64")] for slot in ("U", "S", "VH")}
            block.append_op(type="svd", inputs={"X": [x]}, outputs=outputs, attrs={"full_matrices": True})
            assert [v.shape for (v,) in outputs.values()] == [(2, 2), (2,), (3, 3)]
            u, s, vh = static.Executor().run(feed={"x": CUBE[0, :2, :3]}, fetch_list=[v for (v,) in outputs.values()])
            np.testing.assert_allclose((u * s) @ vh[:2], CUBE[0, :2, :3])
            np.testing.assert_allclose(vh @ vh.T, np.eye(3), atol=1e-12)
    finally:
        paddle.disable_static()
