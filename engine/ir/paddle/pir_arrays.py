"""Operators of the new IR on arrays of tensors.

An array is one variable, which is written in place, as in the programs of former versions: what a write makes has
another number in the file and is the same array.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from ...core.spec import TensorSpec
from ..operator import each
from ..program import Block, Program
from ..renew import spread_gradients
from ..variable import ARRAY, Variable

if TYPE_CHECKING:
    from .from_pir import PirReader


def create(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``create_array``: a variable, which no operator makes."""
    reader.results(block, "array", entry)


def _array(reader: PirReader, block: Block, entry: Any, operands: int) -> tuple[Variable, list[Variable]]:
    """The array that an operator takes, and its other operands."""
    reads = reader.reads(entry)
    if len(reads) != operands:
        reader.fail(f"{operands} operands are expected for an array, and {len(reads)} came")
    array, *others = [reader.tensor(block, number) for number in reads]
    if array.kind != ARRAY:
        reader.fail(f"'{array.name}' in the place of an array")
    return array, others


def write(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``array_write_``."""
    array, (x, i) = _array(reader, block, entry, 3)
    reader.append(block, "write_to_array", {"X": x, "I": i}, array)
    for number in reader.makes(entry):
        reader.bind_variable(number, array)


def read(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``array_read``."""
    array, (i,) = _array(reader, block, entry, 2)
    reader.append(block, "read_from_array", {"X": array, "I": i}, _result(reader, block, entry, "array_read"))


def length(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``array_length``."""
    array, _ = _array(reader, block, entry, 1)
    out = _result(reader, block, entry, "array_length")
    out.stop_gradient = True
    reader.append(block, "lod_array_length", {"X": array}, out)


def read_item(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``slice_array_dense``: the tensor at a place that is counted from the end where it is below 0."""
    reads = reader.reads(entry)
    place = reader.value(reads[1]).constant if len(reads) == 2 else None
    array, (i,) = _array(reader, block, entry, 2)
    out = _result(reader, block, entry, "array_read")
    if not isinstance(place, tuple) or len(place) != 1:
        reader.fail(f"the place {place} of an array")
    if place[0] < 0:
        end, place_from_end = i, reader.new(block, "array_length", i)
        reader.append(block, "lod_array_length", {"X": array}, place_from_end)
        i = reader.new(block, "place", i)
        reader.append(block, "elementwise_add", {"X": place_from_end, "Y": end}, i)
    reader.append(block, "read_from_array", {"X": array, "I": i}, out)


def pop(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``array_pop``: the tensor at a place, which the array then has no more."""
    array, _ = _array(reader, block, entry, 1)
    makes, index = reader.makes(entry), attrs.get("index")
    if len(makes) != 2 or type(index) is not int or not -(2**31) <= index < 2**31:
        reader.fail(f"a place {index} is taken out of an array")
    _, held = reader.results(block, "array_pop", entry)
    if len(held) != 1:
        reader.fail(f"{len(held)} tensors are taken out of an array at a time")
    (out,) = held
    out.spec = array.spec
    reader.untold.add(out)
    place = reader.new(block, "place", out)
    place.spec, place.stop_gradient = TensorSpec((1,), "int64"), True
    settings = {"shape": (1,), "dtype": place.dtype.code}
    reader.append(block, "fill_constant", {}, place, value=float(index), **settings)
    if index < 0:
        length, end = reader.new(block, "array_length", place), reader.new(block, "place", place)
        reader.append(block, "lod_array_length", {"X": array}, length)
        reader.append(block, "elementwise_add", {"X": length, "Y": place}, end)
        place = end
    reader.append(block, "read_from_array", {"X": array, "I": place}, out)
    reader.append(block, "array_popped", {"X": array, "I": place}, array)


def join(reader: PirReader, block: Block, entry: Any, attrs: Mapping[str, Any]) -> None:
    """``array_to_tensor``: all tensors as one."""
    array, _ = _array(reader, block, entry, 1)
    axis, stacked = attrs.get("axis"), attrs.get("use_stack")
    results = [v for held in reader.results(block, "array_to_tensor", entry) for v in held]
    if type(axis) is not int or type(stacked) is not bool or len(results) != 2:
        reader.fail("arrays are joined without an axis, or to more than a tensor and its parts")
    results[1].stop_gradient = True
    outs = {"Out": results[0], "OutIndex": results[1]}
    reader.append(block, "tensor_array_to_tensor", {"X": array}, outs, axis=axis, use_stack=stacked)


def _result(reader: PirReader, block: Block, entry: Any, stem: str) -> Variable:
    held = [v for variables in reader.results(block, stem, entry) for v in variables]
    if len(held) != 1:
        reader.fail(f"{len(held)} results in the place of one")
    return held[0]


def open_written(program: Program) -> None:
    """Let gradients through arrays that hold tensors with gradients, and what is computed of these.

    The file says of an array whether the empty one stops gradients, and of what is read later only that.
    """
    writes = [op for block in program.blocks for op in block.ops if op.type == "write_to_array"]
    changed = True
    while changed:
        closed = [(op, v) for op in writes for v in each(op.outputs) if v.stop_gradient]
        fresh = {v for op, v in closed if any(not x.stop_gradient for x in each(op.inputs[:1]))}
        for v in fresh:
            v.stop_gradient = False
        changed = bool(fresh)
        if fresh:
            spread_gradients(program.global_block(), fresh)


ARRAYS: Final = {
    ("1", "create_array"): create,
    ("1", "array_write"): write,
    ("1", "array_read"): read,
    ("1", "array_length"): length,
    ("1", "slice_array_dense"): read_item,
    ("1", "array_pop"): pop,
    ("1", "array_to_tensor"): join,
}
"""Dialect and name of what takes or makes arrays."""
