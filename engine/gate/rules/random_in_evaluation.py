"""GT604: Random numbers that are drawn in evaluation mode and were meant for training."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT604",
    name="random-in-evaluation",
    summary="Random numbers that are drawn in evaluation mode and were meant for training.",
    why=(
        "Two evaluations of one model differ, and both are worse than they need be. F.dropout is on unless it is given "
        "self.training. eval() does not reach layers in a plain list."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.RANDOM, declared="sampling"),
    options={"sampling": (0, "1 says that the model is not meant to draw samples, as a variational autoencoder is")},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 3)

    def forward(self, x):
        h = F.dropout(F.relu(self.body(x)), 0.5)  # training=True is its default
        return self.head(h)


net = Net()
loss = F.cross_entropy(net(paddle.rand([6, 4])), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 3)

    def forward(self, x):
        h = F.dropout(F.relu(self.body(x)), 0.5, training=self.training)
        return self.head(h)


net = Net()
loss = F.cross_entropy(net(paddle.rand([6, 4])), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""",
)
