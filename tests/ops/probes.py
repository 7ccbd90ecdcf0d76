"""What an operator and its gradient operator give for changed operands, by name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.ops.opdef import OpDef, Operand
from tests.ops.calls import (
    NUMPY,
    call,
    completed,
    gradient_operands,
    pull,
    random_like,
    second_pull,
    seeds,
    separated,
    wanted_for,
)
from tests.ops.cases import Case, arrays, is_float, nested

Path = tuple[int, int]
"""An operand, and a place in its list: 0 where it is no list."""

Parts = dict[str, list[np.ndarray]]
"""The real results by the names of their slots, and the gradients by ``SLOT@GRAD``."""


def floats_of(operands: Sequence[Operand]) -> Iterator[tuple[Path, np.ndarray]]:
    """The operands that hold real or complex numbers."""
    for i, v in enumerate(operands):
        for j, a in enumerate(v if isinstance(v, (list, tuple)) else [v]):
            if a is not None and is_float(a):
                yield (i, j), np.asarray(a)


def with_element(operands: Sequence[Operand], path: Path, at: tuple[int, ...], value: Any) -> list[Operand]:
    """*operands* with one element replaced."""
    i, j = path
    held = operands[i]
    array = np.array(held[j] if isinstance(held, (list, tuple)) else held)
    array[at] = value
    entry: Operand = array
    if isinstance(held, (list, tuple)):
        entry = [array if n == j else a for n, a in enumerate(held)]
    return [entry if n == i else v for n, v in enumerate(operands)]


def spots(array: np.ndarray, count: int) -> list[tuple[int, ...]]:
    """Up to *count* elements: the first, the last, and some between."""
    places = sorted({int(p) for p in np.linspace(0, array.size - 1, count)}) if array.size else []
    return [tuple(int(i) for i in np.unravel_index(p, array.shape)) for p in places]


def defined_gradients(
    op: OpDef, operands: Sequence[Operand], results: list[Any], douts: Sequence[Any], attrs: dict[str, Any]
) -> list[Any]:
    """Gradients per input slot as the definition's rule gives them."""
    assert op.rule is not None
    assert op.grad_op is not None
    read = gradient_operands(op, operands, results, completed(op, results, douts))
    with np.errstate(all="ignore"):
        grads = NUMPY.general(op.grad_op, attrs, wanted_for(op, operands))(*read)
    gradients: list[Any] = [None] * len(operands)
    for place, gradient in zip(op.rule.wrt, separated(op.grad_op, grads), strict=True):
        gradients[place] = gradient
    return gradients


class Probe:
    """One case, as a function of its operands and of the gradients that arrive at its outputs.

    Attributes:
        operands: the operands, then a gradient for each output or None.
        slots: what they are called.
    """

    def __init__(self, case: Case) -> None:
        op = case.op
        self.case = case
        self.op: OpDef = op
        results = call(op, case.operands, case.attrs)
        douts: list[Any] = [None] * len(results)
        if op.rule is not None and any(is_float(a) for a in arrays(case.operands[i] for i in op.rule.wrt)):
            douts = seeds(op, results, np.random.default_rng(3))
        self.differentiated = any(d is not None for d in douts)
        self.operands: list[Operand] = [*case.operands, *douts]
        self.slots = [*(s.name for s in op.inputs), *(f"{s.name}@GRAD" for s in op.outputs)]
        self._weights: list[Any] = []

    def parts(self, operands: Sequence[Operand], defined: bool = False, to: str = "float64") -> Parts:
        """What comes out, by the kernels that a plan would run.

        Args:
            defined: by the kernel and the rule of the definition instead.
            to: the type that real numbers are cast to.
        """
        op, attrs = self.op, self.case.attrs
        if to != "float64":
            operands = [nested(partial(_cast, to=to), v) for v in operands]
            if attrs.get("in_dtype", -1) != -1:
                attrs = {**attrs, "in_dtype": dtype_of(np.asarray(operands[0]).dtype).code}
        inputs, douts = operands[: len(op.inputs)], operands[len(op.inputs) :]
        if defined:
            with np.errstate(all="ignore"):
                results = separated(op, op.run(NUMPY, inputs, attrs))
        else:
            results = call(op, inputs, attrs)
        parts = {s.name: _real(r) for s, r in zip(op.outputs, results, strict=True)}
        if self.differentiated:
            pulled = defined_gradients if defined else pull
            grads = pulled(op, inputs, results, douts, attrs)
            parts |= {f"{s.name}@GRAD": _real(g) for s, g in zip(op.inputs, grads, strict=True)}
        return {name: values for name, values in parts.items() if values}

    def second_parts(self, operands: Sequence[Operand]) -> Parts:
        """The gradients of the gradients' weighted sum, by ``SLOT@GRAD@GRAD``; none without a rule."""
        op, attrs = self.op, self.case.attrs
        if not self.differentiated:
            return {}
        inputs, douts = operands[: len(op.inputs)], operands[len(op.inputs) :]
        results = call(op, inputs, attrs)
        if not self._weights:
            rng = np.random.default_rng(5)
            grads = pull(op, inputs, results, douts, attrs)
            self._weights = nested(lambda a: random_like(a, lambda shape: rng.uniform(0.5, 1.5, shape)), grads)
        by_input, by_dout = second_pull(op, inputs, results, douts, self._weights, attrs)
        parts = {f"{slot}@GRAD@GRAD": _real(g) for slot, g in zip(self.slots, [*by_input, *by_dout], strict=True)}
        return {name: values for name, values in parts.items() if values}


def _cast(a: Any, to: str) -> np.ndarray:
    array = np.asarray(a)
    return array.astype(to) if array.dtype.kind == "f" else array


def _real(value: Any) -> list[np.ndarray]:
    return [a for a in arrays([value]) if is_float(a)]
