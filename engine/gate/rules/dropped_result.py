"""GT113: A statement that computes something from what the loss reads, and drops the result."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.why.dropped_results import DroppedResult
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, loss_note


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for loss, verdicts in evidence.losses if evidence.has_passed else ():
        yield from (_hit(dropped, loss) for dropped in verdicts.dropped)


def _hit(dropped: DroppedResult, loss: str) -> Hit:
    message = f"the result of {dropped.operator} is dropped: the statement gives it no name, and nothing reads it"
    said = (f"the loss is computed from {dropped.name} as it was before", *loss_note(loss))
    return Hit("", message, dropped.location, (), said, "assign the result, or remove the call")


_MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)


class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body, self.head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 1)

    def forward(self, x):
        h = self.body(x)
        {name}F.relu(h)
        return self.head(h)


net = Net()
loss = F.mse_loss(net(paddle.rand([8, 4])), paddle.ones([8, 1]))
loss.backward()
"""

RULE = Rule(
    code="GT113",
    name="dropped-result",
    summary="A statement that computes something from what the loss reads, and drops the result.",
    why=(
        "Operators return new tensors and do not change their inputs. A line `F.relu(h)` alone changes nothing: the "
        "next line reads h without the relu. Every parameter still gets a gradient."
    ),
    severity=Severity.WARNING,
    look=_look,
    explains=True,
    wrong=_MODEL.format(name=""),
    right=_MODEL.format(name="h = "),
)
