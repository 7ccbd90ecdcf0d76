"""Equations, determinants and norms where there are no recorded values: singular matrices, complex ones, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


def leaf(values: Any) -> Any:
    return paddle.to_tensor(np.array(values, "float64"), stop_gradient=False)


def test_the_determinant_of_a_singular_matrix_has_its_cofactors_as_gradient() -> None:
    x = leaf([[1.0, 2.0], [2.0, 4.0]])
    paddle.linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4.0, -2.0], [-2.0, 1.0]], atol=1e-12)


def test_complex_equations_are_solved() -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)) for _ in range(2))
    solution = paddle.linalg.solve(paddle.to_tensor(a), paddle.to_tensor(b)).numpy()
    np.testing.assert_allclose(a @ solution, b, atol=1e-12)


@pytest.mark.parametrize("upper", [False, True])
def test_a_factor_of_a_complex_matrix_solves_its_equations(upper: bool) -> None:
    rng = np.random.default_rng(0)
    whole = rng.normal(size=(3, 3)) + 1j * rng.normal(size=(3, 3)) + 3 * np.eye(3)
    factor = np.triu(whole) if upper else np.tril(whole)
    matrix = factor.conj().T @ factor if upper else factor @ factor.conj().T
    out = paddle.linalg.cholesky_solve(paddle.to_tensor(np.eye(3) + 0j), paddle.to_tensor(factor), upper)
    np.testing.assert_allclose(matrix @ out.numpy(), np.eye(3), atol=1e-11)


def test_products_of_several_matrices_take_the_cheap_order() -> None:
    shapes = [(10, 100), (100, 5), (5, 50)]
    sizes = [paddle.ones([*shape], "float64") for shape in shapes]
    np.testing.assert_allclose(paddle.linalg.multi_dot(sizes).numpy(), np.full((10, 50), 500.0))
    x = [leaf(np.ones(shape)) for shape in shapes]
    paddle.linalg.multi_dot(x).sum().backward()
    np.testing.assert_allclose(x[1].grad.numpy(), np.full((100, 5), 500.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("inv(paddle.ones([2, 3]))", "square"),
        ("inv(paddle.ones([3]))", "at least 2 dimensions"),
        ("det(paddle.ones([2, 3]))", "square"),
        ("solve(paddle.ones([2, 2]), paddle.ones([3, 1]))", "2 unknowns, and 3 rows"),
        ("triangular_solve(paddle.ones([2, 2]), paddle.ones([2]))", "at least 2 dimensions"),
        ("multi_dot([paddle.ones([2, 2])])", "at least two"),
        ("multi_dot([paddle.ones([2, 2]), paddle.ones([3, 2])])", "cannot be multiplied"),
        ("matrix_power(paddle.ones([2, 3]), 2)", "square"),
        ("cond(paddle.ones([2, 2]), 3)", "unsupported p"),
        ("cov(paddle.ones([2, 2, 2]))", r"only support N-D \(1<=N<=2\)"),
        ("cov(paddle.ones([2, 3]), fweights=paddle.ones([2]))", "one for each observation"),
        ("svdvals(paddle.ones([2]))", "at least 2-dimensional"),
    ],
)
def test_what_does_not_fit_is_refused(call: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        eval(f"paddle.linalg.{call}")


def test_a_matrix_without_an_inverse_is_an_error() -> None:
    with pytest.raises(ValueError, match="inverse"):
        paddle.linalg.inv(paddle.ones([2, 2]))
