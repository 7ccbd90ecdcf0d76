"""Members of tensors about types, storage and form; printing; messages of functions of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import _printing


@pytest.fixture(autouse=True)
def dynamic() -> None:
    paddle.disable_static()


@pytest.fixture
def options() -> Iterator[None]:
    before = {n: getattr(_printing, n) for n in ("DECIMALS", "WHOLE", "EDGE", "LINE", "SCIENTIFIC")}
    yield
    vars(_printing).update(before)


CASTS = {
    "bfloat16": "bfloat16",
    "bool": "bool",
    "byte": "uint8",
    "cfloat": "complex64",
    "char": "int8",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
}


@pytest.mark.parametrize(("method", "kind"), CASTS.items())
def test_casts_by_name(method: str, kind: str) -> None:
    x = paddle.to_tensor([0.0, 1.5])
    assert getattr(x, method)().dtype.name == kind
    assert getattr(paddle, kind if method in ("byte", "char") else method).name.rstrip("_") == kind


def test_where_elements_stand() -> None:
    x = paddle.ones([2, 3])
    assert (x.stride(), x.stride(0), x.itemsize, x.offset) == ([3, 1], 3, 4, 0)
    assert (x.device, x.get_device(), x.is_cuda, x.layout) == ("cpu", -1, False, "NCHW")
    assert x.data_ptr() == x.data_ptr() != paddle.ones([2, 3]).data_ptr()
    assert x.grad_ is None


def test_resize_and_set() -> None:
    x = paddle.arange(4).astype("float32")
    assert x.resize_([2, 3], True).tolist() == [[0, 1, 2], [3, 0, 0]]
    y = paddle.arange(6).astype("float32")
    assert x.set_(y, [2, 2], [3, 1]).tolist() == [[0, 1], [3, 4]]
    assert x.set_(y).tolist() == y.tolist()
    assert x.set_().shape == [0]
    with pytest.raises(ValueError, match="beyond the 6 elements"):
        x.set_(y, [7])


def test_fill_diagonal() -> None:
    assert paddle.zeros([2, 3]).fill_diagonal_(1.0).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert paddle.zeros([5, 2]).fill_diagonal_(1.0, wrap=True).sum().item() == 4
    assert paddle.zeros([3, 3]).fill_diagonal_(1.0, offset=1).tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_out_is_written(options: None) -> None:
    x, out = paddle.to_tensor([1.0, 2.0], stop_gradient=False), paddle.zeros([2])
    assert paddle.mul(x, x, out=out) is out
    assert out.tolist() == [1.0, 4.0]
    assert paddle.grad(out.sum(), x)[0].tolist() == [2.0, 4.0]
    other = paddle.zeros([1])
    assert paddle.cat([x, x], out=other).shape == [4]


def test_print_options(options: None) -> None:
    x = paddle.to_tensor([1.23456789, 1e-5, 100000.0])
    paddle.set_printoptions(precision=3)
    assert "[1.235  , 0.000  , 100000.]" in str(x)
    paddle.set_printoptions(sci_mode=True)
    assert "[1.235e+00, 1.000e-05, 1.000e+05]" in str(x)
    paddle.set_printoptions(sci_mode=False, threshold=5, edgeitems=1)
    assert "..." in str(paddle.arange(20))
    with pytest.raises(TypeError, match=r"'precision' in paddle\.set_printoptions must be int"):
        paddle.set_printoptions(precision=1.5)  # type: ignore[arg-type]


def test_samples_in_lists() -> None:
    assert [*paddle.batch(lambda: iter(range(5)), 2)()] == [[0, 1], [2, 3], [4]]
    assert [*paddle.batch(lambda: iter(range(5)), 2, drop_last=True)()] == [[0, 1], [2, 3]]
    with pytest.raises(ValueError, match="batch_size should be a positive integer"):
        paddle.batch(lambda: iter([]), 0)


def test_limits_of_types() -> None:
    assert (paddle.finfo("float16").max, paddle.finfo(paddle.float32).bits) == (65504.0, 32)
    assert paddle.finfo("float32").eps == np.finfo("float32").eps
    assert (paddle.iinfo("int8").min, paddle.iinfo("int64").max) == (-128, 2**63 - 1)
    assert repr(paddle.iinfo("int8")) == "paddle.iinfo(min=-128, max=127, bits=8, dtype=int8)"
    with pytest.raises(ValueError, match="whole numbers"):
        paddle.iinfo("float32")
    with pytest.raises(ValueError, match="floating-point"):
        paddle.finfo("int8")
    assert isinstance(paddle.ones([1]).dtype, paddle.dtype)
    assert paddle.Size([2, 3]).numel() == 6
    assert (paddle.pi, paddle.newaxis) == (np.pi, None)


REFUSED: tuple[tuple[str, type[Exception], str], ...] = (
    ("paddle.crop(x, [3, 3])", ValueError, "reach beyond"),
    ("paddle.take(x, paddle.to_tensor([9]))", IndexError, "out of range"),
    ("paddle.take(x, at, 'bad')", ValueError, "'mode' in 'take' should be 'raise', 'wrap', 'clip'"),
    ("paddle.take(x, x)", TypeError, "The data type of 'index' must be one of"),
    ("paddle.kthvalue(x, 9)", ValueError, "k must be from 1 to the 3 elements"),
    ("paddle.quantile(x, 1.5)", ValueError, r"q should be in range \[0, 1\]"),
    ("paddle.quantile(x, [])", ValueError, "q should not be empty"),
    ("paddle.quantile(x, 0.5, interpolation='x')", ValueError, "interpolation must be one of 'linear'"),
    ("paddle.quantile(x, 'a')", TypeError, "Type of q should be int, float, list or tuple, or tensor"),
    ("paddle.diag(paddle.zeros([2, 2, 2]))", ValueError, "must be a vector or a matrix"),
    ("paddle.diagonal(x, 0, 1, 1)", ValueError, "two dimensions must be different"),
    ("paddle.trace(x[0])", ValueError, "takes two dimensions"),
    ("paddle.cross(x, paddle.zeros([2, 2]))", ValueError, "must have one shape"),
    ("paddle.cross(x[:, :2], x[:, :2])", ValueError, "three elements"),
    ("paddle.lerp(x, paddle.zeros([4]), 0.5)", ValueError, "broadcast"),
    ("paddle.bincount(paddle.to_tensor([-1]))", ValueError, "must not be negative"),
    ("paddle.bincount(x)", TypeError, "should all be integers"),
    ("paddle.histogram(x, min=3, max=1)", ValueError, "max must not be less"),
    ("paddle.histogram(x, bins=0)", ValueError, "bins must be 1 or more"),
    ("paddle.histogramdd(x[0])", AssertionError, "at least 2 dimensions"),
    ("paddle.vander(x)", ValueError, "The input of x is expected to be a 1-D Tensor"),
    ("paddle.vander(x[0], -1)", ValueError, "N must be non-negative"),
    ("paddle.combinations(x)", TypeError, "Expect a 1-D vector, but got x shape"),
    ("paddle.combinations(x[0], -1)", ValueError, "Expect a non-negative int, but got r=-1"),
    ("paddle.cdist(x, x, -1.0)", AssertionError, "The p must be greater than or equal to 0"),
    ("paddle.cdist(x, paddle.zeros([2, 2]))", AssertionError, "must have same last dimension"),
    ("paddle.pdist(x[0])", AssertionError, "2-dimensional"),
    ("paddle.renorm(x, 1.0, 5, 1.0)", ValueError, "the axis:5 should be less then the shape's size 2"),
    ("paddle.masked_scatter(x, x > 1, x[0][:2])", AssertionError, "mask true nums must be <= value size"),
    ("paddle.rot90(x, 1, [0, 0])", ValueError, "expected rotation axes to be different"),
    ("paddle.rot90(x[0])", ValueError, "expected total dims >= 2, but got total dims = 1"),
    ("paddle.select_scatter(x, x[0][:2], 0, 0)", RuntimeError, "expected values to have a size equal to the slice"),
    ("paddle.tensordot(x, x, 1)", AssertionError, "should match each other, but 'x' has size 3 in dim 1"),
    ("paddle.unfold(x, 1, 4, 1)", ValueError, "do not fit"),
    ("paddle.as_strided(x, [9], [9])", ValueError, "beyond the storage"),
    ("paddle.diff(x, 0)", ValueError, "n must be 1 or more"),
    ("paddle.trapezoid(x, x, 1.0)", ValueError, "Not permitted to specify both x and dx"),
    ("paddle.block_diag([paddle.zeros([1, 1, 1])])", ValueError, "must be 0, 1, or 2, but got 3"),
    ("paddle.inner(x, x[0][:2])", ValueError, "Input X's last dim should be equal to Y's last dim"),
    ("paddle.multigammaln(x, 0)", AssertionError, "The p must be greater than or equal to 1"),
    ("paddle.polygamma(x, -1)", ValueError, "The input of n must be greater than or equal to 0"),
    ("paddle.polygamma(x, 1.5)", TypeError, "The input of n must be int type"),
    ("paddle.gammainc(-x, x)", ValueError, "must be greater than or equal to 0"),
    ("paddle.nanmedian(x, mode='z')", ValueError, "Mode z is not supported. Must be avg or min."),
    ("paddle.nanmedian(x, [])", ValueError, "Axis list should not be empty"),
    ("paddle.cummax(x, 5)", ValueError, "axis 5 is out of range"),
    ("paddle.cummax(x, dtype='int8')", ValueError, "dtype must be int32 or int64"),
    ("paddle.shard_index(at[:, None], 20, 2, 3)", ValueError, "shard_id must be one of"),
    ("paddle.isin(x, 3.0)", TypeError, "test_x must be tensor type"),
    ("paddle.narrow(x, 1, 2, 2)", ValueError, "not within the 3 of dimension 1"),
    ("paddle.index_sample(x, paddle.zeros([3, 1], 'int64'))", ValueError, "as many rows"),
    ("paddle.index_add(x, at, 0, x[:, :2])", ValueError, r"AddValue must have the shape \[2, 3\]"),
    ("paddle.searchsorted(x, x[:1])", ValueError, "must be alike but for the last dimension"),
    ("paddle.div(x, x, rounding_mode='up')", ValueError, "rounding_mode must be"),
    ("paddle.scatter_reduce(x, 0, at[:, None], x, 'max')", ValueError, "reduce must be one of"),
    ("paddle.multiplex([x, x[:1]], at[:, None])", ValueError, "must have one shape"),
)
"""A call, the error's class in Paddle, and a part of what gradtool says."""


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_is_wrong_is_said(call: str, kind: type[Exception], words: str) -> None:
    operands: dict[str, Any] = {
        "paddle": paddle,
        "x": paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        "at": paddle.to_tensor([1, 0]),
    }
    with pytest.raises(kind, match=words):
        eval(call, operands)
