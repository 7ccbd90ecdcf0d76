"""Gradient rules of one's own: GT301 finds wrong ones, and leaves alone what is no derivative on purpose."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.request.request import Request

SCRIPT = """\
import paddle
import paddle.nn.functional as F
from paddle.autograd import PyLayer

paddle.seed(0)
net, head = paddle.nn.Linear(4, 3), paddle.nn.Linear(3, 2)
x = paddle.randn([8, 4])


class Own(PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return {forward}

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensor()
        return {backward}


h = net(x)
loss = {loss}
loss.backward()
"""

PLAIN = "head(Own.apply(h)).square().mean()"

RIGHT = {
    "a derivative": ("x * F.sigmoid(x)", "dy * (F.sigmoid(x) + x * F.sigmoid(x) * (1 - F.sigmoid(x)))", PLAIN),
    "straight-through": ("paddle.sign(x)", "dy * (x.abs() <= 1).astype('float32')", PLAIN),
    "a surrogate": ("(x > 0).astype('float32')", "dy / (1 + x.abs()) ** 2", PLAIN),
    "codes, and the way to them": (
        "paddle.round(x)",
        "dy",
        "head(Own.apply(h)).square().mean() + (h - paddle.round(h).detach()).square().mean()",
    ),
    "a reversal beside a label": ("x.clone()", "-0.5 * dy", "head(Own.apply(h)).square().mean() + h.square().mean()"),
}

WRONG = {
    "a forgotten term": ("x * F.sigmoid(x)", "dy * F.sigmoid(x)", PLAIN),
    "a rounded product": ("x * paddle.round(x)", "dy * 3 * paddle.round(x)", PLAIN),
}


def found(folder: Path, case: tuple[str, str, str]) -> list[str]:
    forward, backward, loss = case
    file = folder / "model.py"
    file.write_text(SCRIPT.format(forward=forward, backward=backward, loss=loss), encoding="utf-8")
    return [f.message for f in findings(Request(str(file)), "model.py", Selection(select=("GT301",)))]


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_no_derivative_on_purpose_is_left_alone(tmp_path: Path, case: str) -> None:
    assert found(tmp_path, RIGHT[case]) == []


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_rule_is_found(tmp_path: Path, case: str) -> None:
    (message,) = found(tmp_path, WRONG[case])
    assert "is wrong" in message
