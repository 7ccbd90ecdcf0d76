"""A written-down run computed again in double precision at other values of its leaves.

Operators that the chosen leaves do not lead to are constants, and so are random numbers: a dropout mask stays what it
was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import watch
from ..core.rows import RowArray
from ..core.source import Location
from ..core.spec import dtype as dtype_of
from ..core.spec import float64
from ..core.tensor_array import TensorArray
from ..kernels.backend import Backend
from ..kernels.choice import reference
from ..runs.bound_kernels import Binding, draws_only, kernel
from ..runs.branch import Branch
from ..runs.repeating import Unrepeated
from ..runs.timeline import NOBODY, Entry, FixedOperand, Timeline
from . import kinks, magnitudes

Array = np.ndarray[Any, Any]


class Double:
    """Computes the loss of a timeline again, in double precision.

    Args:
        chosen: the leaves that may have other values.

    Attributes:
        xp: the module of the arrays that it computes with.
        gaps: what cannot be computed again on the way from them to the loss, with the line.
        code: the operators that it computes again, in order.
    """

    xp: Any = np

    def __init__(self, timeline: Timeline, chosen: Sequence[Any]) -> None:
        self.timeline = timeline
        self.gaps: list[tuple[str, Location]] = [*timeline.gaps]
        self._recorded = Branch(timeline)
        self._leaf: dict[int, Any] = {}
        for leaf in chosen:
            self._leaf.update(dict.fromkeys(timeline.leaves.get(leaf, ()), leaf))
        live = self._led_to()
        needed = {timeline.loss, *timeline.guards}
        code: list[Entry] = []
        for entry in reversed(timeline.entries):
            if needed.isdisjoint(entry.made) or live.isdisjoint(entry.made):
                continue
            needed.update(entry.inputs)
            if entry.binding is None:
                self.gaps.append((str(Unrepeated(entry, entry.fixed)), entry.loc))
            else:
                code.append(entry)
        self.code = code[::-1]
        self._constants: dict[int, Any] = {}
        self._bind()

    def _bind(self) -> None:
        """Have what computes the entries."""
        self._kernels = [self._kernel(entry) for entry in self.code]

    def _led_to(self) -> set[int]:
        """The values that the chosen leaves lead to, and these themselves."""
        live = set(self._leaf)
        for entry in self.timeline.entries:
            if not live.isdisjoint(entry.inputs) and not draws_only(entry):
                live.update(entry.made)
        return live

    def __call__(self, values: Mapping[Any, Array]) -> tuple[Array, list[tuple[int, Any]]]:
        """The loss where some leaves have other *values*, and the choices that operators made on the way.

        Two runs between which an operator has a kink differ in its choice.
        """
        computed: dict[int, Any] = {}
        choices = []
        with watch.pause_watchers(), np.errstate(all="ignore"):
            for entry, run in zip(self.code, self._kernels, strict=True):
                operands = [self._operand(o, computed, values) for o in entry.operands]
                if entry.type in _ROUTERS:  # what came another way was not computed; the condition is a choice itself
                    operands[1] = self._operand(entry.operands[1], {}, {})
                results = run(*operands)
                for (_, number), array in zip(entry.outs, results, strict=True):
                    if number != NOBODY:
                        computed[number] = wide(array)
                choice = kinks.choice(np, entry.type, _attrs(entry), operands, results)
                if choice is not None:
                    choices.append((entry.index, choice))
            return np.asarray(self._operand(self.timeline.loss, computed, values)), choices

    def find_undecided(self, leaf: Any) -> Entry | None:
        """The first operator behind *leaf* that chose otherwise when it was recorded than in double precision.

        What it chose among is equal up to rounding: it has a kink there, and the recorded gradient is that of another
        side of it.
        """
        _, precise = self({})
        chosen = dict(precise)
        behind = set(self.timeline.leaves.get(leaf, ()))
        with np.errstate(all="ignore"):
            for entry in self.code:
                if behind.isdisjoint(entry.inputs):
                    continue
                behind.update(entry.made)
                if entry.index in chosen and not self._is_alike(self._choice_of_run(entry), chosen[entry.index]):
                    return entry
        return None

    def _choice_of_run(self, entry: Entry) -> Any:
        results = [None if n == NOBODY else self._recorded.make(n) for _, n in entry.outs]
        return kinks.choice(self.xp, entry.type, _attrs(entry), self._recorded.operands(entry), results)

    def _is_alike(self, one: Any, other: Any) -> bool:
        return bool(self.xp.array_equal(one, other))

    def _kernel(self, entry: Entry) -> Any:
        binding = entry.binding
        assert binding is not None
        mask = None if binding.mask == NOBODY else wide(self._recorded.make(binding.mask))
        return kernel(double_binding(binding, reference()), mask)

    def _operand(self, operand: Any, computed: Mapping[int, Any], values: Mapping[Any, Array]) -> Any:
        if isinstance(operand, list):
            return [self._operand(o, computed, values) for o in operand]
        if isinstance(operand, FixedOperand):
            return wide(operand.value)
        if operand is None or operand in computed:
            return None if operand is None else computed[operand]
        leaf = self._leaf.get(operand)
        if leaf is not None:
            return values[leaf] if leaf in values else self._constant(self.timeline.leaves[leaf][-1])
        return self._constant(operand)

    def _constant(self, number: int) -> Any:
        if number not in self._constants:
            self._constants[number] = wide(self._recorded.make(number))
        return self._constants[number]


def double_binding(binding: Binding, backend: Backend) -> Binding:
    """The same in double precision, by the kernel of *backend*."""
    attrs = dict(binding.attrs)
    for name in _DTYPES:
        code = attrs.get(name, -1)
        if isinstance(code, int) and not isinstance(code, bool) and code >= 0 and dtype_of(code).is_floating:
            attrs[name] = float64.code
    return replace(binding, attrs=attrs, backend=backend, again=binding.again if backend is reference() else None)


def wide(value: Any) -> Any:
    """*value* in double precision, where it is of floating-point numbers."""
    if isinstance(value, (list, tuple)):
        return [wide(v) for v in value]
    if value is None:
        return None
    if isinstance(value, TensorArray):
        return value.map(wide)
    if isinstance(value, RowArray):
        array = np.asarray(value.dense())
    else:  # an array of a device stays there
        array = value if hasattr(value, "astype") else np.asarray(value)
    if array.dtype.kind == "c" or not magnitudes.holds_numbers(array):
        return array
    return array if array.dtype == np.float64 else array.astype(np.float64)  # nobody writes to it


def _attrs(entry: Entry) -> Mapping[str, Any]:
    assert entry.binding is not None, "what cannot be computed again chooses nothing"
    return entry.binding.attrs


_ROUTERS = frozenset({"select_input", "select_output"})
"""Operators whose second operand says which way the run went."""

_DTYPES = ("dtype", "out_dtype", "in_dtype")
