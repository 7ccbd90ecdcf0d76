"""GT706: A loss that compares every prediction with every target, as their shapes differ by an axis of one."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT706",
    name="targets-broadcast",
    summary="A loss that compares every prediction with every target, as their shapes differ by an axis of one.",
    why=(
        "[N, 1] minus [N] is [N, N], and nothing warns. The loss falls until every prediction is the mean of the "
        "targets, and no further."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.SPREAD),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
x = paddle.rand([8, 4])
loss = F.mse_loss(net(x), x.sum(axis=1))  # [8, 1] and [8]
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
x = paddle.rand([8, 4])
loss = F.mse_loss(net(x).squeeze(-1), x.sum(axis=1))
loss.backward()
""",
)
