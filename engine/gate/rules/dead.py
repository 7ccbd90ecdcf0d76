"""GT206: Units that pass no gradient: relu below zero everywhere, sigmoid or tanh where they are flat."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT206",
    name="dead-units",
    summary="Units that pass no gradient: relu below zero everywhere, sigmoid or tanh where they are flat.",
    why="Dead units do not come back: every gradient that could revive them would have to pass through them.",
    severity=Severity.WARNING,
    look=look_for_verdict("GT206"),
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

first, last = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
first.bias.set_value(paddle.full([8], -100.0))
loss = last(F.relu(first(paddle.rand([8, 4])))).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

first, last = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
loss = last(F.relu(first(paddle.rand([8, 4])))).mean()
loss.backward()
""",
)
