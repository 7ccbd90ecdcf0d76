"""The calls that are recorded: the samples of the definitions, as somebody who appends operators writes them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.ops import compat, registry
from gradtool.engine.ops.opdef import OpDef, Trait
from gradtool.engine.ops.samples import Sample

from . import listed

SAMPLES = 2
"""How many samples of an operator are recorded."""


def calls() -> dict[str, Any]:
    """Label -> what ``record.appended`` takes, for every type that Paddle has as well."""
    return {label: call for type_ in listed.have() for label, call in calls_of(registry.get_by_type(type_))}


def calls_of(op: OpDef) -> Iterator[tuple[str, Any]]:
    """The calls of one operator."""
    if op.holds_blocks or op.trait & Trait.EFFECT:
        return
    for n, sample in enumerate(op.make_samples()):
        if n >= SAMPLES:
            return
        yield f"{op.type}/{n}", _call(op, sample)


def _call(op: OpDef, sample: Sample) -> Any:
    operands = [_arrays(v) for v in sample.operands]
    inputs = {slot.name: arrays for slot, arrays in zip(op.inputs, operands, strict=True) if arrays}
    state.random.reset(0)
    with np.errstate(all="ignore"):
        result = op.run(registry.reference_backend(), _single(sample.operands), sample.attrs)
    results = result if isinstance(result, tuple) and len(op.outputs) > 1 else (result,)
    outputs = {
        slot.name: len(value) if slot.many else 1
        for slot, value in zip(op.outputs, results, strict=True)
        if value is not None and not (slot.optional and slot.many and not value)
    }
    outputs.update(dict.fromkeys(compat.KEPT.get(op.type, ()), 1))
    attrs = {n: list(v) if isinstance(v, tuple) else v for n, v in sample.attrs.items() if v is not None}
    differentiated: list[str] = []
    wrt: list[str] = []
    if op.rule is not None:
        read = {r.place for r in op.rule.reads if r.kind == "dout" and not r.late}
        differentiated = [op.outputs[j].name for j in sorted(read) if _real(results[j])]
        wrt = [op.inputs[i].name for i in op.rule.wrt if _real(operands[i])]
    return op.type, inputs, attrs, outputs, differentiated, wrt


def _single(operands: Sequence[Any]) -> list[Any]:
    """The operands with real numbers in single precision."""
    return [_arrays(v) if isinstance(v, (list, tuple)) else next(iter(_arrays(v)), None) for v in operands]


def _arrays(operand: Any) -> list[np.ndarray]:
    if operand is None:
        return []
    if isinstance(operand, (list, tuple)):
        return [a for v in operand for a in _arrays(v)]
    array = np.asarray(operand)
    return [array.astype({"f": "float32", "c": "complex64"}.get(array.dtype.kind, array.dtype))]


def _real(value: Any) -> bool:
    arrays = value if isinstance(value, (list, tuple)) else [value]
    return any(a is not None and np.asarray(a).dtype.kind in "fc" for a in arrays)
