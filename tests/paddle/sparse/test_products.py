"""Products with sparse matrices, for which Paddle has no kernel on the CPU: against dense formulas, in both orders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.sparse import nn

S = paddle.sparse
F = nn.functional
pytestmark = pytest.mark.usefixtures("dynamic")


def table(*shape: int, seed: int = 0, holes: bool = False) -> Any:
    values = np.random.default_rng(seed).uniform(0.5, 2.0, shape)
    if holes:
        values *= np.random.default_rng(seed + 1).random(shape) < 0.5
    return paddle.to_tensor(values)


def stored(x: Any) -> Any:
    """*x* without gradients where it is zero: there a sparse tensor stores nothing."""
    return x * (x != 0).astype(x.dtype)


def both(sparse: Callable[..., Any], dense: Callable[..., Any], *operands: Any) -> None:
    """The same values, first and second derivatives."""
    results = []
    for function in (sparse, dense):
        leaves = [x.detach() for x in operands]
        for leaf in leaves:
            leaf.stop_gradient = False
        out = function(*leaves)
        out = out.to_dense() if out.is_sparse() else out
        first = paddle.grad((out.sin() * out).sum(), leaves, create_graph=True)
        second = paddle.grad(sum((g * g).sum() for g in first), leaves)
        results.append([out, *first, *second])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-9)


def coo(x: Any) -> Any:
    return x.to_sparse_coo(x.ndim)


def csr(x: Any) -> Any:
    """In CSR, with gradients, which the conversion of Paddle cuts off."""
    return S.mask_as(x, x.detach().to_sparse_csr())


FORMATS = pytest.mark.parametrize("form", [coo, csr])


@FORMATS
@pytest.mark.parametrize("batch", [(), (2,)])
def test_with_dense_matrices(form: Any, batch: tuple[int, ...]) -> None:
    x, y = table(*batch, 3, 4, holes=True), table(*batch, 4, 2, seed=5)
    both(lambda a, b: S.matmul(form(a), b), lambda a, b: paddle.matmul(stored(a), b), x, y)


@FORMATS
@pytest.mark.parametrize("batch", [(), (2,)])
def test_with_sparse_matrices(form: Any, batch: tuple[int, ...]) -> None:
    x, y = table(*batch, 3, 4, holes=True), table(*batch, 4, 2, seed=5, holes=True)
    assert S.matmul(form(x), form(y)).is_sparse_csr() == (form is csr)
    both(lambda a, b: S.matmul(form(a), form(b)), lambda a, b: paddle.matmul(stored(a), stored(b)), x, y)


@FORMATS
def test_arithmetic(form: Any) -> None:
    x, y = table(3, 4, holes=True), table(3, 4, seed=5, holes=True)
    both(lambda a, b: S.subtract(form(a), form(b)), lambda a, b: stored(a) - stored(b), x, y)
    both(lambda a, b: S.add(form(a), S.multiply(form(a), form(b))), lambda a, b: stored(a) * (1 + stored(b)), x, y)
    both(lambda a, b: S.divide(form(a), form(b)), lambda a, b: stored(a) / b, x, table(3, 4))


@FORMATS
def test_parts_and_sums(form: Any) -> None:
    x = table(3, 4, holes=True)
    both(lambda a: S.slice(form(a), [1], [1], [3]), lambda a: stored(a)[:, 1:3], x)
    both(lambda a: S.sum(form(a), -1, keepdim=True), lambda a: stored(a).sum(-1, keepdim=True), x)
    both(lambda a: S.sum(form(a)), lambda a: stored(a).sum().reshape([1, 1][: form(a).is_sparse_csr() + 1]), x)
    both(lambda a: S.reshape(S.transpose(form(a), [1, 0]), [2, 6]), lambda a: stored(a).t().reshape([2, 6]), x)


def test_sums_over_several_dimensions() -> None:
    x = table(2, 3, 4, 2, holes=True)
    for axes in ([0, 1], [0, 2, 3], [-1], [0, 1, 2]):
        both(lambda a, n=axes: S.sum(coo(a), n), lambda a, n=axes: stored(a).sum(n), x)
        both(
            lambda a, n=axes: S.sum(a.to_sparse_coo(3), n, keepdim=True),
            lambda a, n=axes: a.sum(n, keepdim=True),
            1 + x,
        )


@FORMATS
def test_with_vectors_and_sums(form: Any) -> None:
    x, vector, more = table(3, 4, holes=True), table(4, seed=2), table(3, 2, seed=3)
    both(lambda a, v: S.mv(form(a), v), lambda a, v: paddle.mv(stored(a), v), x, vector)
    both(
        lambda i, a, b: S.addmm(i, form(a), b, 2.0, 3.0),
        lambda i, a, b: 2 * i + 3 * paddle.matmul(stored(a), b),
        more,
        x,
        table(4, 2, seed=4),
    )
    square = table(3, 3, holes=True)
    result = S.addmm(form(square), form(square), form(square), 2.0, 3.0)
    np.testing.assert_allclose(
        result.to_dense().numpy(), 2 * square.numpy() + 3 * square.numpy() @ square.numpy(), rtol=1e-12
    )


@FORMATS
@pytest.mark.parametrize("batch", [(), (2,)])
def test_masked(form: Any, batch: tuple[int, ...]) -> None:
    x, y, mask = table(*batch, 3, 4), table(*batch, 4, 5, seed=5), table(*batch, 3, 5, seed=6, holes=True)
    ones = (mask != 0).astype("float64")
    both(lambda a, b: S.masked_matmul(a, b, form(mask)), lambda a, b: paddle.matmul(a, b) * ones, x, y)


@pytest.mark.parametrize("masks", [False, True])
def test_attention(masks: bool) -> None:
    q, k, v = (table(2, 3, 4, 5, seed=s) for s in range(3))
    mask = np.ones((6, 4, 4)) * np.tril(np.ones((4, 4)))
    padding, allowed = np.array([[1.0, 1, 1, 0], [1, 1, 1, 1]]), 1 - np.eye(4)[::-1] * [1, 0, 0, 0]
    more = [paddle.to_tensor(padding), paddle.to_tensor(allowed)] if masks else []
    kept = mask.reshape(2, 3, 4, 4) * (padding[:, None, None] * allowed if masks else 1)

    def dense(a: Any, b: Any, c: Any) -> Any:
        scores = paddle.matmul(a, b.transpose([0, 1, 3, 2])) / 5**0.5
        scores = paddle.where(paddle.to_tensor(kept > 0), scores, paddle.full_like(scores, -1e30))
        shares = paddle.nn.functional.softmax(scores) * paddle.to_tensor(kept.any(-1, keepdims=True).astype("float64"))
        return paddle.matmul(shares, c)

    places = paddle.to_tensor(mask).to_sparse_csr()
    both(lambda a, b, c: F.attention(a, b, c, places, *more), dense, q, k, v)


def test_attention_over_compressed_rows() -> None:
    """The values that the documentation of Paddle shows; its kernel is one for graphics cards."""
    x = paddle.to_tensor([[[[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [2.0, 3.0]]]])
    places = [paddle.to_tensor(v, dtype="int32") for v in ([[[0, 2, 4, 6, 8]]], [[[0, 1, 0, 1, 2, 3, 2, 3]]])]
    both = [[1.60885942, 2.60885954], [1.99830270, 2.99830270]]
    given = paddle.nn.functional.sparse_attention(x, x, x, *places)
    np.testing.assert_allclose(given.numpy(), [[both * 2]], rtol=1e-6)
    padding = paddle.to_tensor([[1.0, 1, 1, 0]])
    allowed = paddle.to_tensor([[1.0, 0, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]])
    given = paddle.nn.functional.sparse_attention(x, x, x, *places, padding, allowed)
    np.testing.assert_allclose(given.numpy(), [[[[0, 1], both[1], [0, 1], [0, 1]]]], rtol=1e-6, atol=1e-7)
    with pytest.raises(ValueError, match="'sparse_csr_offset' must be"):
        paddle.nn.functional.sparse_attention(x, x, x, places[0][0], places[1])


@pytest.mark.parametrize(
    ("kernel", "setting"),
    [
        ((3, 3, 3), {"padding": "SAME", "stride": 2}),
        ((2, 3, 1), {"padding": [1, 0, 2], "stride": [1, 2, 1]}),
        ((2, 2, 2), {"padding": [1, 0, 0, 1, 2, 0], "dilation": 2}),
        ((3, 2, 3), {"padding": "VALID"}),
    ],
)
def test_convolutions(kernel: tuple[int, ...], setting: dict[str, Any]) -> None:
    x, weight = table(2, 4, 5, 4, 2) * table(2, 4, 5, 4, 1, seed=7, holes=True), table(*kernel, 2, 3, seed=1)

    def dense(a: Any, w: Any) -> Any:
        return paddle.nn.functional.conv3d(stored(a), w.transpose([4, 3, 0, 1, 2]), data_format="NDHWC", **setting)

    both(lambda a, w: F.conv3d(a.to_sparse_coo(4), w, **setting), dense, x, weight)


@pytest.mark.parametrize("dilation", [1, 2])
def test_submanifold_convolutions(dilation: int) -> None:
    x, weight = table(2, 5, 6, 2, holes=True), table(3, 3, 2, 3, seed=1)
    x = x * (x.sum(-1, keepdim=True) > 2.0).astype("float64")
    where = (x.numpy() != 0).any(-1, keepdims=True)

    def dense(a: Any, w: Any) -> Any:
        out = paddle.nn.functional.conv2d(
            a, w.transpose([3, 2, 0, 1]), padding=dilation, dilation=dilation, data_format="NHWC"
        )
        return out * paddle.to_tensor(where.astype("float64"))

    def at_places(a: Any, w: Any) -> Any:
        return F.subm_conv2d(S.mask_as(a, x.to_sparse_coo(3)), w, dilation=dilation)

    both(at_places, lambda a, w: dense(a * paddle.to_tensor(where.astype("float64")), w), x, weight)


def test_duplicates_count_once_in_convolutions() -> None:
    x = S.sparse_coo_tensor([[0, 0], [1, 1], [1, 1]], [[1.0], [2.0]], [1, 3, 3, 1])
    assert F.subm_conv2d(x, paddle.ones([3, 3, 1, 1])).values().tolist() == [[3.0]]


def test_pooling_in_ceil_mode() -> None:
    x = table(1, 5, 4, 5, 2)
    pooled = F.max_pool3d(x.to_sparse_coo(4), 2, ceil_mode=True).to_dense()
    expected = paddle.nn.functional.max_pool3d(x, 2, ceil_mode=True, data_format="NDHWC")
    np.testing.assert_array_equal(pooled.numpy(), expected.numpy())


def test_low_rank() -> None:
    x = table(6, 4, holes=True)
    _, values, _ = S.pca_lowrank(coo(x), 4)
    centred = x.numpy() - x.numpy().mean(0)
    np.testing.assert_allclose(values.numpy(), np.linalg.svd(centred, compute_uv=False), rtol=1e-6)


def test_batch_norm_in_testing_uses_the_moving_statistics() -> None:
    x = S.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0, 5.0], [3.0, 9.0]], [1, 2, 2, 2])
    norm = nn.BatchNorm(2, data_format="NHWC")
    norm(x)
    norm.eval()
    expected = (x.values().numpy() - norm._mean.numpy()) / np.sqrt(norm._variance.numpy() + 1e-5)
    np.testing.assert_allclose(norm(x).values().numpy(), expected, rtol=1e-5)


def test_batch_norm_over_processes() -> None:
    x = S.sparse_coo_tensor([[0, 0], [0, 1], [0, 1]], [[1.0, 5.0], [3.0, 9.0]], [1, 2, 2, 2])
    model = paddle.nn.Sequential(nn.BatchNorm(2), paddle.nn.BatchNorm2D(3))
    changed = nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert [type(part).__module__ for part in changed] == [
        "gradtool.paddle.sparse.nn._norm_layers",
        "gradtool.paddle.nn._batch_norm",
    ]
    assert changed[0].weight is model[0].weight
    np.testing.assert_allclose(changed[0](x).values().numpy(), [[-1, -1], [1, 1]], rtol=1e-5)
