"""GT702: Steps of an optimizer that change nothing, an optimizer without any, or a frozen parameter that changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ...answers.over_time.history import TrainingStep, Update
from ...answers.training.updates import FrozenInVain, Idle, SpentOptimizer, Unstepped
from ...answers.why.verdicts import BY_STRUCTURE
from ...core import source
from ...core.source import NOWHERE
from ...core.vocabulary import say
from ...core.wording import count
from ...questions.first_steps import NamedFact
from ..evidence import Evidence
from ..finding import Severity
from ..rule import Hit, Options, Rule


def _look(evidence: Evidence, options: Options) -> Iterator[Hit]:
    hits = [*_idle(evidence, options)]
    yield from hits or _judge_clips(evidence.run.history.steps)


def _judge_clips(steps: Sequence[TrainingStep]) -> Iterator[Hit]:
    """Clipping in every step that leaves nothing of the gradients; a bias that begins at 0 still moves by it."""
    updates, names = [u for step in steps for u in step.updates], _list_names(steps)
    if not updates or not names or any(u.clipped is None or u.clipped > _TINY for u in updates):
        return
    last = updates[-1]
    message = f"the clip of {last.by} leaves {last.clipped:.3g} of the gradients' norm in every step"
    yield Hit(
        names[0],
        message,
        last.made or last.loc,
        names[1:],
        (f"the steps: {source.short(last.loc)}",),
        _WIDER,
        places=[("the steps", last.loc)],
        numbers={"steps": len(steps), "clipped": last.clipped or 0.0},
    )


def _list_names(steps: Sequence[TrainingStep]) -> tuple[str, ...]:
    """Return the names of all parameters that got a gradient in some step."""
    return tuple(dict.fromkeys(track.name for step in steps for track in step.points))


def _idle(evidence: Evidence, options: Options) -> Iterator[Hit]:
    first = evidence.first_steps
    explained = any(a.finding for a in evidence.verdicts)  # why there is nothing to go by is said there
    rounding = {name for a in evidence.verdicts if a.label == BY_STRUCTURE for name in (a.name, *a.also)}
    for held in first.idle:
        idle, names = held.seen, held.names
        pushed = [n for n, steps in zip(names, idle.pushed, strict=True) if steps and n not in rounding]
        if idle.steps < options["steps"] and not _is_certain(idle, len(names), bool(pushed)):
            continue
        if len(names) < idle.held:
            yield from _find_idle(held, rounding, options)
            continue
        if rounding.issuperset(names) or (explained and not pushed):
            continue
        why = f"{len(pushed)} of them have a gradient" if pushed else "none of them has a gradient then"
        message = f"{_count_steps(idle.steps, idle.by)} none of the {len(names)} parameters that it holds"
        said: tuple[str, ...] = (f"{why}; the learning rate is {idle.rate:g}" if idle.rate is not None else why,)
        hook = NOWHERE if pushed else idle.hook
        steps, numbers = [("the steps", idle.loc)], {**_numbers(idle), "parameters": len(names), "pushed": len(pushed)}
        if hook:
            message = f"a hook leaves {idle.by} nothing: {message}"
            yield Hit(
                names[0],
                message,
                hook,
                names[1:],
                (f"the steps: {source.short(idle.loc)}",),
                _RETURN,
                places=steps,
                numbers=numbers,
            )
            continue
        is_rate = bool(idle.made) and idle.rate is not None and abs(idle.rate) < _TINY
        if is_rate:
            said = (*said, f"the steps: {source.short(idle.loc)}")
        yield Hit(
            names[0],
            message,
            idle.made if is_rate else idle.loc,
            names[1:],
            said,
            _RAISE if is_rate else _BETWEEN,
            places=steps if is_rate else [],
            numbers=numbers,
        )
    if not evidence.incomplete:
        yield from _find_unstepped(first.unstepped, options)
    yield from _find_spent(first.spent, options)
    yield from map(_judge_label, first.in_vain)
    if evidence.verdicts.about.mode == "static":  # what tensors are updated by is told above
        yield from _judge_program(evidence.run.history.steps, options)
    for name, loc in first.thawed:
        yield Hit(name, f"{name} is frozen, an optimizer holds it, and this line changes it", loc)


_RAISE = "give the optimizer a learning rate above 0"
_BETWEEN = "call it between backward and the clearing; a rate far below the digits of a parameter is none"
_WIDER = "a clip that lets gradients through, around 1 for the norm of all of them"
_RETURN = "return the gradient from the hook, or remove the hook"


_TINY = 1e-9
"""A rate below it is the reason itself: no gradient of ordinary size moves a float32 parameter by it."""


def _judge_label(named: NamedFact[FrozenInVain]) -> Hit:
    """An attribute of a layer that was to freeze its parameters, and freezes none."""
    label, names = named.seen, named.names
    message = f"{label.text} freezes nothing: a layer has no such attribute, and its parameters stay trainable"
    setting = say("{stops}").replace("=", " = ")
    advice = f"set it on each parameter: for p in layer.parameters(): p.{setting}"
    return Hit(names[0], message, label.loc, names[1:], advice=advice, severity=Severity.WARNING)


def _count_steps(steps: int, by: str) -> str:
    """``1 step of SGD changes``, ``4 steps of SGD change``."""
    return f"1 step of {by} changes" if steps == 1 else f"{steps} steps of {by} change"


def _is_certain(idle: Idle, still: int, pushed: bool) -> bool:
    """Return whether a single step shows it: all that is held stays, and no scheduler has yet to raise the rate."""
    return still >= idle.held and (pushed or bool(idle.hook)) and _is_final(idle)


def _judge_program(steps: Sequence[TrainingStep], options: Options) -> Iterator[Hit]:
    """Updates by operators of a program that leave all parameters as they are, although they have gradients."""
    last = _find_last_update(steps)
    if last is None or last.rate is None or not _stands_still(steps):
        return
    if not _is_final(last) and len(steps) < options["steps"]:
        return
    names, is_rate = _list_names(steps), abs(last.rate) < _TINY
    yield Hit(
        names[0],
        f"{_count_steps(len(steps), last.by)} none of the {len(names)} parameters",
        last.made if is_rate else last.loc,
        names[1:],
        (f"the learning rate is {last.rate:g}", f"the steps: {source.short(last.loc)}"),
        _RAISE if is_rate else _BETWEEN,
        places=[("the steps", last.loc)],
        numbers={"steps": len(steps), "rate": last.rate, "parameters": len(names)},
    )


def _is_final(steps: Idle | Update) -> bool:
    """Return whether a single step shows what steps at this rate do: one that a scheduler sets may still rise."""
    rate = steps.rate
    return steps.fixed and rate is not None and (rate == 0 or rate > _ORDINARY)


def _stands_still(steps: Sequence[TrainingStep]) -> bool:
    """Return whether no parameter moves, although one has a gradient, and all gradients are finite."""
    points = [point for step in steps for point in step.points.values()]
    # Without a gradient nothing is to move, and other rules say why there is none.
    is_pushed = any(point.gradient.norm > 0 for point in points)
    return is_pushed and all(point.update == 0 and not point.gradient.nonfinite for point in points)


def _find_last_update(steps: Sequence[TrainingStep]) -> Update | None:
    """Return the last update, where all are of one optimizer and it is known where that was made."""
    updates = [u for step in steps for u in step.updates]
    is_one = len({(u.by, u.made, u.fixed) for u in updates}) == 1
    return updates[-1] if is_one and updates[-1].made else None


_ORDINARY = 1e-6
"""A single step at a smaller rate may change nothing because of rounding."""


def _numbers(idle: Idle) -> dict[str, float]:
    """Return the steps of an optimizer and its rate."""
    return {"steps": idle.steps} | ({} if idle.rate is None else {"rate": idle.rate})


def _find_idle(held: NamedFact[Idle], rounding: Collection[str], options: Options) -> Iterator[Hit]:
    """Yield the parameters that an optimizer does not change although it has gradients, while it changes others.

    Args:
        rounding: the parameters whose gradients are 0 but for rounding, whatever the weights are.
    """
    idle = held.seen
    moving = zip(held.names, idle.pushed, strict=True)
    still = [n for n, steps in moving if steps >= options["steps"] and n not in rounding]
    if still:
        rate = "" if idle.rate is None else f"the learning rate is {idle.rate:g}; "
        numbers = {**_numbers(idle), "parameters": len(still), "held": idle.held}
        yield Hit(
            still[0],
            f"{idle.steps} steps of {idle.by} leave {len(still)} of its {idle.held} parameters as they are",
            idle.loc,
            tuple(still[1:]),
            (f"{rate}they have gradients that are not zero, and no update reaches the digits of their values",),
            "a larger learning rate, a clip that lets more through, or parameters in float32 rather than float16",
            numbers=numbers,
        )


def _find_unstepped(optimizers: Iterable[NamedFact[Unstepped]], options: Options) -> Iterator[Hit]:
    """Optimizers that make no step in the whole file, whether or not somebody clears the gradients."""
    for named in optimizers:
        optimizer, names = named.seen, named.names
        held = f"the optimizer of {len(names)} parameters makes no step, and "
        if optimizer.cleared >= min(options["steps"], optimizer.passes) > 0:
            what = f"their gradients are cleared after {count(optimizer.cleared, 'pass')}"
            said = "nothing reads these gradients before they are gone"
        elif not optimizer.cleared and optimizer.passes > options["steps"]:
            what = f"{optimizer.passes} passes add to their gradients"
            said = "nothing reads these gradients: where steps are made every so many batches, there are never as many"
        else:
            continue
        advice = "call its step() after backward and before the gradients are cleared"
        numbers = {"passes": optimizer.passes, "cleared": optimizer.cleared, "parameters": len(names)}
        yield Hit(names[0], held + what, optimizer.loc, names[1:], (said,), advice, numbers=numbers)


_PART = 5
"""A rate that falls to 0 at the end of a training is meant; of less than a fifth of the steps nothing is said."""


def _find_spent(optimizers: Iterable[NamedFact[SpentOptimizer]], options: Options) -> Iterator[Hit]:
    """Optimizers whose learning rate became 0 well before the file stopped training."""
    for named in optimizers:
        optimizer, names = named.seen, named.names
        if optimizer.last >= options["steps"] and optimizer.last * _PART >= optimizer.steps:
            yield Hit(
                names[0],
                f"the last {optimizer.last} of {optimizer.steps} steps of {optimizer.by} change nothing: "
                "the learning rate is 0",
                optimizer.loc,
                names[1:],
                (f"it is 0 from step {optimizer.steps - optimizer.last + 1} on",),
                "a scheduler that lasts as long as the training (step() is called once a batch, or once an epoch), "
                "or an end_lr above 0",
                numbers={"steps": optimizer.steps, "last": optimizer.last},
            )


RULE = Rule(
    code="GT702",
    name="updates-change-nothing",
    summary="Steps of an optimizer that change nothing, an optimizer without any, or a frozen parameter that changes.",
    why=(
        "A step between clear_grad and backward has no gradients: the loop runs, and nothing learns. A frozen "
        "parameter that is changed by hand is no longer what was loaded."
    ),
    severity=Severity.ERROR,
    look=_look,
    options={"steps": (2, "so many steps must have changed nothing")},
    wrong="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1, bias_attr=False)
opt = paddle.optimizer.SGD(1e-12, parameters=net.parameters())  # float32 has eight digits
for step in range(4):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
    right="""\
import paddle

paddle.seed(0)
net = paddle.nn.Linear(4, 1, bias_attr=False)
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for step in range(4):
    loss = (net(paddle.rand([8, 4])) - 1).square().mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
)
