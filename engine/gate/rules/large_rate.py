"""GT716: A learning rate whose first steps throw the parameters away."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ...answers.over_time.history import HistoryPoint, TrainingStep, Update
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule

_FIRST = 3
"""Steps that are looked at: what is thrown away later has other causes, too."""


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    for step in evidence.run.history.steps[:_FIRST]:
        rated = [u for u in step.updates if u.rate is not None and u.rate >= options["rate"]]
        if rated and _is_thrown_away(step, options["times"]):
            yield _hit(step, rated[0])
            return


def _hit(step: TrainingStep, update: Update) -> Hit:
    moved = {t.name: p for t, p in step.points.items() if p.update is not None and p.weight is not None}
    whole = HistoryPoint.joined(list(moved.values()))
    times = "" if whole.ratio is None else f" by {whole.ratio:.3g} times their norm"
    first, *others = moved
    message = f"step {step.number} of {update.by} moves {len(moved)} parameters{times}"
    said = f"the learning rate is {update.rate:g}, and the gradients are of norm {whole.gradient.norm:.3g}"
    advice = "a smaller learning rate: 0.001 for Adam and its like, 0.01 to 0.1 for SGD"
    numbers = {"step": step.number, "rate": update.rate or 0.0, "norm": whole.gradient.norm}
    numbers |= {} if whole.ratio is None else {"ratio": whole.ratio}
    places = [("the step", update.loc)] if update.made else []
    where = update.made or update.loc
    return Hit(first, message, where, tuple(others), (said,), advice, places=places, numbers=numbers)


def _is_thrown_away(step: TrainingStep, times: float) -> bool:
    """Return whether an update moves parameters by so many times their norm, and no gradient is the reason."""
    moved = [p for p in step.points.values() if p.update is not None and p.weight]
    if not moved:
        return False
    whole = HistoryPoint.joined(moved)
    assert whole.weight is not None
    assert whole.update is not None
    size = whole.gradient.norm
    is_ordinary = not whole.gradient.nonfinite and math.isfinite(size) and size <= times * whole.weight
    return is_ordinary and not whole.update <= times * whole.weight


_MODEL = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
opt = paddle.optimizer.SGD({rate}, parameters=net.parameters())
for step in range(3):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
"""

RULE = Rule(
    code="GT716",
    name="large-rate",
    summary="A learning rate whose first steps throw the parameters away.",
    why=(
        "After a step of a thousand times their norm nothing is left of the values that the parameters began with: "
        "what follows is infinite, dead or saturated, wherever it shows."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={
        "rate": (10.0, "smaller learning rates are not looked at"),
        "times": (100.0, "a step may move the parameters by so many times their norm"),
    },
    explains=True,
    wrong=_MODEL.format(rate="1e6"),
    right=_MODEL.format(rate="0.1"),
)
