"""GT708: A loss that takes scores and gets probabilities, or one that takes logarithms and gets something else."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

RULE = Rule(
    code="GT708",
    name="probabilities-as-scores",
    summary="A loss that takes scores and gets probabilities, or one that takes logarithms and gets something else.",
    why=(
        "cross_entropy computes softmax itself. From probabilities it makes nearly equal ones: the loss stays far "
        "above 0, and gradients are small. nll_loss of anything but logarithms falls without end. Nothing raises, and "
        "the model learns slowly, or not at all."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.SQUASHED),
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 3), paddle.nn.Softmax())
loss = F.cross_entropy(net(paddle.rand([8, 4])), paddle.randint(0, 3, [8]))
loss.backward()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 3)
loss = F.cross_entropy(net(paddle.rand([8, 4])), paddle.randint(0, 3, [8]))
loss.backward()
""",
)
