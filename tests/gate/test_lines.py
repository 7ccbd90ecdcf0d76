"""Findings stand at the line of their cause, also where it shows elsewhere: the line that ends in ``# here``."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Finding, Severity
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

HEAD = """\
import pickle
import paddle
import paddle.nn.functional as F
from paddle import nn

"""

NET = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 3)
        self.drop = nn.Dropout({drop})  {at_drop}

    def forward(self, x):
        h = paddle.tanh(self.body(x)){factor}
        h = h + F.sigmoid({use})  {at_use}
        return self.head(self.drop(h)){scale}


paddle.seed(0)
net = Net()
opt = paddle.optimizer.Adam(  {at_list}
    {rate}, parameters=list(net.parameters()){part}
)
for step in range(3):
    loss = F.cross_entropy(net(paddle.randn([6, 4])), paddle.randint(0, 3, [6]))
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
RIGHT = {
    "drop": "0.0",
    "at_drop": "",
    "factor": "",
    "use": "h",
    "at_use": "",
    "scale": "",
    "at_list": "",
    "rate": "0.001",
    "part": "",
}

STATIC = """
paddle.enable_static()
x = paddle.static.data("x", [8, 4])
out = paddle.static.nn.fc(x, 1)
fit = out.square().mean()
penalty = out.abs().mean()
penalty.stop_gradient = True  # here
loss = fit + 0.1 * penalty
paddle.optimizer.SGD(0.1).minimize(loss)
"""

CAUSES = {
    "a factor that makes gradients vanish": (
        "GT204",
        NET,
        {"scale": " * 1e-30  # here"},
    ),
    "a factor that makes gradients explode": (
        "GT203",
        NET.replace("F.cross_entropy(net(", "(lambda a, b: a.mean())(net("),
        {"scale": " * 1e30  # here"},
    ),
    "a layer that drops everything": (
        "GT205",
        NET,
        {"drop": "1.0", "at_drop": "# here"},
    ),
    "a use of several that is detached": (
        "GT112",
        NET,
        {"use": "h.detach()", "at_use": "# here"},
    ),
    "a use of several that goes through NumPy": (
        "GT112",
        NET,
        {"use": "paddle.to_tensor(h.numpy())", "at_use": "# here"},
    ),
    "a term of the loss that is multiplied by 0": (
        "GT111",
        NET.replace("randint(0, 3, [6]))", "randint(0, 3, [6])) + 0.0 * (net.head.weight**2).sum()  # here"),
        {},
    ),
    "a list that holds nothing": (
        "GT701",
        NET,
        {"part": "[:0]", "at_list": "# here"},
    ),
    "a learning rate that is too large": (
        "GT716",
        NET,
        {"rate": "1e12", "at_list": "# here"},
    ),
    "a term of a program that stops gradients": ("GT111", STATIC, {}),
}


@pytest.mark.parametrize("name", CAUSES)
def test_a_finding_stands_at_its_cause(name: str, tmp_path: Path) -> None:
    code, model, wrong = CAUSES[name]
    path = tmp_path / "model.py"
    found = _found(path, model.format(**{**RIGHT, **wrong}) if model is not STATIC else model)
    (line,) = (n for n, text in enumerate(path.read_text().splitlines(), 1) if text.rstrip().endswith("# here"))
    assert [f.spot.line for f in found if f.code == code and f.spot is not None] == [line], found
    assert [f for f in found if f.code != code and f.severity is not Severity.NOTE] == []


def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    assert [f for f in _found(tmp_path / "model.py", NET.format(**RIGHT)) if f.code != "GT901"] == []


def test_a_bias_that_cancels_in_a_difference_is_no_lost_term(tmp_path: Path) -> None:
    said = """
critic = nn.Linear(4, 1)
loss = critic(paddle.ones([3, 4])).mean() - critic(paddle.zeros([3, 4])).mean()
loss.backward()
"""
    assert "GT111" not in [f.code for f in _found(tmp_path / "model.py", said)]


def test_a_layer_that_drops_everything_can_be_pickled(tmp_path: Path) -> None:
    said = (
        "layer = nn.Dropout(1.0)\nassert pickle.loads(pickle.dumps(layer)).p == 1.0\n"
        "loss = nn.Linear(2, 1)(paddle.rand([3, 2])).mean()\nloss.backward()\n"
    )
    assert [f for f in _found(tmp_path / "model.py", said) if f.severity is not Severity.NOTE] == []


def _found(path: Path, model: str) -> list[Finding]:
    path.write_text(HEAD + model, encoding="utf-8")
    return findings(Request.create(str(path)), path.name, Selection())
