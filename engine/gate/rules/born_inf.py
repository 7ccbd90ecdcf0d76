"""GT202: An infinity that reaches the loss or a gradient."""

from __future__ import annotations

from ...answers.magnitudes import INF
from ..finding import Severity
from ..rule import Rule, births_of

RULE = Rule(
    code="GT202",
    name="infinite",
    summary="An infinity that reaches the loss or a gradient.",
    why="Infinite gradients make infinite parameters. The next forward pass turns these into NaN.",
    severity=Severity.ERROR,
    explains=True,
    look=births_of(INF),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
h = F.relu(net(paddle.rand([8, 4]))) * 0.0
loss = paddle.sqrt(h).sum()  # its derivative at 0 is infinite
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
h = net(paddle.rand([8, 4])).square() + 1e-6
loss = paddle.sqrt(h).sum()
loss.backward()
""",
)
