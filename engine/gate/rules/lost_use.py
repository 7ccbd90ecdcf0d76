"""GT112: A use of a value that gives no gradient back, next to uses that do."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.why.lost_uses import LostUse
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, loss_note


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for loss, verdicts in evidence.losses:
        yield from (_hit(use, loss) for use in verdicts.uses)


def _hit(use: LostUse, loss: str) -> Hit:
    several = "uses" if use.lost > 1 else "use"
    share = f"{use.lost} of {use.uses} uses" if use.uses else f"one {several}"
    message = f"{share} of {use.name} gives no gradient back: {use.verdict.text}"
    said = ("its gradient comes from the other uses alone", *loss_note(loss))
    return Hit("", message, use.location, (), said, numbers={"lost": use.lost, "uses": use.uses})


_MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net, gate, head = paddle.nn.Linear(4, 8), paddle.nn.Linear(8, 8), paddle.nn.Linear(8, 1)
h = paddle.tanh(net(paddle.rand([8, 4])))
mixed = h + F.sigmoid(gate({use}))
loss = F.mse_loss(head(mixed), paddle.ones([8, 1]))
loss.backward()
"""

RULE = Rule(
    code="GT112",
    name="lost-use",
    summary="A use of a value that gives no gradient back, next to uses that do.",
    why=(
        "A branch reads a copy that was detached, computed under no_grad, or taken through NumPy. Every parameter "
        "still gets a gradient, and a part of it is missing. Often it is meant, so it is a note."
    ),
    severity=Severity.NOTE,
    look=_look,
    wrong=_MODEL.format(use="h.detach()"),
    right=_MODEL.format(use="h"),
)
