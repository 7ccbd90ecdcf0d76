"""Losses that are computed from gradients of the same program: a gradient penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

PENALTY = """\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
x.stop_gradient = False
w = paddle.static.create_parameter([3, 1], "float32", name="w")
score = paddle.tanh(x @ w)
(slope,) = paddle.static.gradients(score.sum(), [x])
loss = ((slope.square().sum(axis=1).sqrt() - 1.0) ** 2).mean()
"""


def test_sizes_are_those_of_the_loss_and_not_of_what_it_is_computed_from(
    gradtool: Callable[..., Any], model: Callable[[str], str]
) -> None:
    file = model(PENALTY)
    (size,) = gradtool("stats", file, "--format", "json").data["rows"]
    (row,) = gradtool("backward", file, "--run", "--format", "json").data["parameters"]
    assert size["gradient"]["norm"] == pytest.approx(row["values"]["norm"])


def test_what_is_not_asked_says_why(gradtool: Callable[..., Any], model: Callable[[str], str]) -> None:
    said = gradtool("check", model(PENALTY)).out
    assert "the loss is computed from gradients (model.py:8), and in evaluation mode a program computes none" in said
