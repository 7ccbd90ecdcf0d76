"""GT707: Steps of an optimizer in evaluation mode, after others in training mode."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for found in evidence.first_steps.evaluated:
        yield Hit(
            "",
            f"{found.steps} of {found.before + found.steps} steps of {found.by} are taken in evaluation mode",
            found.switched,
            (),
            (
                f"before them are {found.before} in which dropout or batch norm worked as in training",
                f"the first step without is {source.short(found.loc)}",
            ),
            "call train() after the evaluation, before the next step",
            places=[("the first step in evaluation mode", found.loc)],
            numbers={"steps": found.steps, "before": found.before},
        )


RULE = Rule(
    code="GT707",
    name="trains-in-evaluation",
    summary="Steps of an optimizer in evaluation mode, after others in training mode.",
    why=(
        "eval() before a validation holds until train() is called. From the second epoch on dropout drops nothing, and "
        "batch norm does not learn its statistics. If batch norm is frozen on purpose, only these layers are switched, "
        "and that is no finding."
    ),
    severity=Severity.WARNING,
    look=_look,
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Dropout(0.5), paddle.nn.Linear(8, 3))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.rand([8, 4]), paddle.randint(0, 3, [8])
for epoch in range(3):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.eval()  # and never train() again
    with paddle.no_grad():
        predicted = net(x).argmax(axis=1)
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.Dropout(0.5), paddle.nn.Linear(8, 3))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
x, y = paddle.rand([8, 4]), paddle.randint(0, 3, [8])
for epoch in range(3):
    net.train()
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    net.eval()
    with paddle.no_grad():
        predicted = net(x).argmax(axis=1)
""",
)
