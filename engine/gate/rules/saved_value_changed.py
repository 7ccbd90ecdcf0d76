"""GT305: A value that backward reads and that was written after an operator kept it."""

from __future__ import annotations

from ...answers.flow.fact import FactKind
from ..finding import Severity
from ..rule import Rule, look_for_facts

_MODEL = """\
import numpy as np
import paddle

paddle.seed(0)
net = paddle.nn.Linear(3, 2)
x = paddle.rand([4, 3])
y = paddle.tanh(net(x))
loss = y.square().sum()
{order}
"""

RULE = Rule(
    code="GT305",
    name="saved-value-changed",
    summary="A value that backward reads and that was written after an operator kept it.",
    why=(
        "Frameworks count writes, and refuse backward if a tensor that it needs was written in place. They do not see "
        "writes through .data, or through a NumPy array that shares the memory. Backward then reads other numbers than "
        "forward did, and the gradients are those of no function."
    ),
    severity=Severity.WARNING,
    look=look_for_facts(FactKind.CHANGED),
    wrong=_MODEL.format(order="np.from_dlpack(y.detach())[0] = 0.5\nloss.backward()"),
    right=_MODEL.format(order="loss.backward()\nnp.from_dlpack(y.detach())[0] = 0.5"),
)
