"""GT107: A parameter that the backward call skips, by its no_grad_set."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT107",
    name="left-out",
    summary="A parameter that the backward call skips, by its no_grad_set.",
    why="What was skipped for one experiment stays skipped. The loss still falls, because the other parameters learn.",
    severity=Severity.WARNING,
    look=look_for_verdict("GT107"),
    wrong="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
h = paddle.static.nn.fc(x, 3, name="encoder")
loss = paddle.mean(paddle.static.nn.fc(h, 1))
paddle.static.append_backward(loss, no_grad_set={"encoder.w_0", "encoder.b_0"})
""",
    right="""\
import paddle

paddle.enable_static()
x = paddle.static.data("x", [8, 4])
h = paddle.static.nn.fc(x, 3, name="encoder")
loss = paddle.mean(paddle.static.nn.fc(h, 1))
paddle.static.append_backward(loss)
""",
)
