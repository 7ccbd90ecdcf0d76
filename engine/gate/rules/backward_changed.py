"""GT403: Operators that are the same have other gradient operators than in the golden file."""

from __future__ import annotations

from ..drift import look_for_changes
from ..finding import Severity
from ..rule import Rule

RULE = Rule(
    code="GT403",
    name="backward-changed",
    summary="Operators that are the same have other gradient operators than in the golden file.",
    why="Backward was pruned in another way: it does work that it skipped before, or the reverse.",
    severity=Severity.WARNING,
    look=look_for_changes("backward"),
    golden=True,
    wrong="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
x.stop_gradient = False  # nobody asks for the gradient of data
loss = paddle.mean(paddle.static.nn.fc(paddle.tanh(x), 1, name="head"))
paddle.static.append_backward(loss)
""",
    right="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
loss = paddle.mean(paddle.static.nn.fc(paddle.tanh(x), 1, name="head"))
paddle.static.append_backward(loss)
""",
)
