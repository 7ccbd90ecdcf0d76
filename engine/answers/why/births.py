"""Origins of sizes: the numbers that operators multiply gradients by, and the places where these come from.

A gradient jumps at a call because of a constant, of the elements that a sum adds up, or of a value: another operand, a
divisor, the operator's own input. Such a value is followed to where it became as large or small as it is: the data, a
parameter, a constant factor, or layer after layer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

import numpy as np

from ...core import source
from ...core.records import dataclass
from ...core.source import Location
from .courses import LAYERS, Leg, usual
from .levels import dense
from .reasons import C, V
from .slopes import MakingCall, Slopes
from .zeros import BOUNDED, PRODUCTS

if TYPE_CHECKING:
    from .case import Case

_HALF = 0.5
"""The part of a whole change that explains it."""
_STEPS = 256
"""Values that are looked at on the way back: many gradients may be asked about, each of them with a way of its own."""
_USES = 4
"""Uses of a value that are asked for its numbers."""


@dataclass(frozen=True, slots=True)
class SizeOrigin:
    """The origin of a size.

    Attributes:
        said: the explanation, with numbers.
        location: the user's line.
        fault: whether it stays so whatever is learned: a small residual does not.
        deep: whether many operators have made it so, one after another.
        size: of the value that is followed, the order of magnitude of its largest element.
    """

    said: str
    location: Location
    fault: bool = True
    size: float = 0.0
    deep: bool = False


class BackStep(NamedTuple, Generic[V, C]):
    """A value on the way back to where it is computed from.

    Attributes:
        size: the order of magnitude of its largest element.
        made: the call that made it; None where none did.
    """

    value: V
    size: float
    made: MakingCall[V, C] | None


class SizeCauses(Generic[V, C]):
    """Causes of large and small gradients.

    Args:
        case: the model.
        slopes: of its backward pass.
    """

    def __init__(self, case: Case[V, C], slopes: Slopes[V, C]) -> None:
        self._case = case
        self._flow = case.reasons.flow
        self._slopes = slopes

    def explain(self, jump: Leg[V, C], gain: float) -> SizeOrigin:
        """Why the gradient is multiplied where it arrives at ``jump.value``.

        Args:
            gain: by how much, in orders of magnitude.
        """
        assert jump.use is not None
        assert jump.onto is not None
        use, factor = jump.use, 10**gain
        at = self._flow.call_line(use.call)
        made = self._slopes.made.get(jump.onto)
        times = f"{use.type} multiplies it by {factor:.3g}"
        if made is None:
            return SizeOrigin(f"{times}, {source.short(at)}", at)
        inputs, outputs = made.inside()
        if use.type == "scale":
            return SizeOrigin(f"a constant factor of {float(made.attrs.get('scale', 1.0)):.6g} multiplies it", at)
        if use.type in ("reduce_sum", "sum") and gain > 0:
            return SizeOrigin(
                f"reduce_sum adds up {factor:,.0f} elements, where a mean would divide by their number", at
            )
        if use.type in BOUNDED:
            return SizeOrigin(_flat(use.type, inputs, outputs, times), at)
        if use.type == "elementwise_div" and made.slots[use.position] == "X":
            return self._explain_quotient(made, inputs, times, at)
        if use.type in PRODUCTS:
            return self._product(made, use.position, gain, times, at)
        return SizeOrigin(f"{times}, {source.short(at)}", at, fault=False)

    def _explain_quotient(
        self, made: MakingCall[V, C], inputs: Mapping[str, Any], times: str, at: Location
    ) -> SizeOrigin:
        """Of a division whose result is small or large because of what it divides by."""
        sizes = np.abs(dense(inputs["Y"])) if "Y" in inputs else np.zeros(0)
        if not sizes.size:
            return SizeOrigin(times, at)
        by = next((v for v, slot in zip(made.reads, made.slots, strict=True) if slot == "Y"), None)
        constant = by not in self._case.reasons.reached
        said = f"{times}: it divides by numbers from {sizes.min():.3g} to {sizes.max():.3g}"
        return SizeOrigin(said, at, fault=constant)

    def _product(self, made: MakingCall[V, C], position: int, gain: float, times: str, at: Location) -> SizeOrigin:
        """Of a product: the operand that is large or small, and where that is from."""
        reads = [(i, v) for i, v in enumerate(made.reads) if v is not None]
        others = [(i, v) for i, v in reads if i != position] or reads
        sized = [(size, v) for i, v in others if (size := self._operand(made, i)) is not None]
        if not sized:
            return SizeOrigin(times, at, fault=gain > 0)
        size, value = max(sized, key=lambda pair: pair[0] if gain > 0 else -pair[0])
        origin = self.origin(value, size)
        if origin is None or abs(size) < _HALF * abs(gain):
            return SizeOrigin(f"{times}: the other operand, {self._flow.name(value)}, is up to {10**size:.3g}", at)
        fault = gain > 0 or (origin.fault and others is not reads)
        return SizeOrigin(f"{times}: {origin.said}", origin.location or at, fault, origin.size, origin.deep)

    # -- forward ------------------------------------------------------------------------------------------------------

    def size(self, value: V) -> float | None:
        """The order of magnitude of the largest element; None where no gradient rule reads it, or it is no number."""
        for use in self._slopes.uses.get(value, ())[:_USES]:
            made = next((self._slopes.made[w] for w in use.onto if w in self._slopes.made), None)
            size = None if made is None else _size(made.operand(use.position))
            if size is not None:
                return size
        return None

    def origin(self, value: V, size: float | None = None) -> SizeOrigin | None:
        """Return where *value* became as large or small as it is; large, if that is not known.

        Args:
            size: the order of magnitude of its largest element.
        """
        steps = list(islice(self._back(value, size), _STEPS))
        if not steps:
            return None
        last = steps[-1]
        size = steps[0].size if size is None else size
        changes = [(one.size - other.size, one) for one, other in pairwise(steps)]
        changes.append((last.size, last))
        change, step = max(changes, key=lambda pair: pair[0] if size > 0 else -pair[0])
        if abs(change) < _HALF * abs(size) and len(changes) > LAYERS:
            factor = 10 ** ((size - last.size) / (len(changes) - 1))
            at = usual([self._flow.call_line(s.made.call) for s in steps if s.made is not None])
            said = f"{self._flow.name(value)} is up to {10**size:.3g}, after {len(changes) - 1} operators"
            return SizeOrigin(f"{said} that multiply it by {factor:.3g} each", at, size=size, deep=True)
        return replace(self._born(step, change, size, value), size=size)

    def _born(self, step: BackStep[V, C], change: float, size: float, value: V) -> SizeOrigin:
        flow = self._flow
        name = flow.name(step.value)
        at = flow.made_at(step.value)
        call = step.made
        if call is None:
            data = step.value not in self._case.reasons.reached
            return SizeOrigin(f"{name} holds numbers up to {10**step.size:.3g}", at, fault=data)
        what = "a constant factor" if call.type == "scale" else call.type
        said = f"{flow.name(value)} is up to {10**size:.3g}: {what} multiplies it by {10**change:.3g}"
        return SizeOrigin(said, flow.call_line(call.call), fault=call.type in BOUNDED or call.type == "scale")

    def _back(self, value: V, size: float | None) -> Iterator[BackStep[V, C]]:
        """From *value* along the largest operands, as far as sizes are known; along the smallest of one below 1."""
        v: V | None = value
        seen: set[V] = set()
        known, small = size, size is not None and size < 0
        while v is not None and v not in seen:
            seen.add(v)
            made = self._slopes.made.get(v)
            if known is not None:
                yield BackStep(v, known, made)
            if made is None:
                return
            sized = [
                (s, w) for i, w in enumerate(made.reads) if w is not None and (s := self._operand(made, i)) is not None
            ]
            if sized:
                known, v = min(sized, key=lambda pair: pair[0] if small else -pair[0])
            else:
                known, v = None, self._main(made)

    def _operand(self, made: MakingCall[V, C], position: int) -> float | None:
        """The size of what a call read: as its own rule, or that of another use, has it."""
        value = made.reads[position]
        size = _size(made.operand(position))
        return self.size(value) if size is None and value is not None else size

    def _main(self, made: MakingCall[V, C]) -> V | None:
        """The operand that most is computed for, where no sizes are known."""
        computed = [w for w in made.reads if w is not None and w in self._slopes.made]
        return computed[0] if computed else next((w for w in made.reads if w is not None), None)


def _size(array: Any) -> float | None:
    """The order of magnitude of the largest element; None where there is none above 0, or one is no number."""
    if array is None or isinstance(array, (list, tuple)):
        return None
    a = dense(array)
    if not a.size or a.dtype.kind not in "fc":
        return None
    largest = float(np.abs(a).max())
    return math.log10(largest) if 0 < largest < math.inf else None


def _flat(type_: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], times: str) -> str:
    """Return the words about an operator that is flat far out: its inputs, and how many of them lie there."""
    low, high = BOUNDED[type_]
    out = next((dense(a) for a in outputs.values() if not isinstance(a, (list, tuple))), None)
    x = next((dense(a) for a in inputs.values() if not isinstance(a, (list, tuple))), None)
    said = times
    if out is not None and out.size:
        edge = 0.01 * (high - low)
        share = 100.0 * float(np.mean((out < low + edge) | (out > high - edge)))
        said += f": {share:.3g} % of its outputs are within 1 % of {low:g} or {high:g}"
    return said if x is None or not x.size else f"{said}, inputs in [{float(x.min()):.3g}, {float(x.max()):.3g}]"
