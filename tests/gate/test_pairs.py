"""Right programs that look like faulty ones: the right one is silent, and its faulty sibling is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradtool.engine.gate.checking import Selection, findings
from gradtool.engine.gate.finding import Severity
from gradtool.engine.request.request import Request

pytestmark = pytest.mark.usefixtures("no_rule_raises")

HEAD = """\
import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

paddle.seed(0)
"""

FINE_TUNING = """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
{trained}
opt = paddle.optimizer.SGD(0.1, parameters=trained)
for _ in range(3):
    loss = F.cross_entropy(net(paddle.randn([8, 4])), paddle.randint(0, 2, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

PROBE = """
probe = nn.Linear(4, 2)
net = nn.Linear(4, 2)
{early}
F.cross_entropy(probe(paddle.randn([8, 4])), paddle.randint(0, 2, [8])).backward()
{late}
for _ in range(3):
    loss = F.cross_entropy(net(paddle.randn([8, 4])), paddle.randint(0, 2, [8]))
    loss.backward()
    opt.step()
    opt.clear_grad()
"""
OPTIMIZER = "opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())"

SCALED = """
net = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(3):
    loss = F.cross_entropy(net(paddle.randn([16, 6])), paddle.randint(0, 3, [16]))
    (loss * 2.0**15).backward()
    with paddle.no_grad():
        for p in net.parameters():
            p.grad.set_value(p.grad {back})
    opt.step()
    opt.clear_grad()
"""

NOT_MASKED = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(2, 4), nn.Linear(4, 2)

    def forward(self, x, there):
        return self.head(paddle.tanh(self.body(x)).sum(1)) * there.sum(1, keepdim=True)


net = Net()
there = paddle.to_tensor(np.array({there}, "float32"))
loss = net(paddle.randn([3, 4, 2]), there).square().mean()
loss.backward()
"""

REBUILT = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.mean = nn.Linear(16, 12), nn.Linear(12, 4)
        self.side, self.back = nn.Linear({size}, 4), nn.Linear(4, 16)

    def forward(self, x, side):
        z = self.mean(paddle.tanh(self.body(x))) + self.side(side)
        return F.sigmoid(self.back(z))


net = Net()
x, side = paddle.rand([6, 16]), paddle.to_tensor(np.random.RandomState(0).randn(6, {size}).astype("float32"))
x = paddle.to_tensor(np.random.RandomState(1).rand(6, 16).astype("float32"))
loss = F.binary_cross_entropy(net(x, side), x)
loss.backward()
"""

CLASS_TOKEN = """
class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.token, self.rest, self.mix = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        rows = paddle.concat([self.token(x[:, :1]), self.rest(x[:, 1:])], 1)
        return paddle.tanh(self.mix(rows)){mixed}


net = nn.Sequential(*[Block() for _ in range(3)])
x = paddle.randn([2, 5, 4])
loss = net(x)[:, :1].square().mean()
loss.backward()
"""

PAIRS = {
    "a list chosen by names": (
        "GT701",
        FINE_TUNING,
        {"trained": "trained = [p for name, p in net.named_parameters() if name.startswith('2.')]"},
        {"trained": "trained = list(net.parameters())[2:]"},
    ),
    "a list chosen by names in a loop": (
        "GT701",
        FINE_TUNING,
        {
            "trained": "trained = []\nfor name, p in net.named_parameters():\n    if '2' in name:\n"
            "        trained.append(p)"
        },
        {"trained": "trained = [p for name, p in net[2].named_parameters()]"},
    ),
    "a pass before there was an optimizer": (
        "GT701",
        PROBE,
        {"early": "", "late": OPTIMIZER},
        {"early": OPTIMIZER, "late": ""},
    ),
    "a loss scaled and gradients scaled back by hand": (
        "GT203",
        SCALED,
        {"back": "/ 2.0**15"},
        {"back": "/ 2.0"},
    ),
    "a reconstruction with a small input next to it": (
        "GT605",
        REBUILT,
        {"size": 4},
        {"size": 20},
    ),
    "zeros and ones that are no mask": (
        "GT603",
        NOT_MASKED,
        {"there": [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]},
        {"there": [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 1]]},
    ),
    "the last layer before a class token": (
        "GT205",
        CLASS_TOKEN,
        {"mixed": " + rows.mean(1, keepdim=True)"},
        {"mixed": ""},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_the_right_one_is_silent_and_its_sibling_is_found(name: str, tmp_path: Path) -> None:
    code, model, right, wrong = PAIRS[name]
    assert _codes(tmp_path / "right.py", model.format(**right)) == []
    assert code in _codes(tmp_path / "wrong.py", model.format(**wrong))


def _codes(path: Path, model: str) -> list[str]:
    path.write_text(HEAD + model, encoding="utf-8")
    said = findings(Request.create(str(path)), path.name, Selection())
    return [f.code for f in said if f.severity is not Severity.NOTE]
