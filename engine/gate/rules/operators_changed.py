"""GT402: Operators came, went, or have other operands or attributes than in the golden file."""

from __future__ import annotations

from ..drift import look_for_changes
from ..finding import Severity
from ..rule import Rule

RULE = Rule(
    code="GT402",
    name="operators-changed",
    summary="Operators came, went, or have other operands or attributes than in the golden file.",
    why="Backward follows from forward: what runs is no longer what was reviewed.",
    severity=Severity.ERROR,
    look=look_for_changes("added", "removed", "replaced", "rewired", "cut", "connected", "attributes"),
    golden=True,
    wrong="""\
import paddle

paddle.seed(0)
first, second = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)
h = paddle.nn.functional.relu(first(paddle.rand([8, 4])))
loss = (second(h) - 1).square().mean()
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
