"""Every operator of the backward part knows the user's line that it is there for."""

from __future__ import annotations

import inspect
from typing import Any

from gradtool import paddle
from gradtool.engine.core import source
from tests.autodiff.nets import backward_ops, data, main


def line() -> int:
    """The number of the caller's line."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def lines_of(ops: Any) -> dict[str, list[int]]:
    """Operator type -> the lines of this file where its operators stand."""
    lines: dict[str, list[int]] = {}
    for o in ops:
        place = source.file_and_line(o.loc)
        assert place is not None
        assert place[0].endswith("test_lines_of_backward_operators.py")
        lines.setdefault(o.type, []).append(place[1])
    return lines


def test_gradients_seeds_and_sums() -> None:
    x = data("x", 3)
    h, at_h = paddle.tanh(x), line()
    a, at_a = paddle.sin(h), line()
    b, at_b = paddle.cos(h), line()
    loss, at_loss = paddle.mean(a * b), line()
    paddle.static.append_backward(loss, [x])
    assert lines_of(backward_ops()) == {
        "fill_constant": [at_loss],
        "reduce_mean_grad": [at_loss],
        "elementwise_mul_grad": [at_loss],
        "cos_grad": [at_b],
        "sin_grad": [at_a],
        "sum": [at_h],
        "tanh_grad": [at_h],
    }


def test_values_that_are_overwritten_later() -> None:
    x = data("x", 3)
    h, _ = paddle.tanh(x), line()
    y, at_y = paddle.exp(h), line()
    at_write = line() + 1
    paddle.assign(paddle.sin(x), h)
    z, at_z = paddle.square(h), line()
    loss, at_loss = paddle.mean(y * z), line()
    before = list(main().global_block().ops)
    paddle.static.append_backward(loss, [x])
    saved = [o for o in main().global_block().ops if o not in before and o.type == "assign"]
    assert lines_of(saved) == {"assign": [at_write, at_write]}
    gradients = lines_of(o for o in backward_ops() if o.type in ("exp_grad", "square_grad", "elementwise_mul_grad"))
    assert gradients == {"exp_grad": [at_y], "square_grad": [at_z], "elementwise_mul_grad": [at_loss]}


def test_seeds_of_several_targets() -> None:
    x = data("x", 3)
    first, at_first = paddle.sin(x), line()
    second, at_second = paddle.cos(x), line()
    paddle.static.gradients([first, second], [x])
    seeds = [o for o in backward_ops() if o.type == "fill_any_like"]
    assert lines_of(seeds) == {"fill_any_like": [at_first, at_second]}
