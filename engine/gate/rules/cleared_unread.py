"""GT711: Gradients that are cleared before a step uses them, while steps use those of other passes."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for named in evidence.first_steps.cleared:
        cleared, names = named.seen, named.names
        if cleared.unread >= options["passes"]:
            passes = cleared.unread + cleared.read
            yield Hit(
                names[0],
                f"the gradients of {cleared.unread} of {passes} backward passes are cleared before a step goes by them",
                cleared.loc,
                names[1:],
                (f"the passes are those of {source.short(cleared.call)}; steps go by {cleared.read} of them",),
                "clear gradients right after each step, and not in every batch",
                places=[("the backward passes", cleared.call)],
                numbers={"unread": cleared.unread, "read": cleared.read},
            )


_MODEL = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for batch in range(8):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean() / 4
    loss.backward()
    if batch % 4 == 3:
        opt.step()
"""

RULE = Rule(
    code="GT711",
    name="cleared-unread",
    summary="Gradients that are cleared before a step uses them, while steps use those of other passes.",
    why=(
        "A loop that means to add up the gradients of four batches, and clears them in each, trains with every fourth "
        "batch. The loss still falls, so nobody notices."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={"passes": (2, "so many passes must be cleared unread")},
    wrong=f"{_MODEL}    opt.clear_grad()\n",
    right=f"{_MODEL}        opt.clear_grad()\n",
)
