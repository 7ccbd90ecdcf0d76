"""GT401: Other parameters than in the golden file get a gradient."""

from __future__ import annotations

from ..drift import look_for_changes
from ..finding import Severity
from ..rule import Rule

RULE = Rule(
    code="GT401",
    name="gradients-changed",
    summary="Other parameters than in the golden file get a gradient.",
    why="A parameter that stops getting a gradient shows in no test and, for a while, in no loss.",
    severity=Severity.ERROR,
    look=look_for_changes("gradient", "frozen", "leaf", effects=True),
    golden=True,
    wrong="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
h = paddle.tanh(first(paddle.rand([8, 4])))
loss = (second(h.detach()) - 1).square().mean()
loss.backward()
""",
    right="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
h = paddle.tanh(first(paddle.rand([8, 4])))
loss = (second(h) - 1).square().mean()
loss.backward()
""",
)
