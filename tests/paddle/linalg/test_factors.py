"""Factors, eigenvalues and least squares where no values are recorded: complex matrices, what Paddle gets wrong or ends
at, refusals. Gradients are held against differences in random directions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError, UnsupportedError

linalg = paddle.linalg


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


def drawn(*shape: int, complex: bool = False, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    array = rng.normal(size=shape)
    return array + 1j * rng.normal(size=shape) if complex else array


def hermitian(a: np.ndarray) -> np.ndarray:
    return (a + a.conj().swapaxes(-1, -2)) / 2


def slope_and_difference(
    function: Callable[[Any], Any], x: np.ndarray, direction: np.ndarray, step: float = 1e-6
) -> tuple[float, float]:
    """The derivative of a real number in one direction: by the gradient, and by central differences."""

    def value(array: np.ndarray) -> float:
        return float(function(paddle.to_tensor(array)))

    leaf = paddle.to_tensor(x, stop_gradient=False)
    function(leaf).backward()
    slope = float(np.sum((leaf.grad.numpy().conj() * direction).real))
    return slope, (value(x + step * direction) - value(x - step * direction)) / (2 * step)


def size(*parts: Any) -> Any:
    """A real number that every element of *parts* matters to, and no phase does where it is none of theirs."""
    total = None
    for i, part in enumerate(parts):
        weights = paddle.to_tensor(drawn(*part.shape, seed=10 + i))
        share = (part.abs() ** 2 * weights).sum()
        total = share if total is None else total + share
    return total


BOTH = pytest.mark.parametrize("complex", [False, True], ids=["real", "complex"])


@BOTH
@pytest.mark.parametrize(
    "function",
    [
        lambda x: size(linalg.cholesky(x)),
        lambda x: size(linalg.cholesky(x, upper=True)),
        lambda x: size(*linalg.eigh(x)),
        lambda x: size(*linalg.eigh(x, "U")),
        lambda x: size(linalg.eigvalsh(x)),
    ],
    ids=["cholesky", "upper", "eigh", "eigh of the upper triangle", "eigvalsh"],
)
def test_gradients_of_hermitian_matrices(function: Callable[[Any], Any], complex: bool) -> None:
    x = hermitian(drawn(3, 3, complex=complex)) + 4 * np.eye(3)
    direction = hermitian(drawn(3, 3, complex=complex, seed=1))
    slope, difference = slope_and_difference(function, x, direction)
    assert slope == pytest.approx(difference, rel=1e-6)


@BOTH
@pytest.mark.parametrize(
    "function",
    [
        lambda x: size(*linalg.qr(x)),
        lambda x: size(*linalg.qr(x[:, :2])),
        lambda x: size(*linalg.qr(x[:2], "complete")),
        lambda x: size(linalg.lu(x)[0]),
        lambda x: size(linalg.lu(x[:2])[0]),
        lambda x: size(linalg.lu(x[:, :2])[0]),
        lambda x: size(*linalg.eig(x)),
        lambda x: size(linalg.eigvals(x)),
        lambda x: size(linalg.matrix_exp(x)),
    ],
    ids=["qr", "tall", "wide", "lu", "lu of a wide one", "lu of a tall one", "eig", "eigvals", "exp"],
)
def test_gradients_of_general_matrices(function: Callable[[Any], Any], complex: bool) -> None:
    x, direction = drawn(3, 3, complex=complex, seed=4), drawn(3, 3, complex=complex, seed=5)
    slope, difference = slope_and_difference(function, x, direction)
    assert slope == pytest.approx(difference, rel=1e-6)


def test_second_derivatives_of_eigenvalues() -> None:
    def curvature(x: Any) -> Any:
        values = linalg.eigvalsh(x)
        (first,) = paddle.grad((values**3).sum(), x, create_graph=True)
        return (first**2).sum()

    x, direction = hermitian(drawn(3, 3)), hermitian(drawn(3, 3, seed=1))
    leaf = paddle.to_tensor(x, stop_gradient=False)
    curvature(leaf).backward()
    slope = float((leaf.grad.numpy() * direction).sum())
    ends = [float(curvature(paddle.to_tensor(x + s * direction, stop_gradient=False))) for s in (1e-6, -1e-6)]
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_values_that_are_equal_have_a_gradient_and_their_vectors_none() -> None:
    x = paddle.to_tensor(np.eye(2), stop_gradient=False)
    linalg.eigh(x)[0].sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.eye(2))
    x.clear_grad()
    linalg.eigh(x)[1].sum().backward()
    assert not np.isfinite(x.grad.numpy()).all()


@BOTH
@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (4, 2), (2, 3, 3)])
def test_products_are_what_was_taken_apart(shape: tuple[int, ...], complex: bool) -> None:
    a = drawn(*shape, complex=complex)
    x = paddle.to_tensor(a)
    for mode in ("reduced", "complete"):
        q, r = linalg.qr(x, mode)
        np.testing.assert_allclose((q @ r).numpy(), a, atol=1e-12)
    np.testing.assert_allclose(abs(linalg.qr(x, "r").numpy()), abs(linalg.qr(x)[1].numpy()), atol=1e-12)
    lu, pivots, infos = linalg.lu(x, get_infos=True)
    exchange, low, up = linalg.lu_unpack(lu, pivots)
    np.testing.assert_allclose((exchange @ low @ up).numpy(), a, atol=1e-12)
    assert not infos.numpy().any()
    assert linalg.lu_unpack(lu, pivots, unpack_pivots=False)[0] is None
    assert linalg.lu_unpack(lu, pivots, unpack_ludata=False)[1:] == (None, None)
    if shape[-1] == shape[-2]:
        values, vectors = linalg.eig(x)
        np.testing.assert_allclose(
            (x.astype(vectors.dtype) @ vectors).numpy(), (vectors * values.unsqueeze(-2)).numpy()
        )
        np.testing.assert_array_equal(linalg.eigvals(x).numpy(), values.numpy())


def test_a_matrix_without_a_pivot_says_where() -> None:
    assert linalg.lu(paddle.zeros([3, 3]), get_infos=True)[2].item() == 1


@BOTH
@pytest.mark.parametrize("trans", ["N", "T", "C"])
def test_equations_are_solved_by_factors(trans: str, complex: bool) -> None:
    a, b = drawn(3, 3, complex=complex), drawn(3, 2, complex=complex, seed=1)
    lu, pivots = linalg.lu(paddle.to_tensor(a))
    out = linalg.lu_solve(paddle.to_tensor(b), lu, pivots, trans).numpy()
    matrix = {"N": a, "T": a.T, "C": a.conj().T}[trans]
    np.testing.assert_allclose(matrix @ out, b, atol=1e-12)
    direction = drawn(3, 3, complex=complex, seed=2)

    def solved(x: Any) -> Any:
        return size(linalg.lu_solve(paddle.to_tensor(b), *linalg.lu(x), trans))

    slope, difference = slope_and_difference(solved, a, direction)
    assert slope == pytest.approx(difference, rel=1e-5)


@BOTH
def test_reflections(complex: bool) -> None:
    a, tau = drawn(4, 3, complex=complex), drawn(3, complex=complex, seed=1)
    whole = np.eye(4, dtype=a.dtype)
    for i in range(3):
        v = np.r_[np.zeros(i), 1, a[i + 1 :, i]]
        whole = whole @ (np.eye(4) - tau[i] * np.outer(v, v.conj()))
    x, t = paddle.to_tensor(a), paddle.to_tensor(tau)
    np.testing.assert_allclose(linalg.householder_product(x, t).numpy(), whole[:, :3], atol=1e-12)
    y = drawn(4, 4, complex=complex, seed=2)
    for left in (True, False):
        for transpose in (False, True):
            q = whole.conj().T if transpose else whole
            out = linalg.ormqr(x, t, paddle.to_tensor(y), left, transpose).numpy()
            np.testing.assert_allclose(out, q @ y if left else y @ q, atol=1e-11)
    slope, difference = slope_and_difference(
        lambda x: size(linalg.householder_product(x, t)), a, drawn(4, 3, complex=complex, seed=3)
    )
    assert slope == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (2, 4, 3)])
def test_few_singular_values_of_a_matrix_that_has_no_more(shape: tuple[int, ...]) -> None:
    a = drawn(*shape[:-1], 2) @ drawn(*shape[:-2], 2, shape[-1], seed=1)
    u, s, v = linalg.svd_lowrank(paddle.to_tensor(a), 2)
    np.testing.assert_allclose(((u * s.unsqueeze(-2)) @ v.mT).numpy(), a, atol=1e-10)
    np.testing.assert_allclose(s.numpy(), np.linalg.svd(a, compute_uv=False)[..., :2])
    centred = a - a.mean(-2, keepdims=True)
    np.testing.assert_allclose(
        linalg.pca_lowrank(paddle.to_tensor(a))[1].numpy(), np.linalg.svd(centred, compute_uv=False), atol=1e-10
    )


@pytest.mark.parametrize(
    ("driver", "shapes"),
    [
        (None, [[2, 2], [0], [], [0]]),
        ("gels", [[2, 2], [2], [0], [0]]),
        ("gelsd", [[2, 2], [2], [], [2]]),
    ],
)
def test_least_squares(driver: str | None, shapes: list[list[int]]) -> None:
    a, b = drawn(4, 2), drawn(4, 2, seed=1)
    parts = linalg.lstsq(paddle.to_tensor(a), paddle.to_tensor(b), driver=driver)
    expected = np.linalg.lstsq(a, b, rcond=None)
    assert [part.shape for part in parts] == shapes
    for part, other in zip(parts, expected, strict=True):
        if part.size:
            np.testing.assert_allclose(part.numpy(), other)


@pytest.mark.parametrize("shape", [(4, 2), (2, 4), (3, 3)])
def test_least_squares_have_gradients(shape: tuple[int, int]) -> None:
    a, b = drawn(*shape), drawn(shape[0], 2, seed=1)

    def by(x: Any, y: Any) -> Any:
        solution, residuals, _, values = linalg.lstsq(x, y, driver="gelsd")
        return size(solution, values, *([residuals] if residuals.size else []))

    for function, x in ((lambda x: by(x, paddle.to_tensor(b)), a), (lambda y: by(paddle.to_tensor(a), y), b)):
        slope, difference = slope_and_difference(function, x, drawn(*x.shape, seed=2))
        assert slope == pytest.approx(difference, rel=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("cholesky(-paddle.eye(2))", "positive definite"),
        ("cholesky(paddle.ones([2, 3]))", "square"),
        ("qr(paddle.eye(2), 'full')", "QR type"),
        ("qr(paddle.ones([2]))", "at least 2 dimensions"),
        ("lu(paddle.eye(2), pivot=False)", "pivots=False"),
        ("lu_solve(paddle.ones([2, 1]), *paddle.linalg.lu(paddle.eye(2)), 'H')", "'N', 'T' or 'C'"),
        ("eigh(paddle.eye(2), 'l')", "UPLO must be 'L' or 'U'"),
        ("eig(paddle.eye(2).astype('float16'))", "float32, float64, complex64 or complex128"),
        ("lstsq(paddle.eye(2), paddle.eye(2), driver='none')", "valid driver"),
        ("lstsq(paddle.eye(2), paddle.ones([3, 1]))", "same number of rows"),
        ("matrix_rank(paddle.eye(2), 0.1, atol=0.1)", "tol alone"),
        ("matrix_rank(paddle.to_tensor([[float('nan')]]))", "no rank"),
        ("svd_lowrank(paddle.eye(2), 3)", "q"),
        ("householder_product(paddle.ones([2, 3]), paddle.ones([2]))", "no more columns than rows"),
        ("matrix_exp(paddle.ones([2, 3]))", "square"),
    ],
)
def test_what_does_not_fit_is_refused(call: str, message: str) -> None:
    with pytest.raises(GradtoolError, match=message):
        eval(f"paddle.linalg.{call}")


def test_a_whole_q_of_a_tall_matrix_has_no_gradient_and_says_which_has() -> None:
    x = paddle.to_tensor(drawn(3, 2), stop_gradient=False)
    with pytest.raises(UnsupportedError, match="no gradient with mode='complete'"):
        linalg.qr(x, "complete")[0].sum().backward()


@pytest.mark.parametrize("function", [linalg.cholesky, linalg.eigvalsh, linalg.eigvals, linalg.matrix_exp])
def test_a_matrix_with_nan_is_lost_and_the_others_are_not(function: Callable[[Any], Any]) -> None:
    a = np.stack([np.eye(2), np.eye(2)])
    a[0, 0, 0] = np.nan
    out = function(paddle.to_tensor(a)).numpy()
    assert np.isnan(out[0]).all()
    assert np.isfinite(out[1]).all()


def test_members_of_tensors() -> None:
    x = paddle.to_tensor(hermitian(drawn(3, 3)) + 4 * np.eye(3))
    np.testing.assert_array_equal(x.cholesky().numpy(), linalg.cholesky(x).numpy())
    np.testing.assert_array_equal(x.inverse().numpy(), linalg.inv(x).numpy())
    np.testing.assert_array_equal(x.eigvalsh().numpy(), paddle.eigvalsh(x).numpy())
