"""GT715: A change that began at one step of a training: a jump of gradients, zeros, updates that end."""

from __future__ import annotations

from collections.abc import Iterator

from ...answers.over_time.sentences import words
from ...answers.over_time.step_events import NOT_FINITE
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    training = evidence.own_training
    if training is None:
        return
    explained = {name for a in evidence.verdicts for name in (a.name, *a.also)}
    everyone = [t.name for t in training.parameters]
    for h in training.happenings:
        names = [t.name for t in h.tracks]
        born = h.kind == NOT_FINITE and evidence.births.story.births
        if h.wrong and not born and not explained.intersection(names):
            message = f"step {h.step}: {words(h, everyone, len(training.history.steps))}"
            yield Hit(names[0] if names else "", message, h.loc, tuple(names[1:]), numbers={"step": h.step})


_MODEL = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(3, 1)
opt = paddle.optimizer.SGD(0.001, parameters=net.parameters())
for step in range(8):
    x = paddle.rand([6, 3])
    loss = (net(x) - 1).square().mean()
{scaled}    loss.backward()
    opt.step()
    opt.clear_grad()
"""

RULE = Rule(
    code="GT715",
    name="at-a-step",
    summary="A change that began at one step of a training: a jump of gradients, zeros, updates that end.",
    why=(
        "Each pass by itself looks right, and the course of the numbers is not. Gradients are a hundred times those of "
        "the steps before, zero from a step on, added to those of an earlier step, or no longer used by an update."
    ),
    severity=Severity.WARNING,
    look=_look,
    wrong=_MODEL.format(scaled="    if step == 5:\n        loss = loss * 1e4  # a batch that is scaled otherwise\n"),
    right=_MODEL.format(scaled=""),
)
