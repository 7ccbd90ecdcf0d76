"""Small programs of one function: what it computes, its gradient, what it appends."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle


def variables(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    tensors = {n: paddle.static.data(n, list(a.shape), str(a.dtype)) for n, a in arrays.items()}
    for v in tensors.values():
        v.stop_gradient = not v.dtype.is_floating
    return tensors


def compute(function: Any, **arrays: Any) -> np.ndarray:
    """The value of *function* of variables that hold *arrays*."""
    arrays = {n: np.asarray(a) for n, a in arrays.items()}
    out = function(**variables(arrays))
    return paddle.static.Executor().run(feed=arrays, fetch_list=[out])[0]


def gradient(function: Any, x: Any) -> np.ndarray:
    """The gradient of the sum of *function* of *x*."""
    x = np.asarray(x)
    data = variables({"x": x})["x"]
    (grad,) = paddle.static.gradients([function(data)], [data])
    return paddle.static.Executor().run(feed={"x": x}, fetch_list=[grad])[0]


def made_by(function: Any, **arrays: Any) -> tuple[str, list[str]]:
    """The name of the result of *function*, and the types of the operators it appended."""
    out = function(**variables({n: np.asarray(a) for n, a in arrays.items()}))
    return out.name, [o.type for o in paddle.static.default_main_program().global_block().ops]
