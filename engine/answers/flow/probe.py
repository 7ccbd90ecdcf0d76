"""A function of tensors that is computed as often as somebody asks, each time with the same random numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...core import source
from ...core.source import NOWHERE, Location
from ...eager.tensor import Tensor
from ...runs import of_tape
from ...runs.recorder import Recorder
from ...runs.timeline import Timeline
from .spread import Array, Spread

SLACK = 1e-5
"""Differences below this part of the largest output are rounding."""


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor among the arguments.

    Attributes:
        name: of the parameter of the function, with the way into it: ``x``, ``states[0]``.
    """

    name: str
    array: Array


@dataclass(frozen=True, slots=True)
class Recording:
    """One call, written down.

    Attributes:
        inputs: the numbers of the inputs' values; None for one that no operator reads.
        outputs: the numbers of the outputs' values.
    """

    timeline: Timeline
    inputs: list[int | None]
    outputs: list[int]

    def spread(self, changes: Mapping[int, Array]) -> Spread:
        """What changes of some inputs, by their position, change on the way to the outputs."""
        by_number = {n: array for i, array in changes.items() if (n := self.inputs[i]) is not None}
        return Spread(self.timeline, by_number, self.outputs)


@dataclass
class Probe:
    """A function.

    Attributes:
        name: what people call it.
        function: takes tensors, one for each input, and gives tensors, the outputs.
        inputs: what it was called with.
        loc: where it was called.
        fixed_batch: whether something in it says which axis holds the samples, by its definition.
        seeded: inside, random numbers begin anew from the seed that it is given.
        jittered: inside, the parameters are slightly others.
    """

    name: str
    function: Callable[[Sequence[Tensor]], list[Tensor]]
    inputs: list[Input]
    seeded: Callable[[int], AbstractContextManager[None]]
    jittered: Callable[[], AbstractContextManager[None]]
    loc: Location = NOWHERE
    fixed_batch: bool = False
    runs: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.outputs = self.run()

    def run(self, changes: Mapping[int, Array] | None = None, seed: int = 0) -> list[Array]:
        """The outputs, with some of the inputs changed."""
        tensors = [Tensor(x.array.copy()) for x in self._with(changes)]
        with self.seeded(seed):
            self.runs += 1
            return [np.array(t.array) for t in self.function(tensors)]

    @cached_property
    def recording(self) -> Recording:
        """One call with the inputs as they are, written down when somebody asks for it."""
        return self.record()

    def record(self, seed: int = 0) -> Recording:
        """One call with the inputs as they are, written down."""
        tensors = [Tensor(x.array.copy()) for x in self.inputs]
        recorder = Recorder()
        with self.seeded(seed), source.full_stacks(True), recorder.recording():
            outputs = self.function(tensors)
        named = {t: x.name for t, x in zip(tensors, self.inputs, strict=True)}
        inputs = [recorder.known(t.array) for t in tensors]
        numbers = [recorder.number_of(t.array) for t in outputs]
        run = of_tape.timeline(recorder, title=self.name, named=named)
        for entry in run.entries:
            entry.loc = entry.loc or self.loc  # of a layer that is none of the user's
        return Recording(run, inputs, numbers)

    def slopes(self, index: int, rng: np.random.Generator) -> Array | None:
        """One vector-Jacobian product with random cotangents: what it gives for an input; None where none arrives."""
        from ...eager.backward import Pass

        tensors = [Tensor(x.array.copy()) for x in self.inputs]
        tensors[index].stop_gradient = False
        with self.seeded(0):
            outputs = [t for t in self.function(tensors) if not t.stop_gradient]
        if not outputs:
            return None
        work = Pass(retain_graph=False, fill=False)
        for t in outputs:
            work.seed(t, Tensor(rng.standard_normal(t.shape).astype(t.array.dtype)))
        work.run()
        gradient = work.leaves.get(tensors[index].leaf)
        return None if gradient is None else np.asarray(getattr(gradient, "array", gradient))

    def differences(self, changes: Mapping[int, Array], seed: int = 0) -> list[Array]:
        """For each output which elements are others, by more than rounding, where some inputs are."""
        return self.compared(self.run(changes, seed))

    def compared(self, others: Sequence[Array]) -> list[Array]:
        """For each output which elements of *others* differ from it by more than rounding."""
        return [_beyond_rounding(a, b) for a, b in zip(self.outputs, others, strict=False)]

    def _with(self, changes: Mapping[int, Array] | None) -> Iterator[Input]:
        for i, x in enumerate(self.inputs):
            yield Input(x.name, changes[i]) if changes and i in changes else x


def _beyond_rounding(before: Array, after: Array) -> Array:
    if before.shape != after.shape:
        return np.ones(before.shape, bool)
    if before.dtype.kind not in "fc":
        return np.asarray(before != after)
    finite = np.abs(before[np.isfinite(before)])
    room = SLACK * float(finite.max(initial=0.0))
    with np.errstate(invalid="ignore"):
        same = (before == after) | (np.abs(before - after) <= room) | ((before != before) & (after != after))
    return np.asarray(~same)


def any_differs(masks: Iterable[Array]) -> bool:
    """Whether an element of any of them is true."""
    return any(m.any() for m in masks)
