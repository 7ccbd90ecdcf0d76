"""Gradients of ``paddle.grad`` in a loss: penalties that are constants, and constants that are meant."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

import gradtool
from gradtool.engine.answers.why.sibling_parameters import odd_ones
from gradtool.engine.answers.why.verdicts import Verdict

HEAD = """\
import paddle
import paddle.nn as nn
import paddle.nn.functional as F

paddle.seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
x = paddle.rand([6, 3])
x.stop_gradient = False
"""
SCRIPTS = {
    "a penalty": (
        """
        g = paddle.grad(net(x).sum(), x)[0]  # here
        loss = (net(x) ** 2).mean() + ((g.norm(axis=1) - 1) ** 2).mean()
        """,
        True,
    ),
    "the residual of an equation": (
        """
        v = net(x)
        g = paddle.grad(v.sum(), x, retain_graph=True)[0]  # here
        loss = ((g[:, :1] + v * g[:, 1:2]) ** 2).mean() + (net(x + 1) ** 2).mean()
        """,
        True,
    ),
    "a penalty with its graph": (
        """
        g = paddle.grad(net(x).sum(), x, create_graph=True)[0]
        loss = (net(x) ** 2).mean() + ((g.norm(axis=1) - 1) ** 2).mean()
        """,
        False,
    ),
    "an example that is moved": (
        "g = paddle.grad(net(x).sum(), x)[0]\nloss = (net(x + 0.1 * g.sign()) ** 2).mean() + (net(x) ** 2).mean()",
        False,
    ),
    "weights that are moved": (
        """
        w = net[0].weight
        g = paddle.grad((net(x) ** 2).mean(), w)[0]
        loss = ((x @ (w - 0.1 * g)) ** 2).mean() + (net(x) ** 2).mean()
        """,
        False,
    ),
    "weights of two losses": (
        """
        one, two = (net(x) ** 2).mean(), net(x).abs().mean()
        g = paddle.grad(one, net[0].weight, retain_graph=True)[0].norm()
        loss = one / g + two * g
        """,
        False,
    ),
    "a constant that is meant": (
        "g = paddle.grad(net(x).sum(), x)[0]\nloss = (net(x) ** 2).mean() + g.detach().norm()",
        False,
    ),
}


@pytest.mark.parametrize("case", SCRIPTS, ids=str)
def test_a_penalty_is_told_from_a_constant(case: str, tmp_path: Path) -> None:
    body, wrong = SCRIPTS[case]
    text = f"{HEAD}{textwrap.dedent(body).strip()}\nloss.backward()\n"
    file = tmp_path / "model.py"
    file.write_text(text, encoding="utf-8")
    found = [a for a in gradtool.load(str(file)).why() if a.finding and a.is_parameter]
    assert [a.verdict for a in found if a.verdict is Verdict.CONSTANT] == ([Verdict.CONSTANT] if wrong else [])
    if wrong:
        assert "# here" in found[0].code


def test_what_is_frozen_between_equal_ones_is_odd() -> None:
    def row(frozen: str) -> list[tuple[str, tuple[int, ...], bool]]:
        return [(f"net.{i}.weight", (4, 4), c == "x") for i, c in enumerate(frozen)]

    assert dict(odd_ones(row("..x."))) == {"net.2.weight": ("net.0.weight", "net.1.weight", "net.3.weight")}
    for meant in ("xx...", "...xx", "xxxx", ".x", "x.x.x"):
        assert not odd_ones(row(meant)), meant
    assert not odd_ones(
        [("net.0.weight", (4, 3), False), ("net.1.weight", (4,), True), ("net.2.weight", (4, 3), False)]
    )
