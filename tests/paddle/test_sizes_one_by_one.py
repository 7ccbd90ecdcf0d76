"""Sizes that come as numbers, ``x.reshape(2, 8)``: shapes of Paddle 3.3.1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gradtool import paddle

pytestmark = pytest.mark.usefixtures("dynamic")

SHAPES: dict[str, tuple[Callable[[Any], Any], list[int]]] = {
    "reshape to a number": (lambda x: paddle.reshape(x, 16), [16]),
    "reshape": (lambda x: paddle.reshape(x, 2, 8), [2, 8]),
    "reshape of a tensor": (lambda x: x.reshape(-1, 2), [8, 2]),
    "reshape with a tensor of one number": (lambda x: x.reshape(paddle.to_tensor(2), 8), [2, 8]),
    "reshape with a name": (lambda x: x.reshape(2, 8, name="r"), [2, 8]),
    "view": (lambda x: x.view(2, 8), [2, 8]),
    "view of a number": (lambda x: x.view(16), [16]),
    "expand": (lambda x: paddle.expand(x, 3, 4, 4), [3, 4, 4]),
    "expand of a tensor": (lambda x: x.expand(3, -1, 4), [3, 4, 4]),
    "transpose": (lambda x: paddle.transpose(x.reshape(2, 4, 2), 0, 1), [4, 2, 2]),
    "transpose by names": (lambda x: paddle.transpose(x.reshape(2, 4, 2), dim0=0, dim1=1), [4, 2, 2]),
    "transpose of a tensor": (lambda x: x.reshape(2, 8).transpose(-1, 0), [8, 2]),
    "ones": (lambda x: paddle.ones(2, 3), [2, 3]),
    "zeros of a type": (lambda x: paddle.zeros(2, 3, dtype="int64"), [2, 3]),
    "empty": (lambda x: paddle.empty(2, 3), [2, 3]),
    "rand": (lambda x: paddle.rand(2, 3), [2, 3]),
    "randn": (lambda x: paddle.randn(2), [2]),
    "new_zeros": (lambda x: x.new_zeros(2, 3), [2, 3]),
    "new_ones": (lambda x: x.new_ones(2), [2]),
    "new_empty by name": (lambda x: x.new_empty(size=[2, 3]), [2, 3]),
}


@pytest.mark.parametrize("call", SHAPES)
def test_shapes(call: str) -> None:
    function, shape = SHAPES[call]
    x = paddle.arange(16.0).reshape([4, 4])
    for _ in range(2):  # the second one repeats what the first came to
        assert list(function(x).shape) == shape


@pytest.mark.parametrize("call", [name for name in SHAPES if "view" not in name and "new_" not in name])
def test_shapes_of_variables(call: str) -> None:
    function, shape = SHAPES[call]
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        if call != "reshape with a tensor of one number":
            assert list(function(paddle.static.data("x", [4, 4])).shape) == shape


def test_gradients_are_those_of_the_list() -> None:
    x = paddle.arange(16.0).reshape([4, 4])
    x.stop_gradient = False
    (x.reshape(2, 8) * paddle.arange(16.0).reshape(2, 8)).sum().backward()
    assert x.grad.tolist() == paddle.arange(16.0).reshape([4, 4]).tolist()


@pytest.mark.parametrize("call", [lambda x: x.reshape(2, "a"), lambda x: x.transpose(0, 1.5)])
def test_what_is_no_size_is_refused(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        call(paddle.ones([2, 2]))
