"""Rows of a table that numbers say, and the gradient by the table, as functions of their own.

NumPy adds rows element by element at places that are computed first, which takes three times as long as making the
zeros. Rows are added here in the order of the numbers, as NumPy does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .groups import ArrayFacts, InstructionGroup
from .layout import full
from .nodes import GroupValue
from .source import Source
from .stages import Stage
from .trace import Traced

_FLOATS = (np.dtype("float32"), np.dtype("float64"))
_WHOLE = (np.dtype("int32"), np.dtype("int64"))

_ROWS = """
def group(i0, i1, o0, loops, n0, n1, n2, begin, end):
    for k in range(begin, end):
        r0 = np.int64(at(i0, k)) * n1
        r1 = k * n1
        for j in range(n1):
            put(o0, r1 + j, at(i1, r0 + j))
"""

_ADDED = """
def group(i0, i1, o0, loops, n0, n1, n2, n3, begin, end):
    for k in range(begin, end):
        r0 = np.int64(at(i0, k)) * n1
        r1 = k * n3
        for j in range(n1):
            put(o0, r0 + j, at(o0, r0 + j) + at(i1, r1 + j))
"""


def group_lookup(instruction: Any, index: int, sight: Any) -> InstructionGroup | None:
    """The instruction as a group of its own, if it looks up rows or adds to them; None where it is another."""
    form = None if instruction.op is None or sight is None else _FORMS.get(instruction.op.type)
    if form is None:
        return None
    attrs = instruction.op.attrs
    seen = {r: s for r, s in zip(instruction.ins, sight[0], strict=True) if s is not None}
    if attrs.get("padding_idx", -1) != -1 or attrs.get("is_sparse") or len(seen) != len(instruction.ins):
        return None
    ids, table = (seen[r] for r in instruction.ins[:2])
    if ids.dtype not in _WHOLE or not ids.contiguous or len(table.shape) != 2 or not math.prod(ids.shape):
        return None
    if sight[1][0] is None or sight[1][0].dtype not in _FLOATS:
        return None
    return form(instruction, index, seen, sight[1][0])


def _rows(instruction: Any, index: int, seen: dict[int, ArrayFacts], out: ArrayFacts) -> InstructionGroup | None:
    ids, table = instruction.ins
    rows, width = seen[table].shape
    if not seen[table].contiguous or seen[table].dtype != out.dtype:
        return None
    dims = [math.prod(seen[ids].shape), width, rows]
    source = Source(_ROWS, [ids, table], dims, [], [], frozenset())
    return _group(instruction, index, seen, source, out, set())


def _group_addition(
    instruction: Any, index: int, seen: dict[int, ArrayFacts], out: ArrayFacts
) -> InstructionGroup | None:
    ids, _, slope = instruction.ins
    rows, width = out.shape
    given = seen[slope]
    count = math.prod(seen[ids].shape)
    if given.dtype != out.dtype or math.prod(given.shape) != count * width:
        return None
    step = width if given.contiguous else _apart(given)
    if step is None:
        return None
    strided = set() if given.contiguous else {slope}
    source = Source(_ADDED, [ids, slope], [count, width, rows, step], [], [], frozenset([0]))
    return _group(instruction, index, seen, source, out, strided)


def _apart(seen: ArrayFacts) -> int | None:
    """Return how many elements the rows of a part of what was joined lie apart; None where it lies otherwise."""
    size = seen.dtype.itemsize
    if len(seen.shape) < 2 or seen.strides[-1] != size or seen.strides[-2] % size or seen.strides[-2] <= 0:
        return None
    for k in range(len(seen.shape) - 2):
        if seen.strides[k] != seen.strides[k + 1] * seen.shape[k + 1]:
            return None
    return seen.strides[-2] // size


_FORMS: dict[str, Callable[[Any, int, dict[int, ArrayFacts], ArrayFacts], InstructionGroup | None]] = {
    "lookup_table_v2": _rows,
    "lookup_table_v2_grad": _group_addition,
}


def _group(
    instruction: Any, index: int, seen: dict[int, ArrayFacts], source: Source, out: ArrayFacts, strided: set[int]
) -> InstructionGroup:
    node = GroupValue(instruction.op.type, (), out.dtype, full(math.prod(out.shape)))
    (register,) = instruction.outs
    return InstructionGroup(
        [index],
        list(seen),
        [register],
        {register: Traced(node, out.shape)},
        seen,
        results=[node],
        arrays=[node],
        stages=[Stage(source, [0], 0)],
        ends={instruction.ins[0]: source.dims[2]},
        strided=strided,
    )


def insert_lookups(
    order: Sequence[int | InstructionGroup], code: Sequence[Any], sights: Sequence[Any]
) -> list[int | InstructionGroup]:
    """*order*, what carries *code* out, with those instructions as groups."""
    return [
        step if isinstance(step, InstructionGroup) else group_lookup(code[step], step, sights[step]) or step
        for step in order
    ]
