"""``jacobian``, ``hessian``, ``vjp`` and ``jvp``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.autograd import Hessian, Jacobian, hessian, jacobian, jvp, vjp

pytestmark = pytest.mark.usefixtures("dynamic")


def leaf(values: Any) -> Any:
    return paddle.to_tensor(np.array(values, dtype="float64"), stop_gradient=False)


def test_jacobian_rows_slices_and_operators() -> None:
    x = leaf([1.0, 2.0, 3.0])
    w = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = paddle.matmul(paddle.to_tensor(w), x * x)
    full = w * 2 * np.array([1.0, 2.0, 3.0])
    j = jacobian(y, x)
    assert isinstance(j, Jacobian)
    assert j.shape == [2, 3]
    for index in (1, -1, slice(None), slice(1, None), (0, 2), (slice(None), 1), (..., 0), (slice(None), slice(0, 2))):
        np.testing.assert_allclose(j[index].numpy(), full[index])
    np.testing.assert_allclose((j + 1.0).numpy(), full + 1)
    np.testing.assert_allclose((j * j).numpy(), full * full)
    np.testing.assert_allclose(j.sum().numpy(), full.sum())
    with pytest.raises(IndexError, match="row 2 of 2"):
        j[2]
    with pytest.raises(ValueError, match="too many indices"):
        j[0, 0, 0]


def test_jacobian_of_sequences_and_scalars() -> None:
    a, b = leaf([1.0, 2.0]), leaf(3.0)
    ys = (a * b, (a * a).sum())
    matrices = jacobian(ys, (a, b))
    assert [[e.shape for e in row] for row in matrices] == [[[2, 2], [2]], [[2], []]]
    np.testing.assert_allclose(matrices[0][0][:].numpy(), 3 * np.eye(2))
    np.testing.assert_allclose(matrices[0][1][:].numpy(), [1.0, 2.0])
    np.testing.assert_allclose(matrices[1][0][:].numpy(), [2.0, 4.0])
    assert matrices[1][1][...].item() == 0.0


def test_jacobian_with_a_batch() -> None:
    x = leaf(np.arange(6.0).reshape(2, 3))
    j = jacobian(x[:, :2] * x[:, :2], x, batch_axis=0)
    expected = np.zeros((2, 2, 3))
    for b in range(2):
        for i in range(2):
            expected[b, i, i] = 2 * x.numpy()[b, i]
    assert j.shape == [2, 2, 3]
    np.testing.assert_allclose(j[:].numpy(), expected)
    np.testing.assert_allclose(j[1, 1].numpy(), expected[1, 1])


def test_hessian() -> None:
    x, w = leaf([1.0, 2.0]), leaf([3.0])
    y = (x * x * x).sum() * w.sum()
    h = hessian(y, x)
    assert isinstance(h, Hessian)
    np.testing.assert_allclose(h[:].numpy(), np.diag([18.0, 36.0]))
    blocks = hessian(y, (x, w))
    np.testing.assert_allclose(blocks[0][1][:].numpy(), [[3.0], [12.0]])
    np.testing.assert_allclose(blocks[1][0][:].numpy(), [[3.0, 12.0]])
    np.testing.assert_allclose(blocks[1][1][:].numpy(), [[0.0]])


def test_hessian_with_a_batch() -> None:
    x = leaf([[1.0, 2.0], [3.0, 4.0]])
    h = hessian((x * x * x).sum(1, keepdim=True), x, batch_axis=0)
    np.testing.assert_allclose(h[:].numpy(), [np.diag([6.0, 12.0]), np.diag([18.0, 24.0])])


def test_products_with_the_jacobian() -> None:
    x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])

    def both(a: Any, b: Any) -> Any:
        return a * b, a + b

    ys, (dx, dw) = vjp(both, [x, w], [leaf([1.0, 1.0]), leaf([10.0, 0.0])])
    assert [y.tolist() for y in ys] == [[3.0, 8.0], [4.0, 6.0]]
    assert (dx.tolist(), dw.tolist()) == ([13.0, 4.0], [11.0, 2.0])
    _, (first, second) = jvp(both, [x, w], [leaf([1.0, 0.0]), leaf([0.0, 2.0])])
    assert (first.tolist(), second.tolist()) == ([3.0, 4.0], [1.0, 2.0])
    assert jvp(lambda a: a * a, x)[1].tolist() == [2.0, 4.0]
    assert jvp(lambda a: paddle.ones([2]), x)[1].tolist() == [0.0, 0.0]
    assert vjp(lambda a, b: a * a, [x, w])[1][1].tolist() == [0.0, 0.0]


def test_refused() -> None:
    x = leaf([1.0, 2.0])
    for call, message in (
        (lambda: jacobian(x * x, x, batch_axis=1), "batch_axis should be None or 0, but got 1"),
        (lambda: jacobian(leaf([[1.0]]), x), "ys.ndim should be 0 or 1"),
        (lambda: jacobian(x, 3), "'xs' must be a Tensor"),
        (lambda: hessian(x * x, x), "must have one element"),
        (lambda: hessian(3, x), "'ys' must be a Tensor"),
        (lambda: vjp(lambda a: a, [3]), "'xs' must be a Tensor or a sequence"),
        (lambda: jvp(lambda a: a, [x], [x, x]), "invalid length:should be 1 but got 2"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
