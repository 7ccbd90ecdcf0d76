"""GT717: A schedule of the learning rate that is not stepped, stepped at the wrong time, or leaves no rate."""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable, Iterator, Sequence

from ...answers.training.schedules import ScheduleCourse
from ...core import source
from ...core.source import Location
from ...core.wording import count
from ...questions.first_steps import NamedFact
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    if evidence.incomplete:
        return  # what was not stepped yet may be later
    courses = evidence.first_steps.schedules
    for named in courses:
        course = named.seen
        if course.optimizer and len(course.rates) >= options["steps"]:
            others = [other.seen for other in courses if other is not named and other.names == named.names]
            told = next((told for judge in _JUDGES if (told := judge(course, others, options))), None)
            if told is not None:
                yield _hit(named, *told)


def _hit(named: NamedFact[ScheduleCourse], message: str, said: Sequence[str], advice: str, severity: Severity) -> Hit:
    course, names = named.seen, named.names
    places = [("the optimizer's steps", course.update), *[("the schedule's steps", line) for line in course.lines[:1]]]
    explanation = [*said, f"the steps of {course.optimizer}: {source.short(course.update)}"]
    explanation += [f"the steps of the schedule: {source.short(line)}" for line in course.lines[:1]]
    numbers = {"updates": float(len(course.rates)), "steps": float(len(course.steps))}
    numbers |= {} if course.length is None else {"length": float(course.length)}
    numbers |= {"first": course.rates[0], "last": course.rates[-1]}
    return Hit(
        names[0] if names else "",
        message,
        course.loc,
        names[1:],
        tuple(explanation),
        advice,
        severity=severity,
        places=places,
        numbers=numbers,
    )


Told = tuple[str, Sequence[str], str, Severity]
"""Message, explanation, advice and severity."""


def _judge_unstepped(course: ScheduleCourse, others: Sequence[ScheduleCourse], options: Options) -> Told | None:
    """Of a schedule that no step of the optimizer comes after a step of."""
    late = [n for n in course.steps if n < len(course.rates)]
    if late or any(other.steps for other in others):
        return None
    updates = count(len(course.rates), "step")
    said = (f"the learning rate is {course.rates[-1]:g} in each of the {updates} of {course.optimizer}",)
    if course.steps and course.passes > 1:
        message = f"{course.by} is stepped only after the last of {course.passes} passes over the data"
        return message, said, "call its step() within the loop over the epochs", Severity.WARNING
    if course.steps or not _is_users_loop(course) or _is_step_written(course.loc):
        return None
    advice = "call its step() after the optimizer's: at the end of each epoch, or after each batch if it counts batches"
    return f"{course.by} is never stepped", said, advice, Severity.WARNING


def _is_users_loop(course: ScheduleCourse) -> bool:
    """Return whether the user's own line steps the optimizer: a trainer steps the schedule by its own rules."""
    text = _line(course.update)
    return "step" in text or "minimize" in text


def _is_step_written(loc: Location) -> bool:
    """Return whether the file steps a schedule of that name somewhere: this run was too short for it."""
    found = re.match(r"\s*(?:self\.)?(\w+)\s*=", _line(loc))
    if not loc or found is None:
        return False
    text = "".join(linecache.getlines(loc[0][0].co_filename))
    return re.search(rf"\b{re.escape(found[1])}\.step\(", text) is not None


def _line(loc: Location) -> str:
    return linecache.getline(loc[0][0].co_filename, loc[0][1]) if loc else ""


def _judge_zero(course: ScheduleCourse, others: Sequence[ScheduleCourse], options: Options) -> Told | None:
    """Of a schedule that leaves a rate of 0 from the first step to the last."""
    if any(course.rates) or not course.steps:
        return None
    message = f"{course.by} sets the learning rate to 0 in all {len(course.rates)} steps of {course.optimizer}"
    return message, (), _FACTOR, Severity.ERROR


def _judge_order(course: ScheduleCourse, others: Sequence[ScheduleCourse], options: Options) -> Told | None:
    """Of a schedule that is stepped before the optimizer."""
    first = [n for n in course.steps if n == 0]
    is_steady = len(course.lines) == 1 and len(first) == 1 and 1 < len(course.steps) <= len(course.rates)
    if not is_steady or course.is_jumped or course.left_out or "Plateau" in course.by:
        return None
    begins, used = course.begins, course.rates[0]
    skipped = f"no step is made at its first rate, {begins:g}" if begins is not None else "its first rate is skipped"
    message = f"{course.by} is stepped before {course.optimizer}: {skipped}"
    said = (f"the first step is made at {used:g}; every change comes a step too early",)
    return message, said, "call the optimizer's step() first, and then the schedule's", Severity.WARNING


def _judge_length(course: ScheduleCourse, others: Sequence[ScheduleCourse], options: Options) -> Told | None:
    """Of a schedule that is stepped far more often than it is long, or far less often."""
    length, steps, updates = course.length, len(course.steps), len(course.rates)
    if length is None or length < 2 or course.is_jumped or steps < 2:
        return None
    if steps >= options["times"] * length:
        return _judge_too_short(course, length)
    if steps <= length / 2 and abs(updates - length) <= max(1.0, _ROUGHLY * length):
        message = f"{course.by} is made for {length} steps and is stepped {steps} times, once an epoch"
        rates = f"the learning rate goes from {course.rates[0]:g} to {course.rates[-1]:g}, and no further"
        said = (f"{course.optimizer} makes {updates} steps; {rates}",)
        advice = "step it after each batch, or make it for as many steps as there are epochs"
        return message, said, advice, Severity.WARNING
    return None


def _judge_too_short(course: ScheduleCourse, length: int) -> Told | None:
    """Of a schedule that is over long before the training is, and goes up again or leaves a small rate."""
    rates, steps = course.course, len(course.steps)
    if not rates or max(rates) <= 0:
        return None
    highest, low = max(rates[: length + 1]), min(rates[length - 1 : length + 2])
    after = max(rates[length:], default=0.0)
    rises = low < _LOW * highest and after > _RISEN * highest
    is_per_update = steps >= _NEARLY * len(course.rates)
    is_per_epoch = is_per_update and course.passes > 1 and length <= course.passes and rates[-1] < rates[0]
    if not rises and not is_per_epoch:
        return None
    message = f"{course.by} is made for {length} steps and is stepped {steps} times"
    if rises:
        said = [f"the learning rate reaches {low:.3g} after {length} steps and then rises again, to {after:.3g}"]
    else:
        said = [f"the learning rate falls from {rates[0]:g} to {rates[-1]:g} within the first {length + 1} steps"]
    if is_per_epoch:
        said.append(f"the data is gone through {course.passes} times, and the schedule is stepped after each batch")
        advice = "step it once an epoch, or make it for as many steps as there are batches in all"
    else:
        advice = "make it for as many steps as are made, or step it less often"
    return message, said, advice, Severity.WARNING


def _judge_vanishing(course: ScheduleCourse, others: Sequence[ScheduleCourse], options: Options) -> Told | None:
    """Of a schedule that leaves nearly no rate for a large part of the training."""
    rates = course.rates
    first = rates.index(max(rates))
    highest = rates[first]
    if course.base is not None and first == 0 and 0 < highest <= course.base * options["part"] * _ABOVE:
        message = f"{course.by} leaves nearly no learning rate for {len(rates)} steps of {course.optimizer}"
        said = f"the optimizer is made with {course.base:g}, and its steps use {highest:.3g} at most"
        return message, (said,), _FACTOR, Severity.ERROR
    bound = highest * options["part"] * _ABOVE
    small = [i for i, rate in enumerate(rates) if rate <= bound and i > first]
    if len(course.steps) < 2 or len(small) * 2 < len(rates) or small[-1] != len(rates) - 1:
        return None
    message = f"{course.by} leaves nearly no learning rate for {len(small)} of {len(rates)} steps of {course.optimizer}"
    fall = f"it falls from {highest:g} to {rates[small[0]]:.3g} by step {small[0] + 1}"
    said = f"{fall}, and to {rates[-1]:.3g} at the end"
    return message, (said,), "a slower schedule, or a step() once an epoch where it counts epochs", Severity.ERROR


_FACTOR = "a schedule that gives a rate above 0; a function of LambdaLR returns what the rate is multiplied by"
_NEARLY = 0.9
"""A schedule that is stepped after so many of the optimizer's steps is stepped after each of them."""
_ROUGHLY = 0.1
"""By how much the steps of a schedule may differ from those of the optimizer that it was made for."""
_LOW, _RISEN = 0.1, 0.5
"""A rate that falls below the one part of its highest, and rises above the other, swings."""
_ABOVE = 1 + 1e-6
"""What rounding may add to a rate."""

_JUDGES: tuple[Callable[[ScheduleCourse, Sequence[ScheduleCourse], Options], Told | None], ...] = (
    *(_judge_zero, _judge_unstepped, _judge_vanishing, _judge_length, _judge_order),
)

_MODEL = """\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1)
rate = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=20)
opt = paddle.optimizer.SGD(rate, parameters=net.parameters())
for step in range(20):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad(){stepped}
"""

RULE = Rule(
    code="GT717",
    name="schedule-misused",
    summary="A schedule of the learning rate that is not stepped, stepped at the wrong time, or leaves no rate.",
    why=(
        "A schedule without step() does not change the rate. One that counts epochs and is stepped after each batch is "
        "over before the first epoch is. One that counts batches and is stepped once an epoch hardly begins. The steps "
        "of both, and the rates that the optimizer used, decide."
    ),
    severity=Severity.WARNING,
    look=_look,
    options={
        "steps": (2, "so many steps must have been made"),
        "times": (2.0, "a schedule may be stepped so many times as often as it is long"),
        "part": (1e-3, "a rate below so much of the highest is nearly none"),
    },
    wrong=_MODEL.format(stepped=""),
    right=_MODEL.format(stepped="\n    rate.step()"),
)
