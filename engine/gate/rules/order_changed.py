"""GT405: The same operators are in another order than in the golden file."""

from __future__ import annotations

from ..drift import look_for_changes
from ..finding import Severity
from ..rule import Rule

RULE = Rule(
    code="GT405",
    name="order-changed",
    summary="The same operators are in another order than in the golden file.",
    why="Results are the same, but for the order of random numbers and of sums of gradients.",
    severity=Severity.WARNING,
    look=look_for_changes("moved"),
    golden=True,
    wrong="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(4, 8)
x = paddle.rand([8, 4])
b = paddle.tanh(second(x))
a = paddle.nn.functional.relu(first(x))
loss = (a + b).square().mean()
loss.backward()
""",
    right="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(4, 8)
x = paddle.rand([8, 4])
a = paddle.nn.functional.relu(first(x))
b = paddle.tanh(second(x))
loss = (a + b).square().mean()
loss.backward()
""",
)
