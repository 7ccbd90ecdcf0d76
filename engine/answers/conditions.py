"""Conditions of an operator that gave bad numbers: the values that it read, and who made them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import magnitudes
from .events import OpEvent
from .makers import Maker, Makers

Mask = Any


class SlotValues:
    """The values of an operator by slot, in double precision; the first of a list slot.

    Attributes:
        attrs: the operator's attributes.
        bad: where the output is bad.
        nan: where it is NaN.
        limit: the largest number of the output's type.

    Args:
        makers: who made what was read, as far as that is known.
    """

    def __init__(
        self,
        event: OpEvent,
        bad: np.ndarray[Any, Any],
        dtype: Any,
        kind: str = magnitudes.INF,
        makers: Makers | None = None,
    ) -> None:
        self.attrs = event.attrs
        self.bad = bad
        self.nan = bad if kind == magnitudes.NAN else np.zeros_like(bad)
        self.dtype = dtype
        self.limit = magnitudes.largest(dtype)
        self._arrays = event.slots()
        self._event = event
        self._makers = Makers() if makers is None else makers

    def maker(self, *slots: str) -> Maker:
        """Return who made what was read in the first of *slots* that is there.

        A maker of no type where that is not known.
        """
        array = self._arrays.get(next((slot for slot in slots if slot in self._arrays), ""))
        return self._makers.find(array) or _NOBODY

    def __getitem__(self, slot: str) -> Any:
        return magnitudes.wide(magnitudes.plain(self._arrays[slot]))

    def get(self, *slots: str) -> Any:
        """The first of *slots* that is there."""
        return self[next(s for s in slots if s in self._arrays)]

    @property
    def x(self) -> Any:
        return self.get("X", "Input", "Logits", "Predicted", "x")

    @property
    def y(self) -> Any:
        """The second operand, aligned as Paddle's ``axis`` says."""
        y, x, axis = self["Y"], self.x, int(self.attrs.get("axis", -1))
        if axis >= 0 and 0 < y.ndim < x.ndim - axis:
            y = y.reshape((*y.shape, *[1] * (x.ndim - axis - y.ndim)))
        return y

    @property
    def result(self) -> Any:
        return self.get("Out", "Y", "Output", "out")

    @property
    def dout(self) -> Any:
        """The gradient that arrived."""
        return magnitudes.wide(magnitudes.plain(next(v.array for v in self._event.inputs if v.is_gradient)))

    @property
    def axis(self) -> int:
        return int(self.attrs.get("axis", -1))

    def operands(self) -> Iterable[Any]:
        """Every array of numbers that was read."""
        arrays = [magnitudes.plain(v.array) for v in self._event.inputs]
        return [magnitudes.wide(a) for a in arrays if magnitudes.holds_numbers(a)]


_NOBODY = Maker("", {})

Condition = Callable[[SlotValues], bool]


def rows(s: SlotValues, test: Callable[[Any], Any]) -> Mask:
    """*test* of the logits along their axis."""
    axes = s.attrs.get("axis", -1)
    logits = s.x
    if s.attrs.get("reduce_all") or axes == ():
        return np.asarray(test(logits.reshape(1, -1))[0])
    return test(np.moveaxis(logits, axes if isinstance(axes, int) else axes[0], -1))


def no_score(row: Any) -> Any:
    """Return where every score of a row is -inf."""
    return np.all(row == -np.inf, axis=-1)


def is_made_by(types: str, *slots: str) -> Condition:
    """Return whether an operator of one of *types* made what is read in *slots*."""
    names = frozenset(types.split())
    return lambda s: s.maker(*slots).type in names


def is_clipped(*slots: str) -> Condition:
    """Return whether what is read in *slots* was clipped at 0 or below."""
    return lambda s: s.maker(*slots).type == "clip" and float(s.maker(*slots).attrs.get("min") or 0.0) <= 0


def spread(*slots: str) -> Condition:
    """Return whether what is read in *slots* is a root of a mean or a sum of squares: a deviation or a length."""

    return lambda s: s.maker(*slots).type == "sqrt" and not _SUMS.isdisjoint(s.maker(*slots).before)


def one_less(*slots: str) -> Condition:
    """Return whether what is read in *slots* is a number of elements less one."""

    def holds(s: SlotValues) -> bool:
        maker = s.maker(*slots)
        of_a_count = not {"size", "elementwise_div"}.isdisjoint(maker.before)  # all elements by the results
        return maker.type == "scale" and of_a_count and float(maker.attrs.get("bias", 0.0)) == -1.0

    return holds


def product_of(types: str, others: str) -> Condition:
    """Return whether one of two factors was made by an operator of one of *types*, and one by one of *others*."""
    one, other = frozenset(types.split()), frozenset(others.split())

    def holds(s: SlotValues) -> bool:
        factors = {s.maker("X").type, s.maker("Y").type}
        return not one.isdisjoint(factors) and not other.isdisjoint(factors)

    return holds


def is_divided(event: OpEvent) -> bool:
    """Return whether the operator makes a sum or a quotient, as softmax or sigmoid do that are written out."""
    if event.type == "scale":
        return float(event.attrs.get("bias", 0.0)) == 1.0
    return event.type in ("reduce_sum", "sum", "elementwise_div", "elementwise_add", "log1p", "log")


_SUMS = frozenset({"reduce_sum", "sum", "reduce_mean", "mean", "elementwise_div", "scale"})
