"""GT201: A NaN that reaches the loss or a gradient."""

from __future__ import annotations

from ...answers.magnitudes import NAN
from ..finding import Severity
from ..rule import Rule, births_of

RULE = Rule(
    code="GT201",
    name="nan",
    summary="A NaN that reaches the loss or a gradient.",
    why="One step with it turns every parameter into NaN. Nothing brings them back.",
    severity=Severity.ERROR,
    explains=True,
    look=births_of(NAN),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
h = F.relu(net(paddle.randn([8, 4])))
loss = (h / h).mean()  # 0/0 where relu gives 0
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
h = F.relu(net(paddle.randn([8, 4])))
loss = (h / (h + 1.0)).mean()
loss.backward()
""",
)
