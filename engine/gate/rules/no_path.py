"""GT102: A parameter that is read, and whose results never reach the loss."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT102",
    name="no-path-to-loss",
    summary="A parameter that is read, and whose results never reach the loss.",
    why="What is computed from it is dropped, or goes into a number that is only logged.",
    severity=Severity.ERROR,
    look=look_for_verdict("GT102"),
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

body, aux, head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 3), paddle.nn.Linear(8, 1)
h = F.relu(body(paddle.rand([5, 4])))
penalty = aux(h).square().mean()  # is never added
loss = head(h).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

body, aux, head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 3), paddle.nn.Linear(8, 1)
h = F.relu(body(paddle.rand([5, 4])))
penalty = aux(h).square().mean()
loss = head(h).mean() + 0.1 * penalty
loss.backward()
""",
)
