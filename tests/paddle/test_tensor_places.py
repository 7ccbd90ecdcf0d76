"""Members of tensors about storage, dtype and place; random values in place; tensors divided."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import BackendError, ShapeError, UnsupportedError
from gradtool.engine.kernels.backend import DeviceWarning

pytestmark = pytest.mark.usefixtures("dynamic")


def counted(*shape: int) -> Any:
    return paddle.arange(float(np.prod(shape))).reshape(list(shape))


def test_to_changes_the_dtype() -> None:
    x = counted(2, 3)
    assert x.to("float64").dtype.name == "float64"
    assert x.to(dtype="int64").dtype.name == "int64"
    assert x.to("cpu", "float64").dtype.name == "float64"
    assert x.to(paddle.ones([1], dtype="float64")).dtype.name == "float64"
    assert x.to("cpu") is x
    assert x.to(x.dtype) is x
    for call in (lambda: x.to("gpu:0"), lambda: x.to(device="gpu"), x.cuda):
        with pytest.warns(DeviceWarning, match=r"x\.(to|cuda)\(.*computed on the CPU") as told:
            assert call() is x
        assert told[0].filename == __file__
    with pytest.raises(BackendError, match="computes on the CPU"):
        x.to("xpu")


def test_to_passes_gradients_on() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x.to("float64").sum().backward()
    assert x.grad.dtype.name == "float32"
    assert x.grad.numpy().tolist() == [1, 1]


def test_storage() -> None:
    x = counted(2, 3)
    assert x.strides == x.get_strides() == [3, 1]
    assert x.is_contiguous()
    assert x.data is x.value() is x.pin_memory() is x.to_dense() is x
    assert x.is_dense()
    assert [x.is_sparse(), x.is_dist(), x.is_sparse_coo(), x.is_sparse_csr()] == [False] * 4
    assert x.is_same_shape(paddle.zeros([2, 3]))
    assert not x.is_same_shape(paddle.zeros([3, 2]))
    x.data = paddle.zeros([2, 3])
    assert x.sum().item() == 0


def test_detach_in_place() -> None:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    y = x * 2
    assert y.detach_() is y
    assert y.stop_gradient
    assert y.is_leaf


def test_apply() -> None:
    x = counted(2)
    assert x.apply(lambda v: v + 1).numpy().tolist() == [1, 2]
    assert x.apply_(lambda v: v * 3) is x
    assert x.numpy().tolist() == [0, 3]
    x.stop_gradient = False
    for call in (x.apply, x.apply_):
        with pytest.raises(RuntimeError, match="required gradient"):
            call(lambda v: v)


def test_random_values_in_place() -> None:
    paddle.seed(3)
    x = paddle.zeros([4, 500])
    assert x.uniform_(2.0, 3.0) is x
    assert 2 <= x.numpy().min() < 2.1 < 2.9 < x.numpy().max() < 3
    x.normal_(mean=5.0, std=0.1)
    assert abs(x.numpy().mean() - 5) < 0.02
    assert abs(x.numpy().std() - 0.1) < 0.02
    with pytest.raises(TypeError, match="mean, std"):
        x.normal_(low=1.0)
    y = paddle.to_tensor([1.0], stop_gradient=False)
    z = y * 2
    z.uniform_()
    z.sum().backward()
    assert y.grad.numpy().tolist() == [0]
    with pytest.raises(ValueError, match="inplace"):
        y.uniform_()


def test_views() -> None:
    x = counted(2, 3)
    assert x.view([3, -1]).shape == [3, 2]
    assert x.view_as(paddle.zeros([6])).shape == [6]
    assert x.view("float32") is x
    assert x.mT.shape == [3, 2]
    assert x.view("int32").tolist() == x.numpy().view("int32").tolist()
    assert x.view("float16").shape == [2, 6]
    with pytest.raises(UnsupportedError, match="no truth values"):
        x.view("bool")
    with pytest.raises(ShapeError, match="cannot be divided"):
        x.view("float64")


def test_in_place_functions_are_the_methods() -> None:
    x = paddle.to_tensor([-1.0, 4.0])
    assert paddle.abs_(x) is x
    assert x.numpy().tolist() == [1, 4]
    assert paddle.multiply_(x, paddle.to_tensor([2.0, 2.0])) is x
    assert x.numpy().tolist() == [2, 8]
    with pytest.raises(TypeError, match=r"paddle.tanh_ must be"):
        paddle.tanh_(3.0)


@pytest.mark.parametrize(
    ("function", "ours", "theirs"),
    [
        ("tensor_split", (3,), lambda a: np.array_split(a, 3)),
        ("tensor_split", ([2, 4], 1), lambda a: np.split(a, [2, 4], 1)),
        ("tensor_split", (2, -1), lambda a: np.array_split(a, 2, -1)),
        ("hsplit", (3,), lambda a: np.hsplit(a, 3)),
        ("vsplit", ([1, 3],), lambda a: np.vsplit(a, [1, 3])),
        ("dsplit", (2,), lambda a: np.dsplit(a, 2)),
    ],
)
def test_parts(function: str, ours: tuple[Any, ...], theirs: Any) -> None:
    x = counted(4, 6, 2)
    expected = theirs(x.numpy())
    for parts in (getattr(paddle, function)(x, *ours), getattr(x, function)(*ours)):
        assert [p.shape for p in parts] == [list(p.shape) for p in expected]
        for part, right in zip(parts, expected, strict=True):
            np.testing.assert_array_equal(part.numpy(), right)


def test_unflatten() -> None:
    x = counted(2, 12, 3)
    assert x.unflatten(1, [3, -1]).shape == [2, 3, 4, 3]
    assert x.unflatten(-2, paddle.to_tensor([2, 6])).shape == [2, 2, 6, 3]
    assert paddle.unflatten(counted(4), 0, paddle.to_tensor([2, 2])).shape == [2, 2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: paddle.tensor_split(counted(4), 2, axis=1), "axis must be within"),
        (lambda: paddle.tensor_split(counted(4), 0), "at least one part"),
        (lambda: paddle.vsplit(counted(4), 2), "at least 2 dimensions"),
        (lambda: paddle.dsplit(counted(4, 2), 2), "at least 3 dimensions"),
        (lambda: paddle.unflatten(counted(4), 2, [2, 2]), "axis must be within"),
        (lambda: paddle.matrix_transpose(counted(4)), "at least 2-D"),
        (lambda: paddle.broadcast_shape([2, 3], [4]), "broadcast"),
    ],
)
def test_what_cannot_be_divided(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_other_names() -> None:
    x, y = paddle.to_tensor([1.0, 3.0]), paddle.to_tensor([2.0, 2.0])
    assert paddle.less(x, y).numpy().tolist() == x.less(y).numpy().tolist() == [True, False]
    assert paddle.negative(x).numpy().tolist() == [-1, -3]
    assert paddle.positive(x) is x
    assert paddle.to_tensor([1, 2]).bitwise_invert().numpy().tolist() == [-2, -3]
    assert paddle.broadcast_shape([2, 1, 3], [4, 1]) == [2, 4, 3]
