"""GT710: Steps that also use what an earlier backward call of another loss has left in .grad."""

from __future__ import annotations

from collections.abc import Iterator

from ...core import source
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for named in evidence.first_steps.mixed:
        mixed, names = named.seen, named.names
        if mixed.times >= options["steps"]:
            yield Hit(
                names[0],
                f"{mixed.times} steps of {mixed.by} also go by what another backward call has left in .grad",
                mixed.loc,
                names[1:],
                (
                    f"meant are the gradients of {source.short(mixed.own)}, "
                    + ("right before the step" if mixed.always else "as in the first step"),
                    f"left are those of {source.short(mixed.left)}, from before a step of {mixed.other}",
                ),
                "clear the gradients of this optimizer right before its own backward call",
                places=[("the meant gradients", mixed.own), ("what another call has left", mixed.left)],
                numbers={"times": mixed.times},
            )


_MODEL = """\
import paddle
import paddle.nn.functional as F

paddle.seed(0)
g, d = paddle.nn.Linear(4, 2), paddle.nn.Linear(2, 1)
of_g = paddle.optimizer.Adam(1e-3, parameters=g.parameters())
of_d = paddle.optimizer.Adam(1e-3, parameters=d.parameters())
real, one, zero = paddle.rand([8, 2]), paddle.ones([8, 1]), paddle.zeros([8, 1])
for step in range(4):
    fake = g(paddle.rand([8, 4]))
    losses = [F.binary_cross_entropy_with_logits(d(x), y) for x, y in ((real, one), (fake.detach(), zero))]
    (losses[0] + losses[1]).backward()
    of_d.step()
    of_d.clear_grad()
    F.binary_cross_entropy_with_logits(d(fake), one).backward()  # also gives d a gradient
    of_g.step()
    of_g.clear_grad()
"""

RULE = Rule(
    code="GT710",
    name="left-over-gradients",
    summary="Steps that also use what an earlier backward call of another loss has left in .grad.",
    why=(
        "The loss of a GAN's generator gives its discriminator gradients, too. If they are not cleared before the "
        "discriminator's own loss, it also learns to be fooled."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={"steps": (2, "so many steps must go by what another call has left")},
    wrong=_MODEL,
    right=f"{_MODEL}    of_d.clear_grad()\n",
)
