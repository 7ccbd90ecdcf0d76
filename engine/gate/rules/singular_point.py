"""GT209: An operator that becomes NaN or infinite at a point that its operand can reach."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT209",
    name="singular-point",
    summary="An operator that becomes NaN or infinite at a point that its operand can reach.",
    why=(
        "log(softmax(x)) is right until a probability becomes 0. Hours later one step turns every parameter into NaN. "
        "The first pass shows it already: the operator and what made its operand decide. Nothing is found if an "
        "epsilon, a clip or a function that stays above 0 keeps the operand away."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.SINGULAR),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
p = F.softmax(net(paddle.rand([8, 4])))
loss = -paddle.log(p[:, 0]).mean()
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
loss = -F.log_softmax(net(paddle.rand([8, 4])))[:, 0].mean()
loss.backward()
""",
)
