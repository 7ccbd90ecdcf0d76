"""Calling operators and their gradient operators the way a plan does: through the backend's bound kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.kernels.choice import backend
from gradtool.engine.ops.opdef import OpDef, Operand, specs_of
from tests.ops.cases import arrays, is_float, nested

NUMPY = backend("numpy")
Wanted = list[list[bool]]


def call(op: OpDef, operands: Sequence[Operand], attrs: dict[str, Any], wanted: Wanted | None = None) -> list[Any]:
    """The results, one per output slot; random numbers are the same in every call."""
    state.random.reset(0)
    kernel = bind(op, operands, attrs, wanted)
    with np.errstate(all="ignore"):
        result = kernel(*operands)
    return separated(op, result)


def separated(op: OpDef, result: Any) -> list[Any]:
    """What a kernel returned, as one entry per output slot."""
    return [result] if len(op.outputs) == 1 else list(result)


def bind(op: OpDef, operands: Sequence[Operand], attrs: dict[str, Any], wanted: Wanted | None = None) -> Any:
    """The kernel that a plan would run on operands of these specs."""
    return NUMPY.bind(op, attrs, wanted, specs_of(operands))


def gradient_operands(
    op: OpDef, operands: Sequence[Operand], results: Sequence[Any], douts: Sequence[Any]
) -> list[Any]:
    """What the gradient operator of *op* reads: *douts* holds one gradient per output slot."""
    assert op.rule is not None
    by_kind = {"in": operands, "out": results, "dout": douts}
    return [by_kind[r.kind][r.place] for r in op.rule.reads]


def has_late(op: OpDef) -> tuple[bool, ...]:
    """The values of ``late`` that :func:`seeds` is worth calling with."""
    assert op.rule is not None
    return (False, True) if any(r.late for r in op.rule.reads) else (False,)


def seeds(op: OpDef, results: Sequence[Any], rng: np.random.Generator, late: bool = False) -> list[Any]:
    """Random gradients for the outputs whose gradients the rule reads; None for the other outputs.

    Args:
        late: also for those outputs that only have one where the gradient operator itself is differentiated.
    """
    assert op.rule is not None
    read = {r.place for r in op.rule.reads if r.kind == "dout" and (late or not r.late)}

    def draw(a: Any) -> np.ndarray:
        return random_like(a, lambda shape: rng.uniform(0.5, 1.5, shape))

    return [nested(draw, r) if j in read and all_floats(r) else None for j, r in enumerate(results)]


def random_like(a: Any, draw: Callable[[tuple[int, ...]], Any]) -> np.ndarray:
    """Random numbers of the type and shape of *a*; the parts of complex ones are drawn one after the other."""
    array = np.asarray(a)
    drawn = draw(array.shape)
    return np.asarray(drawn + 1j * draw(array.shape) if array.dtype.kind == "c" else drawn, array.dtype)


def all_floats(value: Any) -> bool:
    values = list(arrays([value]))
    return bool(values) and all(map(is_float, values))


def wanted_for(op: OpDef, operands: Sequence[Operand]) -> Wanted:
    """The mask that asks for the gradient of every floating-point input that the rule gives one for."""
    assert op.rule is not None
    return [_mask(operands[i]) for i in op.rule.wrt]


def _mask(operand: Operand) -> list[bool]:
    entries = operand if isinstance(operand, (list, tuple)) else [operand]
    return [e is not None and is_float(e) for e in entries]


def pull(
    op: OpDef,
    operands: Sequence[Operand],
    results: Sequence[Any],
    douts: Sequence[Any],
    attrs: dict[str, Any],
    wanted: Wanted | None = None,
) -> list[Any]:
    """Gradients per input slot of *op* (None where there is none), by running its gradient operator.

    Absent output gradients are zeros where the rule cannot do without them, as in a program.
    """
    assert op.rule is not None
    assert op.grad_op is not None
    masks = wanted if wanted is not None else wanted_for(op, operands)
    gradients: list[Any] = [None] * len(operands)
    if not any(any(m) for m in masks):
        return gradients
    grads = call(op.grad_op, gradient_operands(op, operands, results, completed(op, results, douts)), attrs, masks)
    for place, gradient in zip(op.rule.wrt, grads, strict=True):
        gradients[place] = gradient
    return gradients


def completed(op: OpDef, results: Sequence[Any], douts: Sequence[Any]) -> list[Any]:
    """*douts* with zeros for those that are absent, if the rule cannot do without."""
    assert op.rule is not None
    if op.rule.takes_none:
        return list(douts)
    late = {r.place for r in op.rule.reads if r.late}
    return [zeros(r) if d is None and j not in late else d for j, (d, r) in enumerate(zip(douts, results, strict=True))]


def second_pull(
    op: OpDef,
    operands: Sequence[Operand],
    results: Sequence[Any],
    douts: Sequence[Any],
    weights: Sequence[Any],
    attrs: dict[str, Any],
) -> tuple[list[Any], list[Any]]:
    """Gradients of the weighted sum of the gradients, by the inputs and by the output gradients."""
    grad_op = op.grad_op
    assert op.rule is not None
    assert grad_op is not None
    assert grad_op.rule is not None
    filled = completed(op, results, douts)
    read = gradient_operands(op, operands, results, filled)
    grads = call(grad_op, read, attrs, wanted_for(op, operands))
    second = pull(grad_op, read, grads, [weights[i] for i in op.rule.wrt], attrs)
    by: dict[str, list[Any]] = {
        "in": [None] * len(operands),
        "out": [None] * len(results),
        "dout": [None] * len(results),
    }
    for r, gradient in zip(op.rule.reads, second, strict=True):
        by[r.kind][r.place] = gradient
    if any(g is not None for g in by["out"]):
        through = pull(op, operands, results, by["out"], attrs)
        by["in"] = [added(a, b) for a, b in zip(by["in"], through, strict=True)]
    return by["in"], by["dout"]


def added(a: Any, b: Any) -> Any:
    if a is None or b is None:
        return b if a is None else a
    if isinstance(a, (list, tuple)):
        return [added(x, y) for x, y in zip(a, b, strict=True)]
    return a + b


def zeros(value: Any) -> Any:
    return nested(lambda a: np.zeros_like(np.asarray(a)), value)


def dot(values: Any, weights: Any) -> float:
    """The sum of the products of corresponding elements; an absent value or weight counts as zero.

    Of complex numbers real and imaginary parts are multiplied apart.
    """
    total = 0.0
    for v, w in zip(values, weights, strict=True):
        if v is None or w is None:
            continue
        if isinstance(v, (list, tuple)):
            total += dot(v, w)
        else:
            total += float(np.sum(np.asarray(v) * np.conj(np.asarray(w))).real)
    return total


def direction(op: OpDef, operands: Sequence[Operand], rng: np.random.Generator) -> list[Any]:
    """A random direction in the space of the inputs that have a gradient; None for the others."""
    assert op.rule is not None
    return [
        nested(lambda a: random_like(a, lambda s: rng.normal(size=s)) if is_float(a) else None, v)
        if i in op.rule.wrt
        else None
        for i, v in enumerate(operands)
    ]


def moved(operands: Sequence[Operand], along: Sequence[Any], step: float) -> list[Any]:
    """*operands*, *step* further in a direction."""
    result: list[Any] = []
    for v, d in zip(operands, along, strict=True):
        if v is None or d is None:
            result.append(v)
        elif isinstance(v, (list, tuple)):
            result.append(moved(v, d, step))
        else:
            result.append(v + step * d)
    return result


def difference(function: Callable[[float], float], step: float = 1e-6) -> float:
    """The central difference of *function* at 0."""
    return (function(step) - function(-step)) / (2 * step)
