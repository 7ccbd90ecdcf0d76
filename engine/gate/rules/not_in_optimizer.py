"""GT701: A parameter that gets a gradient and that no optimizer holds."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT701",
    name="not-in-optimizer",
    summary="A parameter that gets a gradient and that no optimizer holds.",
    why=(
        "It was made, or replaced another, after the optimizer was made; or no group of the optimizer has it. Its "
        "gradient is computed in every step and never used."
    ),
    severity=Severity.ERROR,
    look=look_for_verdict("GT701"),
    wrong="""\
import paddle

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 10))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
net.add_sublayer("1", paddle.nn.Linear(8, 1))  # a head for another task, which the optimizer never hears of
for step in range(3):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
    right="""\
import paddle

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 10))
net.add_sublayer("1", paddle.nn.Linear(8, 1))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
