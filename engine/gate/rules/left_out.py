"""GT107: A parameter that the backward call itself leaves out, by its no_grad_set."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT107",
    name="left-out",
    summary="A parameter that the backward call itself leaves out, by its no_grad_set.",
    why=("What was left out for one experiment stays out; the loss still falls, as the others learn around it."),
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
