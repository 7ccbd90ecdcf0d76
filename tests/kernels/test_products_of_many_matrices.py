"""Many matrices times one: one tall product, which gives what NumPy gives matrix by matrix."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.kernels.numpy.products import LARGE, product


@pytest.mark.parametrize("shape", [(40, 30, 20), (4, 10, 30, 20), (2, 3, 20), (LARGE, 0, 20), (1, 20)])
def test_the_product_is_numpys(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal(shape), rng.standard_normal((20, 3))
    assert product(x, y).shape == (*shape[:-1], 3)
    np.testing.assert_allclose(product(x, y), np.matmul(x, y), rtol=1e-12, atol=1e-14)
    turned = x.swapaxes(0, -2)  # rows that do not lie one after the other
    np.testing.assert_allclose(product(turned, y), np.matmul(turned, y), rtol=1e-12, atol=1e-14)


def test_a_large_batch_is_multiplied_as_one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks: list[int] = []
    multiply = np.matmul
    monkeypatch.setattr(np, "matmul", lambda x, y, **out: ranks.append(x.ndim) or multiply(x, y, **out))
    product(np.ones((40, 30, 20)), np.ones((20, 3)))
    product(np.ones((4, 3, 20)), np.ones((20, 3)))
    assert ranks == [2, 3]


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("transpose_y", [False, True])
def test_gradients_of_a_large_batch_are_those_of_its_parts(transpose_y: bool) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((20, 20))
    batch = rng.standard_normal((60, 20, 20))
    x = paddle.to_tensor(batch, stop_gradient=False)
    y = paddle.to_tensor(matrix, stop_gradient=False)
    out = paddle.matmul(x, y, transpose_y=transpose_y)
    (out * out).sum().backward()
    right = matrix.T if transpose_y else matrix
    dout = 2 * np.stack([part @ right for part in batch])
    np.testing.assert_allclose(x.grad.numpy(), np.stack([d @ right.T for d in dout]), rtol=1e-10)
    dy = sum(part.T @ d for part, d in zip(batch, dout, strict=True))
    np.testing.assert_allclose(y.grad.numpy(), dy.T if transpose_y else dy, rtol=1e-10)
