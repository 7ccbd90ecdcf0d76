"""Advice that belongs to one case of a script: followed, the finding is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

BEGIN = """\
import paddle
import paddle.nn as nn

paddle.seed(0)
x = paddle.rand([8, 4])
net, head = nn.Linear(4, 3), nn.Linear(3, 1)
both = [*net.parameters(), *head.parameters()]
SGD = paddle.optimizer.SGD
"""
LOOP = """\
{opt}
for step in range(3):
    loss = (head({inner}) - 1).square().mean()
    loss.backward()
    {end}
"""
END = "opt.step(); opt.clear_grad()"


def loop(opt: str = "opt = SGD(0.1, parameters=both)", inner: str = "net(x)", end: str = END) -> str:
    """Return a training with some of its parts exchanged."""
    return LOOP.format(opt=opt, inner=inner, end=end)


OWN = """\
del net, head, both
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = {}
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x)

model = Net()
opt = SGD(0.1, parameters=model.parameters())
loss = model(x).mean()
loss.backward()
opt.step()
"""

CASES = {
    "cleared before the step": (
        loop(end="opt.clear_grad(); opt.step()"),
        loop(),
        "clear gradients after step(), or before backward()",
    ),
    "never cleared": (loop(end="opt.step()"), loop(), "clear gradients after each step: clear_grad()"),
    "not in the list": (
        loop("opt = SGD(0.1, parameters=head.parameters())"),
        loop(),
        "give it to the optimizer, or set stop_gradient=True if it is not to be trained",
    ),
    "a plain list of layers": (
        OWN.format("[nn.Linear(4, 4), nn.Linear(4, 3)]"),
        OWN.format("nn.LayerList([nn.Linear(4, 4), nn.Linear(4, 3)])"),
        "make model.layers an nn.LayerList: parameters() does not look into a plain list",
    ),
    "a hook that returns zeros": (
        "h = net(x)\nh.register_hook(lambda g: g * 0)\nloss = head(h).mean()\nloss.backward()\n",
        "h = net(x)\nh.register_hook(lambda g: g)\nloss = head(h).mean()\nloss.backward()\n",
        "have the hook return what it is given, changed, or None",
    ),
    "frozen parameters alone": (
        loop(
            "for p in both:\n    p.stop_gradient = True\nscale = paddle.create_parameter([1], 'float32')\n"
            "opt = SGD(0.1, parameters=both)",
            "net(x) + scale",
        ),
        loop(
            "scale = paddle.create_parameter([1], 'float32')\nopt = SGD(0.1, parameters=[*both, scale])",
            "net(x) + scale",
        ),
        "give the optimizer parameters that are trained, or set stop_gradient=False on those that it holds",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_finding_goes_when_its_advice_is_followed(tmp_path: Path, case: str) -> None:
    before, after, advice = CASES[case]
    said = [a.advice for a in answers(tmp_path, before) if a.finding]
    assert advice in said, said
    assert [str(a) for a in answers(tmp_path, after) if a.finding] == []


def answers(folder: Path, text: str):
    """What ``why`` answers about a script."""
    script = folder / "script.py"
    script.write_text(BEGIN + text, encoding="utf-8")
    return list(Why().ask(Request(str(script))))
