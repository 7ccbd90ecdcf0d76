"""Small programs for the tests of optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool import paddle


def network() -> Any:
    """The mean square of a layer with parameters ``a.w_0`` and ``a.b_0``."""
    x = paddle.static.data("x", [4, 3])
    return paddle.mean(paddle.square(paddle.static.nn.fc(x, 2, name="a")))


def vector(name: str, values: Any, **settings: Any) -> Any:
    init = paddle.nn.initializer.Assign(np.asarray(values, "float32"))
    return paddle.static.create_parameter(
        [len(values)], "float32", attr=paddle.ParamAttr(name=name, initializer=init, **settings)
    )


def main_ops() -> list[Any]:
    return paddle.static.default_main_program().global_block().ops


def run(fetch: list[Any], startup: bool = False, **feed: Any) -> list[np.ndarray]:
    exe = paddle.static.Executor()
    if startup:
        exe.run(paddle.static.default_startup_program())
    return exe.run(feed=feed, fetch_list=fetch)
