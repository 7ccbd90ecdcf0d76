"""A function of tensors that is computed as often as somebody asks, each time with the same random numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...core import source
from ...core.errors import GradtoolError
from ...core.records import dataclass
from ...core.source import NOWHERE, Location
from ...eager.passes import Pass
from ...eager.tensor import Tensor
from ...runs import of_tape
from ...runs.recorder import Recorder
from ...runs.timeline import Timeline
from .change_propagation import Array, Spread

SLACK = 1e-5
"""Differences below this part of the largest output are rounding."""


@dataclass(frozen=True, slots=True)
class ProbeInput:
    """A tensor among the arguments.

    Attributes:
        name: of the parameter of the function, with the way into it: ``x``, ``states[0]``.
        written: whether the program has no name for it, and it holds one number everywhere, or whole ones: a buffer
            that it fills later, or the places of an index. That nothing depends on such a value is no fault.
        made_at: the user's line that made it, where it is known.
    """

    name: str
    array: Array
    written: bool = False
    made_at: Location = NOWHERE


@dataclass(frozen=True, slots=True)
class ProbedCall:
    """One call, written down.

    Attributes:
        inputs: the numbers of the inputs' values; None for one that no operator reads.
        outputs: the numbers of the outputs' values.
    """

    timeline: Timeline
    inputs: list[int | None]
    outputs: list[int]

    def spread(self, changes: Mapping[int, Array]) -> Spread:
        """Return what changes of some inputs, by their position, change on the way to the outputs."""
        by_number = {n: array for i, array in changes.items() if (n := self.inputs[i]) is not None}
        return Spread(self.timeline, by_number, self.outputs)


@dataclass
class Probe(ABC):
    """A function of tensors.

    Attributes:
        name: what people call it.
        inputs: what it was called with.
        loc: where it was called.
        fixed_batch: whether something in it says which axis holds the samples, by its definition.
        inside: of a recorded run, the numbers of values that layers compute which are asked themselves.
        kept: of a recorded run, the values that the file reads for something else than its outputs.
        modeless: whether what it computes would be the same in evaluation mode, as nothing tells it of a mode.
        loss_inside: why it may be no prediction alone, so that samples may well meet in it; or empty.
        line_of: gives the line of the file that made an array which was there before the call.
    """

    name: str
    inputs: list[ProbeInput]
    loc: Location = field(default=NOWHERE, kw_only=True)
    fixed_batch: bool = field(default=False, kw_only=True)
    modeless: bool = field(default=False, kw_only=True)
    inside: Collection[int] = field(default=(), kw_only=True)
    kept: Sequence[Array] = field(default=(), kw_only=True)
    loss_inside: str = field(default="", kw_only=True)
    line_of: Callable[[Any], Location] = field(default=lambda array: NOWHERE, kw_only=True)

    @abstractmethod
    def run(self, changes: Mapping[int, Array] | None = None, seed: int = 0) -> list[Array]:
        """The outputs, with some of the inputs changed."""

    @abstractmethod
    def record(self, seed: int = 0) -> ProbedCall:
        """One call with the inputs as they are, written down."""

    @abstractmethod
    def jitter(self, seed: int = 0) -> AbstractContextManager[None]:
        """Inside, the parameters are slightly others."""

    @abstractmethod
    def still(self, index: int, axis: int, rng: np.random.Generator) -> Array | None:
        """Return which places along *axis* of an input may have no influence; None where nothing tells."""

    @abstractmethod
    def pair_samples(self) -> Probe | None:
        """The function of two samples, each of them the one that it was called with; None where that cannot be."""

    @cached_property
    def outputs(self) -> list[Array]:
        """Return what comes out for the inputs as they are."""
        return self.run()

    @cached_property
    def recording(self) -> ProbedCall:
        """One call with the inputs as they are, written down when somebody asks for it."""
        return self.record()

    def differences(self, changes: Mapping[int, Array], seed: int = 0) -> list[Array]:
        """For each output which elements are others, by more than rounding, where some inputs are."""
        return self.compare(self.run(changes, seed))

    def compare(self, others: Sequence[Array]) -> list[Array]:
        """For each output which elements of *others* differ from it by more than rounding."""
        return [_exceeds_rounding(a, b) for a, b in zip(self.outputs, others, strict=False)]

    def _change_inputs(self, changes: Mapping[int, Array] | None) -> Iterator[ProbeInput]:
        for i, x in enumerate(self.inputs):
            yield replace(x, array=changes[i]) if changes and i in changes else x


@dataclass
class CallProbe(Probe):
    """A function that can be called again.

    Attributes:
        function: takes tensors, one for each input, and gives tensors, the outputs.
        seeded: inside, random numbers begin anew from the seed that it is given.
        moved: inside, the parameters are slightly others, by the seed that it is given.
    """

    function: Callable[[Sequence[Tensor]], list[Tensor]]
    seeded: Callable[[int], AbstractContextManager[None]]
    moved: Callable[[int], AbstractContextManager[None]]

    def __post_init__(self) -> None:
        self.outputs = self.run()

    def run(self, changes: Mapping[int, Array] | None = None, seed: int = 0) -> list[Array]:
        """As in the base."""
        tensors = [Tensor(x.array.copy()) for x in self._change_inputs(changes)]
        with self.seeded(seed):
            return [np.array(t.array) for t in self.function(tensors)]

    def record(self, seed: int = 0) -> ProbedCall:
        """As in the base."""
        tensors = [Tensor(x.array.copy()) for x in self.inputs]
        recorder = Recorder()
        with self.seeded(seed), source.full_stacks(True), recorder.record():
            outputs = self.function(tensors)
        named = {t: x.name for t, x in zip(tensors, self.inputs, strict=True)}
        inputs = [recorder.find_number(t.array) for t in tensors]
        numbers = [recorder.number_of(t.array) for t in outputs]
        run = of_tape.timeline(recorder, title=self.name, named=named)
        for entry in run.entries:
            entry.loc = entry.loc or self.loc  # of a layer that is none of the user's
        return ProbedCall(run, inputs, numbers)

    def jitter(self, seed: int = 0) -> AbstractContextManager[None]:
        """As in the base."""
        return self.moved(seed)

    def pair_samples(self) -> Probe | None:
        """As in the base."""
        twice = [ProbeInput(x.name, np.repeat(x.array, 2, axis=0)) for x in self.inputs if x.array.ndim]
        if len(twice) != len(self.inputs):
            return None
        try:
            return replace(self, inputs=twice)
        except GradtoolError:
            return None

    def still(self, index: int, axis: int, rng: np.random.Generator) -> Array | None:
        """As in the base, by one vector-Jacobian product with random cotangents."""
        slopes = self._slopes(index, rng)
        return None if slopes is None else ~(slopes != 0).any(axis=tuple(a for a in range(slopes.ndim) if a != axis))

    def _slopes(self, index: int, rng: np.random.Generator) -> Array | None:
        """Return what a product with the Jacobian gives for an input; None where none arrives."""
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


def _exceeds_rounding(before: Array, after: Array) -> Array:
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
    """Return whether an element of any of them is true."""
    return any(m.any() for m in masks)
