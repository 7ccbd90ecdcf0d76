"""Writes to arrays of tensors at places where nothing can have been: their gradients pass the array as it is.

The gradient of what an array held before a write is that of what it holds after it, without the place. Where the place
was empty nobody reads that entry, and the program shows no operator for it, as Paddle's.
"""

from __future__ import annotations

from ..ir.operator import Operator, each
from ..ir.variable import Variable
from .differentiator import Differentiator
from .values import BlockValues


def writes_new_place(grads: Differentiator, op: Operator) -> bool:
    """Return whether *op*, a ``write_to_array``, surely writes a place where the array holds nothing."""
    v = op.outputs[0]
    assert isinstance(v, Variable)
    if v not in grads.new_places:
        grads.new_places[v] = _writes_of_new_places(grads, v)
    return op in grads.new_places[v]


def _writes_of_new_places(grads: Differentiator, v: Variable) -> set[Operator]:
    """The operators that write places of *v* that are surely new; one walk over all that write it."""
    new: set[Operator] = set()
    written: set[int] = set()
    known = v.block is grads.block  # which places have been written, all of them
    for version in range(1, grads.values.last.get(v, 0) + 1):
        op = grads.values.maker((v, version))
        if op is None or op.type != "write_to_array":
            known = False
            continue
        place = _constant(grads, op)
        if _is_end(grads.values, op):
            new.add(op)
            place = max(written, default=-1) + 1 if known else None
        elif known and place is not None and place not in written:
            new.add(op)
        known &= place is not None
        written.update(() if place is None else (place,))
    return new


def _constant(grads: Differentiator, op: Operator) -> int | None:
    """The place that *op* writes, if the program says it."""
    index = op.inputs[1]
    if not isinstance(index, Variable) or index.block is not grads.block:
        return None
    maker = grads.values.maker(grads.values.read(op, index))
    if maker is None or maker.type != "fill_constant" or any(each(maker.inputs)):
        return None
    text = maker.attrs["str_value"]
    return int(float(text)) if text else int(maker.attrs["value"])


def _is_end(values: BlockValues, op: Operator) -> bool:
    """Return whether *op* writes at the length of the array that it finds."""
    index, array = op.inputs[1], op.outputs[0]
    if not isinstance(index, Variable) or not isinstance(array, Variable):
        return False
    maker = values.maker(values.read(op, index))
    if maker is None or maker.type != "lod_array_length" or maker.inputs[0] is not array or maker.block is not op.block:
        return False
    goes_on = len(op.inputs) > 2 and op.inputs[2] is not None
    found = values.version_read(op, array) if goes_on else (array, 0)
    return values.version_read(maker, array) == found
