"""GT605: The label of a classifier reaches the prediction that is compared with it."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT605",
    name="label-leaks",
    summary="The label of a classifier reaches the prediction that is compared with it.",
    why=(
        "The answer is among the inputs, so the loss falls to nothing. Without labels the model knows nothing. If it "
        "is meant, as a margin on the logit of the right class, waive it."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.LABEL),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = paddle.nn.Linear(7, 8), paddle.nn.Linear(8, 3)

    def forward(self, x, group):
        x = paddle.concat([x, F.one_hot(group, 3)], axis=1)
        return self.head(F.relu(self.body(x)))


net = Net()
y = paddle.to_tensor([0, 1, 2, 0, 1, 2])
loss = F.cross_entropy(net(paddle.rand([6, 4]), y), y)
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = paddle.nn.Linear(7, 8), paddle.nn.Linear(8, 3)

    def forward(self, x, group):
        x = paddle.concat([x, F.one_hot(group, 3)], axis=1)
        return self.head(F.relu(self.body(x)))


net = Net()
y = paddle.to_tensor([0, 1, 2, 0, 1, 2])
loss = F.cross_entropy(net(paddle.rand([6, 4]), paddle.to_tensor([1, 0, 2, 2, 0, 1])), y)
loss.backward()
""",
)
