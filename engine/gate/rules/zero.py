"""GT205: A gradient that is zero in every element, with no reason to be."""

from __future__ import annotations

from ..finding import Severity
from ..rule import Rule, look_for_verdict

RULE = Rule(
    code="GT205",
    name="zero-gradient",
    summary="A gradient that is zero in every element, with no reason to be.",
    why=(
        "Multiplied by 0, clipped out of range, cancelled or cleared before the step: the parameter does not move, and "
        "no error says so."
    ),
    severity=Severity.ERROR,
    look=look_for_verdict("GT205"),
    explains=True,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
weight = 0.0  # of a term that was to be switched on later
loss = weight * (net(paddle.rand([8, 4])) - 1).square().mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
weight = 0.5
loss = weight * (net(paddle.rand([8, 4])) - 1).square().mean()
loss.backward()
""",
)
