"""Which results share memory with their operand, as in Paddle 3.3.1: an edit of one is an edit of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool as paddle

SHARE: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda x: paddle.reshape(x, [3, 4]),
    "flatten": lambda x: paddle.flatten(x),
    "squeeze": lambda x: paddle.squeeze(x, 1),
    "unsqueeze": lambda x: paddle.unsqueeze(x, 0),
    "transpose": lambda x: paddle.transpose(x, [2, 1, 0]),
    "slice": lambda x: paddle.slice(x, [0], [0], [2]),
    "an index": lambda x: x[1],
    "strides": lambda x: x[:, :, ::2],
    "unbind": lambda x: paddle.unbind(x)[1],
    "dropout of nothing": lambda x: paddle.nn.functional.dropout(x, 0.0),
    "detach": lambda x: x.detach(),
}
OWN: dict[str, Callable[[Any], Any]] = {
    "cast to the same": lambda x: paddle.cast(x, "float64"),
    "assign": lambda x: paddle.assign(x),
    "clone": lambda x: x.clone(),
    "clip of what fits": lambda x: paddle.clip(x, -100.0, 100.0),
    "scale by 1": lambda x: paddle.scale(x, 1.0),
    "sum over one": lambda x: paddle.sum(x, axis=1),
    "concat of one": lambda x: paddle.concat([x]),
    "stack of one": lambda x: paddle.stack([x]),
    "gather": lambda x: paddle.gather(x, paddle.to_tensor([0, 1])),
    "maximum": lambda x: paddle.maximum(x, x),
    "abs": lambda x: paddle.abs(x),
    "tile by one": lambda x: paddle.tile(x, [1, 1, 1]),
    "roll": lambda x: paddle.roll(x, 1),
}


pytestmark = pytest.mark.usefixtures("dynamic")


def numbers() -> np.ndarray:
    return np.arange(12.0).reshape(4, 1, 3)


@pytest.mark.parametrize("name", [*SHARE, *OWN])
@pytest.mark.parametrize("written", ["result", "operand"])
def test_an_edit_is_seen_where_memory_is_shared(name: str, written: str) -> None:
    x = paddle.to_tensor(numbers())
    y = (SHARE | OWN)[name](x)
    edited, other = (y, x) if written == "result" else (x, y)
    before = other.numpy().copy()
    edited.fill_(-1.0)
    assert np.any(other.numpy() == -1) == (name in SHARE)
    assert np.array_equal(other.numpy(), before) == (name in OWN)
    assert (edited.inplace_version, other.inplace_version) == (1, 1 if name in SHARE else 0)


def test_names_say_what_a_tensor_is() -> None:
    x = paddle.to_tensor(numbers(), stop_gradient=False)
    assert x.name.startswith("generated_tensor_")
    assert (x * x).name.startswith("eager_tmp_")
    assert x.detach().name.startswith("generated_tensor_")
