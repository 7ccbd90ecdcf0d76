"""Advice about NaN and infinity fits how the operands were made, and what reads the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.events import OpEvent, SlotArray
from gradtool.engine.answers.makers import Makers

F = paddle.nn.functional

CASES: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    # name: (what the loss sums up, the parameter, a part of the advice)
    "log of a log": (lambda p: paddle.log(F.log_softmax(p)), [1.0, 2.0], "a logarithm already (log_softmax)"),
    "log of a chance": (lambda p: paddle.log(F.softmax(p)), [0.0, 200.0], "from the logits"),
    "log of a relu": (lambda p: paddle.log(F.relu(p)), [-1.0, 2.0], "relu gives exact zeros"),
    "log after a clip": (lambda p: paddle.log(paddle.clip(p, 0.0, 1.0)), [-1.0, 0.5], "the clip lets 0 through"),
    "log after a good clip": (lambda p: paddle.log(paddle.clip(p, 0.1, 1.0) * 0.0), [-1.0, 0.5], "away from 0"),
    "division after a clip": (
        lambda p: p / paddle.clip(p, min=0.0).reshape([2, 1]), [-1.0, 2.0], "the clip lets 0 through",
    ),
    "division by a length": (lambda p: p / paddle.norm(p), [0.0, 0.0], "a length of 0 has no direction"),
    "division by a sum": (lambda p: p / paddle.sum(F.relu(p)), [-1.0, -1.0], "nothing was counted or summed"),
    "division by a deviation": (
        lambda p: (p - p.mean()) / paddle.sqrt(((p - p.mean()) ** 2).mean()), [2.0, 2.0], "under the root",
    ),
    "deviation of one": (lambda p: p.std(), [3.0], "one sample has no deviation"),
    "entropy": (
        lambda p: F.softmax(p + paddle.to_tensor([0.0, -float("inf")])) * F.log_softmax(
            p + paddle.to_tensor([0.0, -float("inf")])), [1.0, 2.0], "0·log 0 is NaN",
    ),
    "a mask": (
        lambda p: paddle.exp(p) * paddle.to_tensor([0.0, 1.0]) + 0.0 * p, [1000.0, 1.0], "bound what goes into it",
    ),
    "a rate": (lambda p: paddle.exp(p) - 3.0 * p, [1000.0, 1.0], "bound what goes into it"),
    "softmax by hand": (lambda p: paddle.exp(p) / paddle.sum(paddle.exp(p)), [1000.0, 1.0], "subtracts the largest"),
    "softplus by hand": (lambda p: paddle.log(1 + paddle.exp(p)), [1000.0, 1.0], "subtracts the largest"),
    "root as power": (lambda p: p**0.5, [0.0, 1.0], "the slope of a power below 1 is infinite"),
    "angle of nothing": (lambda p: paddle.atan2(p, p * 2.0), [0.0, 0.0], "the point (0, 0) has no angle"),
}  # fmt: skip


@pytest.mark.parametrize("mode", ["dynamic", "static"])
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_is_advised(case: tuple[Callable[[Any], Any], Any, str], mode: str, request: Any) -> None:
    build, numbers, advice = case
    values = np.array(numbers, "float32")
    if mode == "dynamic":
        request.getfixturevalue("dynamic")
        p = paddle.to_tensor(values, stop_gradient=False)
        story = gradtool.nan(lambda: build(p).sum())
    else:
        paddle.enable_static()
        p = paddle.static.create_parameter(list(values.shape), "float32", name="p")
        loss = paddle.sum(build(p))
        paddle.static.Executor().run(paddle.static.default_startup_program())
        paddle.static.global_scope().find_var("p").get_tensor().set(values, None)
        story = gradtool.nan(loss)
    assert advice in story.births[0].advice


def test_one_operator_is_one_birth() -> None:
    paddle.disable_static()
    p = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
    q = paddle.to_tensor([0.0, 0.0], stop_gradient=False)
    story = gradtool.nan(lambda: paddle.atan2(p, q).sum())
    paddle.enable_static()
    assert [b.type for b in story.births] == ["atan2_grad"]
    assert len(story.victims) == 2


def test_makers_see_through_changes_of_shape_and_forget_what_is_gone() -> None:
    def event(type_: str, reads: Any, writes: Any) -> OpEvent:
        return OpEvent(type_, "forward", (), {}, [SlotArray("X", reads)], [SlotArray("Out", writes)], None)

    makers = Makers()
    x, y, z = np.zeros(2), np.zeros(2), np.zeros((2, 1))
    makers.note(event("relu", x, y))
    makers.note(event("reshape2", y, z))
    maker = makers.find(z)
    assert maker is not None
    assert maker.type == "relu"
    assert makers.find(x) is None
    del y, z
    assert not makers._by_array
