"""Profile of the time and the bytes of forward and backward: per operator, type, layer or line, over several
repeats.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import field, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from ..core import source, state, watch
from ..core.identity import identity
from ..core.progress import count
from ..core.records import dataclass
from ..core.result import Result
from ..core.source import Location
from ..core.spec import in_use
from ..core.summary import Timed, Took
from ..core.vocabulary import title
from ..eager.parameter import parameters_at
from ..eager.pass_start import Start
from ..eager.tape import GradNode
from ..eager.tensor import Leaf, Tensor
from ..executor.live import nbytes
from ..ir.operator import Operator
from ..ir.variable import Variable
from ..ops import rare_types
from ..ops.compat import grad_type
from ..runs.repeating import REFUSED, describe, reason_of
from ..runs.timeline import Entry
from ..view import from_program, from_tape
from ..view.graph import BACKWARD, FORWARD
from . import backend_replay
from .events import ALL, Adapter, Begin, BlockRun, End, Inside, OpEvent, part_of
from .program_run import watch_program
from .tape_pass import watch_tape


@dataclass
class Cost:
    """The cost of an operator.

    Attributes:
        seconds: of each repeat, the kernel or the gradient rule alone.
        nbytes: what it wrote.
        layer: the layer whose parameter it reads, as far as that is known.
        inside: of a static program, the branches and loops that it stands in, with the iteration.
        run: what that is called.
    """

    name: str
    type: str
    part: str
    loc: Location
    origin: Any
    nbytes: int
    seconds: list[float] = field(default_factory=list)
    layer: str = ""
    inside: Inside = ()
    run: str = ""

    @property
    def line(self) -> str:
        return source.short(self.loc)


@dataclass
class OperatorGroup:
    """Operators together.

    Attributes:
        calls: how many operators.
        seconds: of each repeat.
        parts: ``forward`` and ``backward`` -> the sum of the medians of its operators there. Those of the groups of a
            story add up to those of all of it, as medians of sums do not.
    """

    name: str
    calls: int
    nbytes: int
    seconds: list[float]
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> float:
        """The distance between the fastest and the slowest repeat."""
        return max(self.seconds) - min(self.seconds)


_UNKNOWN = "(unknown)"


BESIDE = "beside"
"""The part of what belongs to no operator: on a device, copies, and when nothing ran."""


def _run(c: Cost) -> str:
    return " · ".join(f"{op.type} {source.short(op.loc) or _UNKNOWN}{_number(number)}" for op, number in c.inside)


def _number(iteration: int) -> str:
    return "" if iteration == ALL else f" #{iteration + 1}"


KEYS: dict[str, Callable[[Cost], str]] = {
    "op": lambda c: c.name,
    "type": lambda c: title(c.type),
    "layer": lambda c: c.layer or "(no layer)",
    "line": lambda c: c.line or _UNKNOWN,
    "part": lambda c: c.part,
    "iteration": lambda c: f"{c.part} {c.run or _run(c)}" if c.inside else f"{c.part} (outside)",
}
"""What costs can be added up by."""


@dataclass
class DeviceTime:
    """Source of the time of what a backend computes as a whole: where it was computed, by its own profiler.

    What several operators became there is one computation: each operator has a share of its time, by the elements that
    it computes, which is an estimate.

    Attributes:
        device: where that was, ``cpu:0``.
        elapsed: seconds of each repeat, from its beginning to its end: less than the sum of what ran at the same time.
        shared: seconds of each repeat that operators have shares of.
    """

    device: str
    elapsed: list[float] = field(default_factory=list)
    shared: list[float] = field(default_factory=list)


@dataclass
class ProfileStory(Result):
    """The cost of the operators of a run.

    Attributes:
        costs: in the order of the run. An operator that was measured once only has one entry in ``seconds``.
        device: how that was measured; None where it was the kernels, one by one.
        unrepeated: what cannot be repeated: the time that it took in the run stands for all repeats.
    """

    costs: list[Cost]
    device: DeviceTime | None = None
    unrepeated: list[str] = field(default_factory=list)

    @property
    def repeats(self) -> int:
        """Return how often each operator was measured, at most."""
        return max((len(c.seconds) for c in self.costs), default=0)

    def group_by(self, key: str) -> list[OperatorGroup]:
        """The costs added up by op, type, layer, line, part or iteration, the slowest first."""
        groups: dict[str, list[Cost]] = {}
        for c in self.costs:
            groups.setdefault(c.name if c.part == BESIDE else KEYS[key](c), []).append(c)
        costly = [_group(name, costs) for name, costs in groups.items()]
        return sorted(costly, key=lambda g: (-g.median, g.name))

    @property
    def total(self) -> OperatorGroup:
        return _group("total", self.costs)

    def stacks(self) -> dict[tuple[str, ...], int]:
        """Stack -> nanoseconds, from the outside in: part, layer, then line and type of every operator around."""
        layers = {c.origin: KEYS["layer"](c) for c in self.costs if not c.inside}
        seconds_of: dict[tuple[str, ...], float] = {}
        for c in self.costs:
            outermost = layers.get(c.inside[0].op, KEYS["layer"](c)) if c.inside else KEYS["layer"](c)
            around = [x for op, _ in c.inside for x in (source.short(op.loc) or _UNKNOWN, op.type)]
            own = [c.layer] if c.inside and c.layer not in ("", outermost) else []
            stack = (c.part, outermost, *around, *own, KEYS["line"](c), c.type)
            seconds_of[stack] = seconds_of.get(stack, 0.0) + statistics.median(c.seconds)
        return {stack: round(1e9 * seconds) for stack, seconds in seconds_of.items()}

    def flame(self) -> str:
        """The costs as folded stacks, a line each: ``backward;fc1;model.py:7;mul_grad 120``, in nanoseconds.

        Programs that draw flame graphs read that (flamegraph.pl, inferno, speedscope).
        """
        return "".join(
            f"{';'.join(x.replace(';', ',') for x in stack)} {nanoseconds}\n"
            for stack, nanoseconds in self.stacks().items()
        )

    def speedscope(self, name: str = "gradtool stats --time") -> dict[str, Any]:
        """The costs in the file format of speedscope, as JSON values."""
        stacks = self.stacks()
        frames: dict[str, int] = {}
        samples = [[frames.setdefault(x, len(frames)) for x in stack] for stack in stacks]
        weights = [*stacks.values()]
        return {
            "$schema": "https://www.speedscope.app/file-format-schema.json",
            "name": name,
            "exporter": "gradtool",
            "activeProfileIndex": 0,
            "shared": {"frames": [{"name": x} for x in frames]},
            "profiles": [
                {
                    "type": "sampled",
                    "name": name,
                    "unit": "nanoseconds",
                    "startValue": 0,
                    "endValue": sum(weights),
                    "samples": samples,
                    "weights": weights,
                }
            ],
        }

    def __str__(self) -> str:
        return "\n".join(
            f"{g.name}: {1e6 * g.median:.1f} ± {1e6 * g.spread / 2:.1f} µs, {g.nbytes} bytes"
            for g in self.group_by("type")
        )


def _group(name: str, costs: Sequence[Cost]) -> OperatorGroup:
    repeats = max((len(c.seconds) for c in costs), default=1)
    measured = [c for c in costs if c.seconds]
    # An operator measured less often counts in each repeat with its median.
    columns = [c.seconds if len(c.seconds) == repeats else [statistics.median(c.seconds)] * repeats for c in measured]
    seconds = [sum(column[i] for column in columns) for i in range(repeats)]
    parts: dict[str, float] = {}
    for c in measured:
        parts[c.part] = parts.get(c.part, 0.0) + statistics.median(c.seconds)
    return OperatorGroup(
        name, len([c for c in costs if c.part != BESIDE]), sum(c.nbytes for c in costs), seconds, parts
    )


class Clock:
    """Listens to runs and adds up what they took; a run that repeats the operators of the one before is a repeat.

    Call :meth:`again` before each repeat. Operators of programs are known again wherever they stand, those of dynamic
    mode by their order.

    Args:
        before: what was measured already.
    """

    summary_needs = Timed()

    def __init__(self, before: Sequence[Cost] = ()) -> None:
        self._costs = list(before)
        self._known: dict[tuple[Any, Inside], Cost] = {}
        self._device: DeviceTime | None = None
        self._unrepeated: list[str] = []
        self._at: list[Cost] = []
        self._index = -1

    def again(self, part: str | None = None) -> None:
        """Take note that a repeat begins: of all that came before, or of the operators of one *part*."""
        self._known = {(c.origin, c.inside): c for c in self._costs}
        self._at = [c for c in self._costs if part is None or c.part == part]
        self._index = 0

    def __call__(self, event: OpEvent | Begin | End) -> None:
        if not isinstance(event, OpEvent) or (event.nested and not event.inside):
            return
        before = self._earlier_cost(event)
        if before is not None:
            before.seconds.append(event.seconds)
            return
        size = sum(nbytes(v.array) for v in event.outputs if v.array is not None)
        cost = Cost(event.type, event.type, event.part, event.loc, event.origin, size, [event.seconds])
        cost.inside = event.inside
        self._costs.append(cost)

    def took(self, event: Took) -> None:
        """Hear of a run of a whole program on a device."""
        self._device = self._device or DeviceTime(event.device)
        self._device.elapsed.append(event.elapsed)
        self._device.shared.append(event.shared)
        spent: dict[Any, Cost] = {}
        for op, around, seconds, size, rounds in event.operators:
            numbers = rounds or (None,) * len(around)
            inside = tuple([BlockRun(o, ALL if n is None else n) for o, n in zip(around, numbers, strict=True)])
            name, part, origin = _describe_entry(op) if isinstance(op, Entry) else (op.type, part_of(op), op)
            cost = spent.setdefault((origin, inside), Cost(name, name, part, op.loc, origin, 0, [0.0], inside=inside))
            cost.seconds[0] += seconds
            cost.nbytes += size
        for cost in spent.values():
            self._add(cost)
        for name, seconds in event.beside.items():
            self._add(Cost(name, name, BESIDE, source.NOWHERE, name, 0, [seconds]))

    def _add(self, cost: Cost) -> None:
        before = self._known.get((cost.origin, cost.inside))
        if before is None:
            self._costs.append(cost)
        else:
            before.seconds += cost.seconds

    def _earlier_cost(self, event: OpEvent) -> Cost | None:
        """Return what the operator took in earlier repeats."""
        if isinstance(event.origin, Operator):
            return self._known.get((event.origin, event.inside))
        if 0 <= self._index < len(self._at) and self._at[self._index].type == event.type:
            self._index += 1
            return self._at[self._index - 1]
        return None

    def note_unrepeated(self, call: watch.Computed, error: Exception) -> None:
        """Hear of a call that cannot be repeated: the time that it took in the run stands for all repeats."""
        text = describe(call.op.type, call.loc, reason_of(error))
        if text not in self._unrepeated:
            self._unrepeated.append(text)

    def story(self) -> ProfileStory:
        return ProfileStory(self._costs, self._device, self._unrepeated)


def _describe_entry(entry: Entry) -> tuple[str, str, Any]:
    """Type, part and origin of an operator of a recorded run, as events tell them."""
    if entry.part == BACKWARD:
        return grad_type(entry.type), BACKWARD, entry.origin
    return entry.type, FORWARD, entry.origin.key


class Calls:
    """Watches a run of dynamic mode and keeps what the operators of its last forward pass were called with.

    Whose forward pass cannot be run again, since it is part of a file that did, has its operators called again.
    """

    def __init__(self) -> None:
        self._before: list[watch.Computed] = []
        self._now: list[watch.Computed] = []
        self._in_pass = False

    def __call__(self, event: Any) -> None:
        if isinstance(event, watch.Computed):
            if not self._in_pass:
                self._now.append(event)
        elif isinstance(event, watch.Began):
            self._in_pass = True
        elif isinstance(event, watch.Ended):
            self._in_pass = False
            self._before, self._now = self._now, []

    def measure(self, nodes: Sequence[GradNode], clock: Clock, repeats: int) -> None:
        """Measure the operators from the first of *nodes* to the last one, after a call that is not measured.

        That includes what is not recorded: in the forward function of a PyLayer, and beside the loss.
        """
        keys = [n.key for n in nodes]
        first, last = min(keys, default=0), max(keys, default=-1)
        listen = Adapter(clock)
        calls = [c for c in (*self._before, *self._now) if first <= c.key <= last]
        kernels = [(c, _computation(c)) for c in calls]
        once: set[int] = set()
        random, state.random = state.random, state.RandomState(0)
        try:
            with watch.pause_watchers(), np.errstate(all="ignore"), _framework_context(calls):
                for n in count("repeats of the forward pass", range(repeats + 1)):
                    if n > 1:
                        clock.again(FORWARD)
                    for call, kernel in kernels:
                        seconds = self._repeat(call, kernel, clock, once)
                        if n:
                            listen(replace(call, seconds=seconds))
        finally:
            state.random = random

    def _repeat(self, call: watch.Computed, kernel: Callable[[], Any], clock: Clock, once: set[int]) -> float:
        """Return the time that a call takes once more; the one that it took where it cannot be repeated.

        Args:
            once: gets the calls that refused.
        """
        if call.op.has_effect or identity(call) in once:
            return call.seconds
        try:
            # The clock starts here: to prepare a call is no part of its time.
            start = perf_counter()
            kernel()
            return perf_counter() - start
        except REFUSED as error:
            once.add(identity(call))
            clock.note_unrepeated(call, error)
            return call.seconds


def _framework_context(calls: Sequence[watch.Computed]) -> AbstractContextManager[None]:
    """Return the context in which a framework computes its calls again; one of them says which."""
    contexts = (getattr(call.again, "aside", None) for call in calls)
    context: Callable[[], AbstractContextManager[None]] = next((c for c in contexts if c is not None), nullcontext)
    return context()


def _computation(call: watch.Computed) -> Callable[[], Any]:
    """Return what computes a call once more: in the framework that computed it, where that is there."""
    prepare = getattr(call.again, "prepare", None)
    if prepare is not None:
        with suppress(*REFUSED):
            prepared: Callable[[], Any] | None = prepare(call.inputs)
            if prepared is not None:
                return prepared
    kernel = call.backend.bind(call.op, call.attrs)
    kernel = rare_types.watch_kernel(call.op, call.attrs, kernel) if in_use else kernel
    return partial(kernel, *call.inputs)


def add_layers(costs: Sequence[Cost], nodes: Sequence[GradNode], names: Mapping[Leaf, str] | None = None) -> None:
    """Fill in the layer of every operator: the one whose parameter it reads, or the one that it stands in.

    Args:
        nodes: the recorded calls of dynamic mode, oldest first.
        names: what leaves are called; by default the paths of parameters in their models.
    """
    leaves = {p for n in nodes for p in n.wrt if isinstance(p, Leaf)}
    paths = {leaf: p.layer_path or leaf.name for leaf, p in parameters_at(leaves).items()}
    paths.update(names or {})
    of_tape = from_tape.layers_of(nodes, lambda leaf: paths.get(leaf, leaf.name))
    by_key = {n.key: layer for n, layer in zip(nodes, of_tape, strict=True)}
    _add_layers_of_program([c for c in costs if isinstance(c.origin, Operator)])
    for c in costs:
        if not isinstance(c.origin, Operator):
            c.layer = by_key.get(c.origin.key if isinstance(c.origin, GradNode) else c.origin, "")


def _add_layers_of_program(costs: Sequence[Cost]) -> None:
    """Fill in the layer of the operators of a program; a gradient operator has that of its forward operator."""
    forward = dict.fromkeys(c.origin for c in costs if c.part == FORWARD)
    layers = from_program.layers_of([*forward], _name_parameter)
    for c in costs:
        c.layer = layers.get(c.origin.origin or c.origin) or from_program.layer_of(c.origin, _name_parameter)


def _name_parameter(variable: Variable) -> str:
    """Return what a parameter is called, by its place in its model where it has one."""
    return (from_program.path_of(variable) or variable.name) if variable.is_parameter else ""


def profile_tape(loss: Tensor | Start, clock: Clock, repeats: int) -> None:
    """Measure the backward pass of a recorded loss, after one that is not measured."""
    watch_tape(loss, lambda event: None)
    for i in count("repeats of the backward pass", range(repeats)):
        if i:
            clock.again(BACKWARD)
        watch_tape(loss, clock)


def profile_recorded(start: Start, clock: Clock, repeats: int) -> bool:
    """Measure what was recorded, forward and backward, where the backend in use compiles; whether it does.

    It becomes one program there; its first run is not measured.
    """
    if backend_replay.noting_now() is None:
        return False
    with backend_replay.hear(None) as telling:
        assert isinstance(telling, backend_replay.Retelling)
        number = telling.number(start.loss.array)
        if telling.holds(number):
            _time_pass(telling, number, clock, repeats)
            return True
        telling.defer(_time_pass)(telling, number, clock, repeats)
        start.begin().run()
    return True


def _time_pass(telling: backend_replay.Retelling, loss: int | None, clock: Clock, repeats: int) -> None:
    """Measure the pass that is over, from the loss of that number."""
    told = telling.took(loss, repeats + 1)
    next(told, None)
    for n, event in zip(count("repeats", range(repeats)), told, strict=False):
        if n:
            clock.again()
        clock.took(event)


def profile_program(
    loss: Variable, clock: Clock, repeats: int, run: Callable[[Sequence[Variable]], Any] | None, feed: Any = None
) -> None:
    """Measure a static program, forward and backward, after a run that is not measured."""
    watch_program(loss, Clock(), feed, run=run)
    for i in count("repeats", range(repeats)):
        if i:
            clock.again()
        watch_program(loss, clock, feed, run=run)
