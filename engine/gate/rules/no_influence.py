"""GT603: An input, or a feature of one, that makes no difference; or padding that makes one."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT603",
    name="no-influence",
    summary="An input, or a feature of one, that makes no difference; or padding that makes one.",
    why=(
        "An input that is not used is mostly a forgotten line. If padding is used, the prediction for a text depends "
        "on the length of its neighbours."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.WITHOUT, FactKind.PADDING),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.age, self.head = paddle.nn.Linear(4, 8), paddle.nn.Linear(1, 8), paddle.nn.Linear(8, 3)

    def forward(self, x, age):
        h = F.relu(self.body(x))
        age = paddle.full_like(age, 1.0)  # was to be switched off again
        h = h + self.age(age)
        return self.head(h)


net = Net()
loss = F.cross_entropy(net(paddle.rand([6, 4]), paddle.rand([6, 1])), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.age, self.head = paddle.nn.Linear(4, 8), paddle.nn.Linear(1, 8), paddle.nn.Linear(8, 3)

    def forward(self, x, age):
        h = F.relu(self.body(x) + self.age(age))
        return self.head(h)


net = Net()
loss = F.cross_entropy(net(paddle.rand([6, 4]), paddle.rand([6, 1])), paddle.to_tensor([0, 1, 2, 0, 1, 2]))
loss.backward()
""",
)
