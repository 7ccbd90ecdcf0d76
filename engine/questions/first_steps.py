"""First steps of a training: the first loss, what updates change, whether a
batch can be learned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np

from ..answers.events import Adapter
from ..answers.training.first_loss import FirstLoss, FirstLossSeen
from ..answers.training.frozen_statistics import FrozenStatistics, MovingLayer
from ..answers.training.leftover_gradients import Mixed, Mixing
from ..answers.training.modes import Evaluated, Modes
from ..answers.training.one_batch import OneBatch, Own, learn
from ..answers.training.scaled_gradients import Scalings, StillScaled
from ..answers.training.schedules import ScheduleCourse, Schedules
from ..answers.training.unread_gradients import ClearedUnread, Unread, Vain
from ..answers.training.updates import FrozenInVain, Idle, SpentOptimizer, Unstepped, Updates
from ..answers.training.validations import Validation, Validations
from ..core import source, watch
from ..core.command_errors import CommandError
from ..core.errors import GradtoolError
from ..core.identity import identity
from ..core.listeners import handles
from ..core.notes import SILENT, Notes
from ..core.records import dataclass
from ..core.source import Location
from ..loading import loader, opening
from ..request.options import Debug
from ..request.request import Request
from ..runs.recorder import Recorder
from ..script.script_state import Loaded

Seen = TypeVar(
    "Seen",
    Idle,
    Unstepped,
    FrozenInVain,
    SpentOptimizer,
    StillScaled,
    Mixed,
    ClearedUnread,
    Vain,
    ScheduleCourse,
    Validation,
)


@dataclass(frozen=True, slots=True)
class NamedFact(Generic[Seen]):
    """Something that was seen, with the names of the parameters that it is about in place of these.

    Attributes:
        seen: it, without its tensors.
        names: what people call them, in their order.
    """

    seen: Seen
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Moving:
    """A frozen network whose running statistics move.

    Attributes:
        network: what people call it.
        layers: its layers that normalise with the statistics of the batch.
        calls: how many calls of the first of them moved its statistics.
        steps: how many steps these are of.
        loc: the line of the first call.
    """

    network: str
    layers: tuple[str, ...]
    calls: int
    steps: int
    loc: Location


@dataclass(frozen=True, slots=True)
class FirstSteps:
    """Observations of the first steps.

    Attributes:
        loss: the first loss of classes, if there was one.
        idle: optimizers whose steps left something as it was.
        unstepped: optimizers that made no step.
        in_vain: attributes of layers that froze none of their parameters, which are trained.
        spent: optimizers whose learning rate became 0.
        thawed: frozen parameters that an optimizer holds and that the file changed: name and line.
        evaluated: optimizers with steps that were taken in evaluation mode after others in training mode.
        scaled: what uses gradients that are still multiplied by the scale of the loss.
        mixed: steps that go by what another loss has left.
        cleared: backward calls whose gradients are cleared before anything goes by them.
        vain: clips of what no step goes by.
        moving: frozen networks whose running statistics move.
        schedules: schedules of learning rates.
        validations: evaluations by networks that work as in training.
    """

    loss: FirstLoss | None
    idle: tuple[NamedFact[Idle], ...]
    unstepped: tuple[NamedFact[Unstepped], ...]
    in_vain: tuple[NamedFact[FrozenInVain], ...]
    spent: tuple[NamedFact[SpentOptimizer], ...]
    thawed: tuple[tuple[str, Location], ...]
    evaluated: tuple[Evaluated, ...]
    scaled: tuple[NamedFact[StillScaled], ...]
    mixed: tuple[NamedFact[Mixed], ...]
    cleared: tuple[NamedFact[ClearedUnread], ...]
    vain: tuple[NamedFact[Vain], ...]
    moving: tuple[Moving, ...]
    schedules: tuple[NamedFact[ScheduleCourse], ...]
    validations: tuple[NamedFact[Validation], ...]


def first_steps(request: Request, notes: Notes = SILENT) -> FirstSteps:
    """Watch the first steps of a file.

    Raises:
        CommandError: there is no such model.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    with watch_first_steps() as told, loader.run_model(request, notes) as left, watch.pause_watchers():
        return told(left, request)


@contextmanager
def watch_first_steps() -> Iterator[Callable[[Loaded, Request], FirstSteps]]:
    """Watch the first steps of the file that runs inside; yield the function that answers while its model is open.

    It answers once: the watchers hold tensors of the file, which are released with the answer.
    """
    seen, updates, modes, scalings = FirstLossSeen(), Updates(), Modes(), Scalings()
    mixing, unread, statistics, schedules = Mixing(), Unread(), FrozenStatistics(), Schedules()
    validations = Validations()

    def answer(left: Loaded, request: Request) -> FirstSteps:
        model = opening.model_in(left, request)
        # A program has its variables by their names instead, and no tensor of it is watched here.
        tensors = {t: n for t, n in getattr(model, "tensor_names", {}).items() if not isinstance(t, str)}
        names = {identity(t): n for t, n in tensors.items()}

        def name(tensor: Any) -> str:
            return names.get(identity(tensor)) or str(tensor.name)

        def those(found: Iterable[Seen]) -> tuple[NamedFact[Seen], ...]:
            return tuple(NamedFact(replace(f, tensors=()), tuple(map(name, f.tensors))) for f in found)

        steps = FirstSteps(
            seen.found,
            those(i for i in updates.idle.values() if len(i.tensors) == i.held or any(i.pushed)),
            those(o for o in updates.unstepped.values() if o.passes),
            those(f for f in updates.labelled if f.tensors and not any(t.stop_gradient for t in f.tensors)),
            those(o for o in updates.spent.values() if 0 < o.last < o.steps),
            tuple((name(t), loc) for t, loc in updates.thawed.values()),
            tuple(modes.found.values()),
            those(scalings.found.values()),
            those(mixing.found.values()),
            those(unread.find_cleared),
            those(unread.vain),
            tuple(_find_moving_statistics(statistics, tensors, name)),
            those(schedules.found.values()),
            those(validations.find_measured()),
        )
        for watcher in (seen, updates, modes, scalings, mixing, unread, statistics, schedules, validations):
            vars(watcher).clear()
        return steps

    with (
        watch.watch(Adapter(seen), updates),
        watch.watch(modes.step, modes),
        watch.watch(None, scalings),
        watch.watch(None, mixing),
        watch.watch(unread.step, unread),
        watch.watch(statistics.step, statistics),
        watch.watch(None, schedules),
        watch.watch(validations.step, validations),
    ):
        yield answer


def _find_moving_statistics(
    statistics: FrozenStatistics, tensors: Mapping[Any, str], named: Callable[[Any], str]
) -> Iterator[Moving]:
    """The frozen networks whose statistics move, each with its layers.

    A network is the outermost in which nothing is trained; of one that gradients go through, all that is behind its
    name must be frozen.
    """
    trained = {path for t, name in tensors.items() if statistics.is_trained(t) for path in _owners(name)}
    networks: dict[str, list[tuple[str, MovingLayer]]] = {}
    for layer in statistics.find:
        scale = layer.scale()
        name = named(layer.mean() if scale is None else scale)
        owners = _owners(name) or [name]
        if layer.passes_on and owners[0] in trained:
            continue
        network = next((path for path in owners if path not in trained), owners[-1])
        networks.setdefault(network, []).append((owners[-1], layer))
    for network, layers in networks.items():
        _, first = layers[0]
        yield Moving(network, tuple(name for name, _ in layers), first.calls, first.steps, first.loc)


def _owners(name: str) -> list[str]:
    """Return the owners of a tensor, the outermost first: ``net`` and ``net.body`` of ``net.body.weight``."""
    parts = name.split(".")
    return [".".join(parts[:i]) for i in range(1, len(parts))]


def one_batch(
    request: Request, steps: int, part: float, feed: str | None, notes: Notes = SILENT
) -> OneBatch | str | None:
    """Try to learn the batch of the first pass; a text says why that could not be tried.

    Raises: as :func:`first_steps` does.
    """
    recorder, first = Recorder(which=1), _FirstStep()
    with (
        recorder.record(),
        watch.watch(None, first),
        loader.run_model(request, notes) as left,
        watch.pause_watchers(),
    ):
        model = opening.model_in(left, request)
        try:
            run, _ = type(model).timeline(left, request, recorder, Debug(feed=feed), SILENT)
            return learn(run, steps, part, first.own)
        except (CommandError, GradtoolError) as error:
            return error.message


class _FirstStep:
    """Hears of the first step of an optimizer.

    Attributes:
        own: what is known of it.
    """

    def __init__(self) -> None:
        self.own = Own()
        self._clipped = False

    @handles(watch.Updating, watch.Clipped)
    def __call__(self, event: Any) -> None:
        """Hear of an event; nothing is spared."""
        if self.own.rate is None and isinstance(event, watch.Updating):
            self.own = Own(event.by, event.rate, loc=source.here())
        elif isinstance(event, watch.Clipped) and not self._clipped:
            self._clipped = True
            norms = (_norm(event.pairs), _norm(event.clipped))
            self.own = replace(self.own, raw=norms[0], limit=norms[1])


def _norm(pairs: Sequence[tuple[Any, Any]]) -> float:
    """The norm of gradients together."""
    arrays = (np.asarray(getattr(g.array, "array", g.array), np.float64) for _, g in pairs if g is not None)
    return math.sqrt(sum(float((a * a).sum()) for a in arrays))
