"""Which results of dynamic mode are views: an in-place edit of one is seen in both, or in one alone (as in Paddle)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.nn import functional as F

pytestmark = pytest.mark.usefixtures("dynamic")


Function = Callable[[Any], Any]

VIEWS: dict[str, Function] = {
    "reshape": lambda x: x.reshape([3, 2]),
    "flatten": lambda x: x.flatten(),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "transpose": lambda x: x.transpose([1, 0]),
    "row": lambda x: x[0],
    "box": lambda x: x[:, ::2],
    "unbind": lambda x: paddle.unbind(x)[0],
    "detach": lambda x: x.detach(),
}
OWN: dict[str, Function] = {
    "split": lambda x: paddle.split(x, 3, 1)[0],
    "chunk": lambda x: paddle.chunk(x, 3, 1)[0],
    "unstack": lambda x: paddle.unstack(x)[0],
    "flip": lambda x: paddle.flip(x, 0),
    "einsum": lambda x: paddle.einsum("ij->ji", x),
    "expand": lambda x: paddle.expand(x, [2, 2, 3]),
    "expand to its own shape": lambda x: paddle.expand(x, [2, 3]),
    "broadcast_tensors": lambda x: paddle.broadcast_tensors([x, paddle.zeros([1, 2, 3])])[0],
    "meshgrid": lambda x: paddle.meshgrid(x[0], paddle.zeros([1]))[0],
    "gather_nd": lambda x: paddle.gather_nd(x, paddle.zeros([1, 0], "int64")),
    "pixel_shuffle": lambda x: F.pixel_shuffle(x.reshape([1, 1, 2, 3]), 1),
    "unfold": lambda x: F.unfold(x.reshape([1, 1, 2, 3]), 1),
    "assign": paddle.assign,
    "sum of a dimension of one": lambda x: paddle.sum(x[:, :1], axis=1),
}


def values() -> Any:
    return paddle.to_tensor(np.arange(6, dtype="float32").reshape(2, 3))


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_written_with_its_source(name: str) -> None:
    x = values()
    out = VIEWS[name](x)
    before = x.numpy().copy()
    out.add_(paddle.full([1], 100.0))
    assert not np.array_equal(x.numpy(), before)
    seen = out.numpy().copy()
    x.subtract_(paddle.full([1], 100.0))
    np.testing.assert_array_equal(out.numpy(), seen - 100)


@pytest.mark.parametrize("name", OWN)
def test_another_result_is_written_alone(name: str) -> None:
    x = values()
    out = OWN[name](x)
    before, seen = x.numpy().copy(), out.numpy().copy()
    out.add_(paddle.full([1], 100.0))
    np.testing.assert_array_equal(x.numpy(), before)
    x.add_(paddle.full([1], 5.0))
    np.testing.assert_array_equal(out.numpy(), seen + 100)
