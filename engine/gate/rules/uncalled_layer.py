"""GT114: A layer without parameters that a model holds and never calls."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

_MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
        self.act = paddle.nn.ReLU()

    def forward(self, x):
        return self.head({h})


net = Net()
loss = F.mse_loss(net(paddle.rand([8, 4])), paddle.ones([8, 1]))
loss.backward()
"""

RULE = Rule(
    code="GT114",
    name="uncalled-layer",
    summary="A layer without parameters that a model holds and never calls: a dropout, a pooling, an activation.",
    why=(
        "Nothing is missing from the gradients, and the model is another one than its constructor says. A layer with "
        "parameters has no gradient then (GT101). Some are kept for models that are made from this one, so it is a "
        "note."
    ),
    severity=Severity.NOTE,
    look=look_for_facts(FactKind.UNCALLED),
    wrong=_MODEL.format(h="self.body(x)"),
    right=_MODEL.format(h="self.act(self.body(x))"),
)
