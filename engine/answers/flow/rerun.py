"""A recorded run as a function of its data, in evaluation mode: for programs, and what is computed beside layers."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from ...core.records import dataclass
from ...runs.bound_kernels import kernel
from ...runs.branch import Branch, Edit
from ...runs.store import Store
from ...runs.timeline import NOBODY, Entry, Timeline
from .change_propagation import Array
from .probe import Probe, ProbedCall

MOST_PLACES = 64
"""Places of an input that are looked at one by one, each with runs of its own."""


def evaluate(run: Timeline) -> Timeline:
    """The forward part of a run of dynamic mode as it is in evaluation mode, with its values yet to be computed.

    What operators draw at random stays as it was; those that draw for training only draw nothing.
    """
    store = Store()
    for number, value in enumerate(run.values):
        if value.maker == NOBODY and number in run.store:
            store.keep(number, run.store.get(number))
    entries = [_fix_statistics(run, _switch_to_evaluation(e)) for e in run.entries[: run.begin]]
    for entry in entries:
        if entry.kernel is not None:
            continue
        for number in entry.made:
            if number in run.store:
                store.keep(number, run.store.get(number))
    return Timeline(run.title, run.mode, entries, run.values, store, {}, len(entries), run.loss)


def _switch_to_evaluation(entry: Entry) -> Entry:
    """An operator in evaluation mode."""
    attrs = getattr(entry.origin, "attrs", {})
    binding = entry.binding
    if binding is None or not isinstance(attrs.get("is_test"), bool) or attrs["is_test"]:
        return entry
    binding = replace(binding, attrs={**attrs, "is_test": True}, mask=NOBODY, padded=True)
    return replace(entry, binding=binding, kernel=kernel(binding))


def _fix_statistics(run: Timeline, entry: Entry) -> Entry:
    """PyTorch's batch norm with the statistics that it took of this batch: as in evaluation, whatever it is given.

    Its running ones are written as it computes, and nobody holds what they were.
    """
    attrs = getattr(entry.origin, "attrs", {})
    made = [n for _, n in entry.outs[1:3]]
    if entry.type != "native_batch_norm" or not attrs.get("training") or not all(n in run.store for n in made):
        return entry
    mean, inverse = (np.asarray(run.store.get(n)) for n in made)
    places = {slot: i for i, (slot, _) in enumerate(entry.reads)}

    def kernel(*operands: Array) -> list[Array]:
        x = np.asarray(operands[places["input"]])
        shape = (1, -1, *[1] * (x.ndim - 2))
        y = (x - mean.reshape(shape)) * inverse.reshape(shape)
        if "weight" in places:
            y = y * np.asarray(operands[places["weight"]]).reshape(shape)
        if "bias" in places:
            y = y + np.asarray(operands[places["bias"]]).reshape(shape)
        return [y.astype(x.dtype), mean, inverse]

    return replace(entry, kernel=kernel, binding=None)


@dataclass
class RunProbe(Probe):
    """A run, computed again.

    Attributes:
        run_of: the run, in evaluation mode.
        numbers: of the values that the inputs are.
        results: of those that come out.
        learned: of the parameters.
    """

    run_of: Timeline
    numbers: Sequence[int]
    results: Sequence[int]
    learned: Collection[int]
    _moved: list[Edit] = field(default_factory=list, init=False)

    def run(self, changes: Mapping[int, Array] | None = None, seed: int = 0) -> list[Array]:
        """As in the base; random numbers stay as they were drawn."""
        edits = [*self._moved, *(self._edit(self.numbers[i], a) for i, a in (changes or {}).items())]
        branch = Branch.add_edits(self.run_of, "copy", 0, edits) if edits else Branch(self.run_of)
        return [np.asarray(branch.make(n)) for n in self.results]

    def record(self, seed: int = 0) -> ProbedCall:
        """As in the base: the run itself."""
        return ProbedCall(self.run_of, list(self.numbers), list(self.results))

    @contextlib.contextmanager
    def jitter(self, seed: int = 0) -> Iterator[None]:
        """As in the base."""
        rng = np.random.default_rng(seed)
        for number in sorted(self.learned):
            array = np.asarray(self.run_of.store.get(number))
            if array.dtype.kind == "f":
                self._moved.append(self._edit(number, jitter(array, rng)))
        try:
            yield
        finally:
            self._moved.clear()

    def still(self, index: int, axis: int, rng: np.random.Generator) -> Array | None:
        """As in the base: all of them, where they are few, as no gradient is at hand."""
        count = self.inputs[index].array.shape[axis]
        return np.ones(count, bool) if count <= MOST_PLACES else None

    def pair_samples(self) -> Probe | None:
        """As in the base; the sizes that operators have are those of the run."""
        return None

    def _edit(self, number: int, array: Array) -> Edit:
        return Edit(self.run_of.values[number].maker + 1, number, array, "")


def jitter(array: Array, rng: np.random.Generator) -> Array:
    """Numbers that are slightly others, so that what begins at zero does not stay there."""
    size = float(np.abs(array).mean()) if array.size else 0.0
    noise = rng.standard_normal(array.shape) * (0.1 * size + 0.02)
    return np.asarray((array + noise).astype(array.dtype))
