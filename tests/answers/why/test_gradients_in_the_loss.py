"""``why`` where the loss is made of gradients: penalties, differential equations, second derivatives."""

from __future__ import annotations

import pytest

import gradtool
from gradtool import paddle
from gradtool.engine.answers.why.answers import Answer
from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.paddle import nn


def dynamic_penalty(activation: type[nn.Layer]) -> dict[str, Answer]:
    net = nn.Sequential(nn.Linear(2, 4), activation(), nn.Linear(4, 1))
    x = paddle.ones([3, 2])
    x.stop_gradient = False
    (g,) = paddle.grad(net(x).sum(), x, create_graph=True)
    told = gradtool.why((g * g).sum(), list(net.parameters()))
    return dict(zip([name for name, _ in net.named_parameters()], told, strict=True))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(("activation", "without"), [(nn.Tanh, {"2.bias"}), (nn.ReLU, {"0.bias", "2.bias"})])
def test_what_derivatives_do_not_depend_on_is_no_finding(activation: type[nn.Layer], without: set[str]) -> None:
    with gradtool.watching():
        answers = dynamic_penalty(activation)
    assert {name for name, a in answers.items() if a.verdict is Verdict.NO_PATH} == without
    assert not any(a.finding for a in answers.values() if a.verdict is Verdict.NO_PATH)
    assert all("its derivatives are used, and these do not depend on it" in answers[name].said for name in without)


@pytest.mark.usefixtures("dynamic")
def test_what_is_left_out_beside_a_penalty_is_a_finding() -> None:
    with gradtool.watching():
        w, v = (paddle.create_parameter([2], "float32") for _ in range(2))
        (g,) = paddle.grad((w * w * w).sum(), w, create_graph=True)
        side = v * 2.0
        (told,) = gradtool.why(g.sum(), v)
    assert (told.verdict, told.finding) == (Verdict.NO_PATH, True)
    assert told.code == "side = v * 2.0"
    assert side.shape == [2]
