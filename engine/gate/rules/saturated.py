"""GT208: A hidden layer of tanh or sigmoid units that are nearly all flat."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT208",
    name="saturated-units",
    summary="A hidden layer of tanh or sigmoid units that are nearly all flat.",
    why=(
        "No gradient is zero, so nothing looks dead. What comes before these units learns a thousand times more slowly "
        "than it could. Causes are inputs in the wrong unit, or weights that begin too large. A layer counts if 95 % "
        "of its elements are flat and a parameter reads them: the predictions of a trained classifier may be flat."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.FLAT),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(20, 32), paddle.nn.Tanh(), paddle.nn.Linear(32, 3))
pixels = paddle.rand([16, 20]) * 255  # and never divided by it
loss = F.cross_entropy(net(pixels), paddle.randint(0, 3, [16]))
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(20, 32), paddle.nn.Tanh(), paddle.nn.Linear(32, 3))
pixels = paddle.rand([16, 20])
loss = F.cross_entropy(net(pixels), paddle.randint(0, 3, [16]))
loss.backward()
""",
)
