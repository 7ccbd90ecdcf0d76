"""Small losses that are not finite, or whose gradients are not: one birth each, explained, in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle

F = paddle.nn.functional
INF = float("inf")
Build = Callable[[Any], Any]


def masked(p: Any) -> Any:
    return paddle.where(p > 2, p, paddle.full([2, 2], -INF))


CASES: dict[str, tuple[Build, Any, str, str, str]] = {
    # name: (loss before its sum, the parameter, part, operator, cause)
    "sqrt at 0": (paddle.sqrt, [0.0, 4.0], "backward", "sqrt_grad", "0.5·dout/out with out = 0 in 1 of 2"),
    "log at 0": (paddle.log, [0.0, 4.0], "forward", "log", "log(0) in 1 of 2"),
    "log below 0": (paddle.log, [-1.0, 4.0], "forward", "log", "log of a negative number"),
    "masked root": (
        lambda p: paddle.where(p > 0, paddle.sqrt(p), paddle.zeros_like(p)), [0.0, 4.0],
        "backward", "sqrt_grad", "dout = 0 in 1 of 2 elements: 0·∞",
    ),
    "masked log": (
        lambda p: paddle.where(p > 0, paddle.log(p), paddle.zeros_like(p)), [0.0, 4.0],
        "backward", "log_grad", "dout/x with x = 0 and dout = 0 in 1 of 2 elements: 0/0",
    ),
    "masked division": (
        lambda p: paddle.where(p != 0, 1 / p, paddle.zeros_like(p)), [0.0, 4.0],
        "forward", "elementwise_div", "division by 0",
    ),
    "norm by hand": (lambda p: paddle.sqrt(paddle.sum(p * p)), [0.0, 0.0], "backward", "sqrt_grad", "out = 0"),
    "unit vector": (lambda p: p / paddle.norm(p), [0.0, 0.0], "forward", "elementwise_div", "0/0 in 2 of 2"),
    "root as power": (lambda p: paddle.pow(p, 0.5), [0.0, 2.0], "backward", "", "with x = 0"),
    "negative power": (lambda p: paddle.pow(p, -1.0), [0.0, 2.0], "forward", "", "0 to a negative power"),
    "power of a negative": (lambda p: paddle.pow(p, 0.5), [-1.0, 2.0], "forward", "", "to a fractional power"),
    "exp": (paddle.exp, [100.0, 2.0], "forward", "exp", "exp overflows float32: the argument is beyond 88.72"),
    "nothing to choose from": (
        lambda p: F.softmax(masked(p)), [[1.0, 2.0], [3.0, 4.0]],
        "forward", "softmax", "every score is -inf in 1 of 2 rows",
    ),
    "nothing to add up": (
        lambda p: paddle.logsumexp(masked(p), axis=-1), [[1.0, 2.0], [3.0, 4.0]],
        "forward", "logsumexp", "every score is -inf in 1 of 2 rows",
    ),
    "angle": (paddle.acos, [1.0, 0.5], "backward", "acos_grad", "|x| = 1"),
    "other angle": (paddle.asin, [-1.0, 0.5], "backward", "asin_grad", "|x| = 1"),
    "angle beyond 1": (paddle.acos, [1.5, 0.5], "forward", "acos", "acos outside of -1 … 1"),
    "spread of a constant": (paddle.std, [1.0, 1.0, 1.0], "backward", "sqrt_grad", "out = 0"),
    "0 times infinity": (
        lambda p: paddle.exp(p) * paddle.zeros_like(p), [1000.0, 1.0], "forward", "exp", "exp overflows",
    ),
    "16 bits": (
        lambda p: paddle.cast(p, "float16") * 300.0, [300.0, 1.0],
        "forward", "", "the result is beyond the range of float16, 65504",
    ),
    "cast to 16 bits": (lambda p: paddle.cast(p, "float16"), [1e6, 1.0], "forward", "cast", "overflows beyond 65504"),
}  # fmt: skip


def story(build: Build, values: Any, mode: str) -> Any:
    start = np.array(values, "float32")
    if mode == "eager":
        paddle.disable_static()
        p = paddle.to_tensor(start, stop_gradient=False)
        return gradtool.nan(lambda: paddle.sum(paddle.cast(build(p), "float32")))
    paddle.enable_static()
    p = paddle.static.create_parameter(
        list(start.shape), "float32", default_initializer=paddle.nn.initializer.Assign(start)
    )
    loss = paddle.sum(paddle.cast(build(p), "float32"))
    paddle.static.Executor().run(paddle.static.default_startup_program())
    return gradtool.nan(loss)


@pytest.mark.parametrize("mode", ["eager", "static"])
@pytest.mark.parametrize("name", CASES)
def test_one_birth_with_its_cause(name: str, mode: str) -> None:
    build, values, part, type_, cause = CASES[name]
    search = story(build, values, mode)
    [birth] = search.births
    assert birth.part == part
    assert birth.type == type_ or not type_
    assert cause in birth.cause


def test_of_a_computed_loss_the_forward_pass_was_not_looked_at() -> None:
    paddle.disable_static()
    p = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    search = gradtool.nan(paddle.sum(paddle.tanh(p)))
    assert (search.births, search.clean) == ([], None)
    [told] = search.unchecked
    assert told.startswith("the forward pass, which was over before the search began")


def test_which_call_of_a_line() -> None:
    paddle.disable_static()
    p = paddle.to_tensor([2.0], stop_gradient=False)

    def loss() -> Any:
        h = p
        for _ in range(4):
            h = paddle.log(h * 1.0)
        return paddle.sum(h)

    [birth] = gradtool.nan(loss).births
    assert (birth.type, birth.nth) == ("log", 3)  # log(2) = 0.69, log(0.69) < 0
