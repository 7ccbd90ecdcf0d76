"""Functions that ``generated_functions.py`` calls where a call is not the ordinary one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import source
from ..core.errors import GradtoolError, KernelError, describe
from ..core.rows import RowArray
from ..ops.opdef import Operand, specs_of
from ..ops.readings import flatten
from .saved import packing
from .tape import GradNode, PackedValues, Place, each
from .tensor import IDLE, Array, Tensor, Version, array_of

if TYPE_CHECKING:
    from .recipe import BoundOp

GHOST_FROM = 1 << 12
"""Bytes from which a tensor that is needed for its shape only is replaced by one that holds a single element."""


def versions_of(values: Sequence[Any]) -> tuple[Any, ...]:
    """The write counters that tensors have so far, each followed by what it says now."""
    versions: list[Any] = []
    for v in values:
        if v is not None and v._version is not None:
            versions += (v._version, v._version.count)
    return tuple(versions)


def cause(error: Exception) -> Exception | None:
    return None if isinstance(error, GradtoolError) else error


def explain_failure(call: BoundOp, arrays: list[Operand], error: Exception) -> GradtoolError:
    """The clearest error there is for a kernel that failed: the shape rule's, if it refuses the operands too."""
    op = call.recipe.op
    site = source.describe(source.here())
    text = f"{op.type}({', '.join(map(str, specs_of(v for v in arrays if v is not None)))})"
    if not isinstance(error, GradtoolError):
        try:
            op.infer_specs(specs_of(arrays), call.attrs)
        except GradtoolError as refused:
            return describe(refused, op=text, made=site)
        return KernelError(f"{op.type} failed: {error}", op=text, made=site)
    return describe(error, op=text, made=site)


def ghost(array: Array) -> Array:
    """An array of the same shape and dtype that does not keep a large buffer alive."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def slim(value: Tensor) -> Array:
    """Return what is kept of a tensor that is needed only for its shape."""
    return value.array if value.array.nbytes < GHOST_FROM else ghost(value.array)


def settle_result(array: Any, shares: bool, sources: Sequence[Any]) -> Tensor | None:
    """The tensor for one result, in storage of its own or sharing an operand's and the write counter of that.

    Args:
        shares: whether it is the operand's storage on purpose; a kernel may return it at any time.
        sources: the operands; tensors, lists of them or None.
    """
    if array is None:
        return None
    if type(array) is not np.ndarray:
        return Tensor(array) if isinstance(array, RowArray) else tensor_of(np.asarray(array))
    for source_ in sources:
        if source_ is None:
            continue
        for v in source_ if isinstance(source_, (list, tuple)) else (source_,):
            if is_of(array, v.array):
                # Writing a view in place writes its source.
                return tensor_of(array, v._version or v.version) if shares else tensor_of(apart(array, v.array))
    return tensor_of(array)


def is_of(array: Array, held: Array) -> bool:
    """Return whether *array* is *held*, or a view of the storage that this is in."""
    if array is held:
        return True
    owner, base = held.base if type(held) is np.ndarray else None, array.base
    while base is not None:
        if base is held or base is owner:
            return True
        base = getattr(base, "base", None)  # windows are views of a view
    return False


def apart(array: Array, held: Array) -> Array:
    """A copy of *array*, which :func:`is_of` *held*."""
    return array.copy(
        "K" if array is held else "C"
    )  # of a tensor spread over a dimension, K would turn the order round


def tensor_of(array: Array, version: Version | None = None) -> Tensor:
    """A tensor as ``Tensor(array, version=version)`` makes it, for an array of NumPy."""
    new: Tensor = object.__new__(Tensor)
    new.array = array
    new._stop = True
    new.node = new._leaf = new._name = None
    new._version = version
    new.index = 0
    new.loc = source.NOWHERE
    new.persistable = False
    return new


def record_by_loops(call: BoundOp, operands: Sequence[Operand], results: Sequence[Operand]) -> None:
    """Make the node of one call and give *results* their places on the tape."""
    recipe = call.recipe
    counted: list[Any] = []
    values: list[Operand] = []
    hooks = packing.get()
    # what the rule reads
    sides: dict[str, Sequence[Operand]] = {"in": operands, "out": results}
    for kind, place, like, _ in recipe.reads:
        value = sides[kind][place] if kind in sides else None
        if value is None:
            values.append(None)
        elif like:
            values.append(each(value, slim))
        elif hooks is not None:
            values.append(each(value, hooks.pack if kind == "in" else hooks.pack_values))
        else:
            # Only the values of a result: the node must not point to what points to it.
            values.append(value if kind == "in" else each(value, array_of))
            entries = [value] if isinstance(value, Tensor) else value
            counted += entries
            if kind == "out":
                for v in entries:
                    _ = v.version  # made now: afterwards the list's entries can't be told apart
    # the node
    outs = flatten(results, recipe.outs)
    wrt: list[Place | None] = [None if v is None or v._stop else v.tape_place() for v in flatten(operands, recipe.wrt)]
    node = GradNode().begin(
        call,
        tuple(values) if hooks is None else PackedValues(values),
        tuple(wrt),
        tuple([(v.array.shape, v.array.dtype) for v in outs]),
    )
    versions = versions_of(counted)
    if versions:
        node.versions = versions
    if recipe.listed or any(s.many for s in recipe.op.outputs):
        node.wrt_sizes = [_size(operands[i]) for i in recipe.wrt]
        node.out_sizes = [_size(results[j]) for j in recipe.outs]
    # the places of the results
    for i, v in enumerate(outs):
        v.node = node
        v.index = i
        v._stop = False
    for j in recipe.idle:
        if results[j] is not None:
            results[j]._stop = IDLE


def _size(value: Any) -> int | None:
    return len(value) if isinstance(value, (list, tuple)) else None
