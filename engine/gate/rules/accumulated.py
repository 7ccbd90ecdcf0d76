"""GT106: Gradients that add up over backward calls, because nothing clears them."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT106",
    name="accumulated",
    summary="Gradients that add up over backward calls, because nothing clears them.",
    why="Every step repeats all steps before it, so the effective rate grows with the number of steps.",
    severity=Severity.ERROR,
    look=look_for_verdict("GT106"),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(5):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(5):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
