"""A hook that returns zeros is told of, and not the operator behind it."""

from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

MODEL = """\
import paddle
from paddle import nn

net, head = nn.Linear(4, 8), nn.Linear(8, 1)
h = paddle.tanh(net(paddle.randn([8, 4])))
h.register_hook(lambda gradient: gradient * {factor})
loss = head(h).square().mean()
loss.backward()
"""


def answers(tmp_path, factor):
    model = tmp_path / "model.py"
    model.write_text(MODEL.format(factor=factor), encoding="utf-8")
    return [a for a in Why().ask(Request(str(model))) if a.finding]


def test_a_hook_that_returns_zeros_is_what_is_wrong(tmp_path):
    (answer,) = answers(tmp_path, 0)
    assert answer.verdict is Verdict.TIMES_ZERO
    assert answer.said[0] == "a hook on it returned zeros"
    assert answer.location[0][1] == 6


def test_a_hook_that_scales_is_no_finding(tmp_path):
    assert not answers(tmp_path, 0.5)
