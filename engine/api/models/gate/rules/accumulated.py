"""GT106: Gradients that add up over backward calls, because nobody clears them."""

from __future__ import annotations

from collections.abc import Iterator

from gradtool.engine.answers.why.verdicts import Verdict
from gradtool.engine.core import source

from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule, by_verdict

_ACCUMULATED = by_verdict(Verdict.ACCUMULATED)


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    told = set()
    for hit in _ACCUMULATED(evidence, options):
        told |= {hit.subject, *hit.also}
        yield hit
    for mixed in evidence.first_steps.mixed:
        names = [n for n in mixed.names if n not in told]
        if names and mixed.times >= options["steps"]:
            yield Hit(
                names[0],
                f"{mixed.times} steps of {mixed.by} also go by what another backward call has left in .grad",
                mixed.loc,
                tuple(names[1:]),
                (
                    f"meant are the gradients of {source.short(mixed.own)}, as in the first step",
                    f"left are those of {source.short(mixed.left)}, from before a step of {mixed.other}",
                ),
                "call clear_grad() of this optimizer right before its own backward call",
            )


RULE = Rule(
    code="GT106",
    name="accumulated",
    summary="Gradients that add up over backward calls, because nobody clears them.",
    why=("Every step repeats all those before it, so that the rate grows with the number of steps."),
    severity=Severity.ERROR,
    look=_look,
    options={"steps": (2, "so many steps must go by what another backward call has left")},
    wrong="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(5):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
""",
    right="""\
import paddle
import paddle.nn.functional as F

paddle.seed(0)

net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(5):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
