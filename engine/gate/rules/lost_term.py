"""GT111: A term of the loss that depends on trained parameters and gives them no gradient."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.why.folding import fold_names
from ...answers.why.terms import LostTerm
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, loss_note


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for loss, verdicts in evidence.losses if evidence.has_passed else ():
        yield from (_hit(term, loss) for term in verdicts.terms)


def _hit(term: LostTerm, loss: str) -> Hit:
    message = f"the term {term.name} of the loss gives no gradient: {term.verdict.text}"
    message += f", {term.operator}" if term.operator else ""
    said = f"it is computed from {fold_names(term.parameters)}, and to the training it is a constant"
    numbers = {"parameters": len(term.parameters)}
    return Hit(term.name, message, term.location, (), (said, *loss_note(loss)), numbers=numbers)


_MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(3):
    out = net(paddle.rand([8, 4]))
    fit = F.mse_loss(out, paddle.ones([8, 1]))
    penalty = (net.weight**2).sum()
    loss = fit + {penalty}
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

RULE = Rule(
    code="GT111",
    name="lost-term",
    summary="A term of the loss that depends on trained parameters and gives them no gradient.",
    why=(
        "The term was detached, computed under no_grad, or turned into a number. It moves the value of the loss and no "
        "parameter. Every parameter still gets a gradient from the other terms."
    ),
    severity=Severity.WARNING,
    look=_look,
    explains=True,
    wrong=_MODEL.format(penalty="0.01 * penalty.detach()"),
    right=_MODEL.format(penalty="0.01 * penalty"),
)
