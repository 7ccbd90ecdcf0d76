"""GT718: An evaluation by a network that is still in training mode."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ...core.source import Location
from ...core.wording import count
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for named in evidence.first_steps.validations:
        seen, names = named.seen, named.names
        kind = "batch norm" if "norm" in seen.operator else "dropout"
        blocks = count(seen.blocks, "evaluation")
        what = "takes the statistics of the batch, and moves those that are kept" if kind == "batch norm" else "drops"
        yield Hit(
            names[0],
            f"{blocks} after {count(seen.updates, 'step')} of {seen.by} in training mode: {kind} {what}",
            seen.loc,
            names[1:],
            (*_place(seen.made, seen.loc), "only numbers are taken from its results"),
            _ADVICE,
            places=[("the first layer that works as in training", seen.made)],
            numbers={"evaluations": seen.blocks, "updates": seen.updates},
        )


def _place(made: Location, call: Location) -> tuple[str, ...]:
    """Return a sentence with the line of the first such layer, where it is not the line of the call."""
    first = source.short(made)
    return () if first == source.short(call) else (f"the first layer of that kind is called at {first}",)


_ADVICE = (
    "call eval() before the evaluation, and train() before training goes on; if the masks are drawn on purpose, "
    "switch only the dropout layers to training"
)

_MODEL = """\
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
    opt.clear_grad(){switched}
    with paddle.no_grad():
        held_out = F.cross_entropy(net(paddle.rand([8, 4])), y).item()
"""

RULE = Rule(
    code="GT718",
    name="validates-in-training",
    summary="An evaluation by a network that is still in training mode.",
    why=(
        "no_grad() only switches gradients off. Dropout goes on dropping, and batch norm learns from the data that was "
        "held out. The score is that of another network than the one that is used later. No finding are layers that "
        "were switched to training on purpose, results that go into a loss, and data that was trained on."
    ),
    severity=Severity.WARNING,
    look=_look,
    wrong=_MODEL.format(switched=""),
    right=_MODEL.format(switched="\n    net.eval()"),
)
