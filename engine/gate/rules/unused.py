"""GT101: A parameter that nothing reads."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT101",
    name="unused-parameter",
    summary="A parameter that nothing reads.",
    why=(
        "The layer was made and never called, or it is in a plain list where a LayerList belongs. The optimizer holds "
        "the parameter, checkpoints store it, and it never learns."
    ),
    severity=Severity.WARNING,
    look=look_for_verdict("GT101"),
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Linear(4, 8)
        self.norm = paddle.nn.LayerNorm(8)
        self.head = paddle.nn.Linear(8, 1)

    def forward(self, x):
        return self.head(F.relu(self.body(x)))  # norm is forgotten

net = Net()
loss = net(paddle.rand([5, 4])).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = paddle.nn.Linear(4, 8)
        self.norm = paddle.nn.LayerNorm(8)
        self.head = paddle.nn.Linear(8, 1)

    def forward(self, x):
        return self.head(F.relu(self.norm(self.body(x))))

net = Net()
loss = net(paddle.rand([5, 4])).mean()
loss.backward()
""",
)
