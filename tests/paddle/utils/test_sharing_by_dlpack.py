"""DLPack: storage shared with other libraries, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ModeError

pytestmark = pytest.mark.usefixtures("dynamic")


@pytest.mark.parametrize(
    "dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool", "complex64"]
)
def test_numpy_shares_a_tensor(dtype: str) -> None:
    x = paddle.ones([2, 3], dtype)
    array = np.from_dlpack(x)
    assert (array.dtype.name, array.shape) == (dtype, (2, 3))
    assert np.shares_memory(array, x.array)


def test_a_tensor_shares_an_array() -> None:
    array = np.arange(6.0).reshape(2, 3).T
    x = paddle.from_dlpack(array)
    assert x.stop_gradient
    assert x.dtype is paddle.float64
    array[0, 0] = 42.0
    assert x.tolist() == array.tolist()
    x[1, 1] = -1.0
    assert array[1, 1] == -1.0


def test_capsules_are_consumed_once() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    capsule = paddle.utils.dlpack.to_dlpack(x)
    y = paddle.utils.dlpack.from_dlpack(capsule)
    y[0] = 5.0
    assert x.tolist() == [5.0, 2.0]
    with pytest.raises(ValueError, match="consumed once"):
        paddle.utils.dlpack.from_dlpack(capsule)


def test_device() -> None:
    assert paddle.ones([1]).__dlpack_device__() == (1, 0)


def test_the_storage_outlives_the_tensor() -> None:
    array = np.from_dlpack(paddle.full([3], 2.5))
    assert array.tolist() == [2.5, 2.5, 2.5]


class Foreign:
    """An array on a device that is not there."""

    def __dlpack__(self, **asked: Any) -> Any:
        raise BufferError("no access from here")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: np.from_dlpack(paddle.to_tensor([1.0], stop_gradient=False)), RuntimeError, "requires gradients"),
        (lambda: np.from_dlpack(paddle.ones([1], "bfloat16")), TypeError, "bfloat16 tensor cannot be exported"),
        (lambda: paddle.from_dlpack(3), ValueError, "invalid capsule"),
        (lambda: paddle.from_dlpack(np.array(["a"])), BufferError, "from_dlpack"),
        (lambda: paddle.from_dlpack(np.ones(2, "uint32")), TypeError, "uint32"),
        (lambda: paddle.from_dlpack(Foreign()), BufferError, "from_dlpack"),
        (
            lambda: paddle.to_dlpack(np.ones(2)),
            TypeError,
            "'x' in to_dlpack must be paddle.Tensor, but received ndarray",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_static_mode_has_no_values_to_share() -> None:
    paddle.enable_static()
    with pytest.raises(ModeError, match="dynamic mode"):
        paddle.from_dlpack(np.ones(2))
