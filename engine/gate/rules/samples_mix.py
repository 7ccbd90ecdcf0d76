"""GT601: Samples of a batch that influence each other in evaluation mode."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT601",
    name="samples-mix",
    summary="Samples of a batch that influence each other in evaluation mode.",
    why=(
        "The prediction for a sample depends on the other samples of its batch. So results change with the size of the "
        "batch and with its order. Causes are a softmax over the batch, a view in place of a transpose, or a recurrent "
        "layer that takes the batch for the steps."
    ),
    severity=Severity.ERROR,
    look=look_for_facts(FactKind.MIXED, declared="batch"),
    options={"batch": (0, "1 says that the first axis holds samples, also where rows could be nodes, steps or pairs")},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.gate, self.head = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 3)

    def forward(self, x):
        weights = F.softmax(self.gate(x), axis=0)  # over the batch
        return self.head(x * weights)


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
        self.gate, self.head = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 3)

    def forward(self, x):
        weights = F.softmax(self.gate(x), axis=-1)
        return self.head(x * weights)


net = Net()
loss = F.cross_entropy(net(paddle.rand([6, 4])), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""",
)
