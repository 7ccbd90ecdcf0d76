"""GT716: A learning rate that throws the parameters away, in the first steps or a little more with each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

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
    yield from _judge_growth(evidence.run.history.steps, options)


def _judge_growth(steps: Sequence[TrainingStep], options: Options) -> Iterator[Hit]:
    """A loss that grows from step to step, each larger than the parameters, until it is no number any more."""
    growing, ended = _find_growing(steps, options["growth"])
    ratios = [ratio for ratio in map(_measure, growing) if ratio is not None]
    update = next((u for step in growing for u in step.updates if u.rate and not u.hand), None)
    if update is not None and _is_by_rate(ratios, update.rate or 0.0) and max(ratios) >= options["moved"]:
        yield _hit_of_growth(growing, update, ratios, ended)


def _find_growing(steps: Sequence[TrainingStep], times: float) -> tuple[Sequence[TrainingStep], bool]:
    """Return the steps in which the loss grows to the end, or until it is infinite, and whether that is so."""
    finite = list(itertools.takewhile(_is_finite, steps))
    losses = [step.loss for step in finite]
    grown, ended = _find_growth(losses, times), len(finite) < len(steps)
    has_diverged = grown is not None and (ended or grown > times**2)
    return (finite[_find_start(losses) :] if has_diverged else [], ended)


def _hit_of_growth(growing: Sequence[TrainingStep], update: Update, ratios: Sequence[float], ended: bool) -> Hit:
    first, last, rate = growing[0], growing[-1], update.rate or 0.0
    until = ", and is no finite number in the next" if ended else ""
    growth = f"the loss grows from {first.loss:.3g} to {last.loss:.3g} within {len(growing)} steps of {update.by}"
    moved = f"a step moves the parameters by {ratios[0]:.3g} times their norm at first, by {max(ratios):.3g} at most"
    names = [t.name for t, p in first.points.items() if p.update is not None] or [""]
    return Hit(
        names[0],
        f"{growth}{until}: the learning rate is too large",
        update.made or update.loc,
        tuple(names[1:]),
        (f"the learning rate is {rate:g}; {moved}",),
        f"begin with a hundredth of the rate, {rate / 100:g}; where {_CLIP}",
        places=[("the step", update.loc)] if update.made else [],
        numbers={"rate": rate, "first": first.loss or 0.0, "last": last.loss or 0.0, "ratio": max(ratios)},
    )


def _is_by_rate(ratios: Sequence[float], rate: float) -> bool:
    """Return whether it is the rate that makes steps large, and gradients are of the size of their parameters."""
    return len(ratios) >= _RISING and ratios[0] <= _STEEP * rate


_STEEP = 1000
"""Gradients that begin larger beside their parameters are the cause, and no rate: a loss is scaled, say."""

_CLIP = "gradients grow in a recurrent network, clip their norm"
_RISING = 2
"""Steps in which a loss must have grown, at least: one may be chance."""


def _measure(step: TrainingStep) -> float | None:
    """By how many times their norm a step moves the parameters."""
    moved = [p for p in step.points.values() if p.update is not None and p.weight]
    return HistoryPoint.join(moved).ratio if moved else None


def _is_finite(step: TrainingStep) -> bool:
    gradients = (p.gradient for p in step.points.values())
    return step.loss is not None and math.isfinite(step.loss) and not any(g.nonfinite for g in gradients)


def _find_start(losses: Sequence[float | None]) -> int:
    """Return where the losses begin to grow that grow to the end."""
    numbers = [abs(loss or 0.0) for loss in losses]
    start = len(numbers) - 1
    while start > 0 and numbers[start - 1] < numbers[start]:
        start -= 1
    return start


def _find_growth(losses: Sequence[float | None], times: float) -> float | None:
    """Return by how many times losses have grown at the end; None where it is less than *times*."""
    start = _find_start(losses)
    if len(losses) - start < _RISING + 1:
        return None
    first, last = abs(losses[start] or 0.0), abs(losses[-1] or 0.0)
    growth = last / first if first > 0 else math.inf
    return growth if growth >= times else None


def _hit(step: TrainingStep, update: Update) -> Hit:
    moved = {t.name: p for t, p in step.points.items() if p.update is not None and p.weight is not None}
    whole = HistoryPoint.join(list(moved.values()))
    times = "" if whole.ratio is None else f" by {whole.ratio:.3g} times their norm"
    first, *others = moved
    message = f"step {step.number} of {update.by} moves {len(moved)} parameters{times}"
    said = f"the learning rate is {update.rate:g}, and the gradients are of norm {whole.gradient.norm:.3g}"
    advice = "use a smaller learning rate: 0.001 for Adam, 0.01 to 0.1 for SGD"
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
    whole = HistoryPoint.join(moved)
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
    summary="A learning rate that throws the parameters away, in the first steps or a little more with each.",
    why=(
        "A step of many times their norm leaves nothing of the values that the parameters began with. What follows is "
        "infinite, dead or saturated, wherever it shows."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={
        "rate": (10.0, "smaller learning rates are not looked at"),
        "times": (100.0, "a step may move the parameters by so many times their norm"),
        "growth": (1e3, "a loss that grows by so many times before it is infinite has diverged"),
        "moved": (0.5, "the largest of these steps moves the parameters by so many times their norm"),
    },
    explains=True,
    wrong=_MODEL.format(rate="1e6"),
    right=_MODEL.format(rate="0.1"),
)
