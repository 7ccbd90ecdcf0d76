"""GT713: A sum, a container or an attribute that keeps the graph of every step alive."""

from __future__ import annotations

from collections.abc import Iterator

from ...request.limits import GRAPHS
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for found in evidence.growing:
        if found.stay.steps >= options["steps"]:
            numbers = {"steps": found.stay.steps}
            yield Hit(found.path, found.message, found.loc, (), (found.amount,), found.advice, numbers=numbers)


_MODEL = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
total = 0
for step in range(6):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    total = total + {added}
print(float(total) / 6)
"""

RULE = Rule(
    code="GT713",
    name="graph-grows",
    summary="A sum, a container or an attribute that keeps the graph of every step alive.",
    why=(
        "A loss that is added up for the log, or put into a list, brings its graph with it. backward() frees what "
        "operators retained, but the nodes stay until memory is full. Only graphs count that are alive in later steps "
        "and that no later backward goes through. The same holds for an evaluation without no_grad that adds up its "
        "losses or collects its outputs."
    ),
    severity=Severity.WARNING,
    look=_look,
    options={"steps": (GRAPHS, "so many graphs of earlier steps, or of turns of an evaluation, must be alive")},
    wrong=_MODEL.format(added="loss"),
    right=_MODEL.format(added="loss.item()"),
)
