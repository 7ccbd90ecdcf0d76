"""GT606: A reshape that stands where two axes are to change places."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

_MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Mixer(paddle.nn.Layer):
    def __init__(self, steps, width):
        super().__init__()
        self.along = paddle.nn.Linear(steps, steps)
        self.head = paddle.nn.Linear(width, 1)

    def forward(self, x):
        b, t, c = x.shape
        mixed = self.along(F.gelu(self.head.weight[:, 0] * x).{swap})
        return self.head(mixed.transpose([0, 2, 1]).mean(1))


net = Mixer(6, 4)
loss = F.mse_loss(net(paddle.rand([8, 6, 4])), paddle.ones([8, 1]))
loss.backward()
"""

RULE = Rule(
    code="GT606",
    name="swapped-axes",
    summary="A reshape whose result has the sizes of its operand in another order, as a transpose would give it.",
    why=(
        "The shapes fit, and the model trains. But a reshape keeps the order of the elements: what was a channel of "
        "one step is now a step of another channel, and layers that follow see a mixture. Rows that were padded to be "
        "shifted, and steps that are joined for a layer, are left alone."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.SWAPPED),
    wrong=_MODEL.format(swap="reshape([b, c, t])"),
    right=_MODEL.format(swap="transpose([0, 2, 1])"),
)
