"""A convolution that oneDNN has compiled for sizes and layouts, as a function over NumPy's arrays.

oneDNN chooses the layout that its kernel is fastest in; arrays are brought into it and out of it where they lie
otherwise. Buffers for that are taken for the length of a call, so that a kept primitive holds code and no arrays.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_void_p
from typing import Any, NamedTuple

import numpy as np

from .library import F32, Arg, ExecArgument, Library, Query, numbers


class ArrayLayout(NamedTuple):
    """Layout of the elements of an array of float32: its sizes, and strides in elements."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @classmethod
    def row_major(cls, shape: Sequence[int]) -> ArrayLayout:
        """Row after row, as NumPy makes arrays."""
        strides = [1]
        for size in reversed(shape[1:]):
            strides.insert(0, strides[0] * size)
        return cls(tuple(shape), tuple(strides))


class PrimitiveOperand(NamedTuple):
    """An array that a primitive reads or writes: what it is to it, how to ask for the layout it wants, how it lies.

    Without a question it takes the array as it lies.
    """

    arg: Arg
    query: Query | None
    layout: ArrayLayout


class Primitive:
    """A primitive with the reorders around it.

    Args:
        library: oneDNN.
        description: of the primitive; it is freed here.
        operands: what it reads, in the order in which arrays are given.
        result: what it writes.
        first: the description of a primitive that reads the first operand, and leaves a workspace to this one; it is
            freed here.
        shape: that of the array it gives; the layout of the result may have more dimensions.
    """

    def __init__(
        self,
        library: Library,
        description: c_void_p,
        operands: Sequence[PrimitiveOperand],
        result: PrimitiveOperand,
        shape: Sequence[int],
        first: c_void_p | None = None,
    ) -> None:
        self._library = library
        self._point, self._execute, self._wait = map(
            library.function, ("memory_set_data_handle", "primitive_execute", "stream_wait")
        )
        self._stream = library.stream
        self._handles: list[tuple[str, c_void_p]] = []
        self._lock = threading.Lock()  # memories are pointed at the arrays of one call
        self._shape = tuple(shape)
        self._memories: list[c_void_p] = []
        self._buffers: list[tuple[c_void_p, int]] = []
        self._steps: list[tuple[c_void_p, int, Any]] = []
        weakref.finalize(self, _free, library, self._handles)

        before, pairs, after = [], [], []
        for operand in operands:
            outside, inside = self._place_operand(description, operand)
            pairs.append((operand.arg, inside.memory))
            if inside is not outside:
                before.append(self._reorder(outside, inside))
        if first is not None:
            workspace = (Arg.WORKSPACE, self._buffer(library.layout(first, Query.WORKSPACE)).memory)
            unread = (Arg.DST, self._buffer(library.layout(first, Query.DST)).memory)
            before.append(self._primitive(first, [pairs[0], unread, workspace]))
            pairs = [*pairs[1:], workspace]
        outside, inside = self._place_operand(description, result)
        pairs.append((result.arg, inside.memory))
        if inside is not outside:
            after.append(self._reorder(inside, outside))
        self._steps += [*before, self._primitive(description, pairs), *after]

    def __call__(self, *arrays: Any) -> Any:
        """Compute *arrays*, which lie as their layouts say."""
        # Written for small products too: functions are looked up once, and each line costs as much as a tenth of one.
        out = np.empty(self._shape, np.float32)
        point, stream, failed = self._point, self._stream, 0
        with self._lock:
            buffers = [np.empty(size, np.uint8) for _, size in self._buffers]  # alive until the end of the call
            for memory, array in zip(self._memories, (*arrays, out), strict=True):
                failed |= point(memory, array.__array_interface__["data"][0])
            for (memory, _), buffer in zip(self._buffers, buffers, strict=True):
                failed |= point(memory, buffer.__array_interface__["data"][0])
            for primitive, count, pairs in self._steps:
                failed |= self._execute(primitive, stream, count, pairs)
            failed |= self._wait(stream)
        if failed:
            raise self._library.failure("primitive_execute", failed)
        return out

    # -- making it ------------------------------------------------------------------------------------------------

    def _own(self, kind: str, handle: c_void_p) -> c_void_p:
        self._handles.append((kind, handle))
        return handle

    def _place_operand(self, description: c_void_p, operand: PrimitiveOperand) -> tuple[_Place, _Place]:
        """Return where the array is, and where the primitive reads or writes it: the same where it may lie so."""
        library = self._library
        own = self._own("memory_desc", describe(library, operand.layout))
        outside = self._memory(own)
        self._memories.append(outside.memory)
        wanted = own if operand.query is None else library.layout(description, operand.query)
        return outside, outside if library.equal(own, wanted) else self._buffer(wanted)

    def _primitive(self, description: c_void_p, pairs: Sequence[tuple[int, c_void_p]]) -> tuple[c_void_p, int, Any]:
        """The step that a description describes, which is freed; buffers are reached in *pairs*."""
        library = self._library
        scratch = library.layout(description, Query.SCRATCHPAD)
        if library.size(scratch):
            pairs = [*pairs, (Arg.SCRATCHPAD, self._buffer(scratch).memory)]
        step = self._step(self._own("primitive", library.make("primitive_create", description)), pairs)
        library.call("primitive_desc_destroy", description)
        return step

    def _memory(self, layout: c_void_p) -> _Place:
        handle = self._library.make("memory_create", layout, self._library.engine, None)
        return _Place(layout, self._own("memory", handle))

    def _buffer(self, layout: c_void_p) -> _Place:
        place = self._memory(layout)
        self._buffers.append((place.memory, self._library.size(layout)))
        return place

    def _reorder(self, source: _Place, target: _Place) -> tuple[c_void_p, int, Any]:
        library = self._library
        engine = library.engine
        description = library.make("reorder_primitive_desc_create", source.layout, engine, target.layout, engine, None)
        primitive = self._own("primitive", library.make("primitive_create", description))
        library.call("primitive_desc_destroy", description)
        return self._step(primitive, [(Arg.SRC, source.memory), (Arg.DST, target.memory)])

    def _step(self, primitive: c_void_p, pairs: Sequence[tuple[int, c_void_p]]) -> tuple[c_void_p, int, Any]:
        return primitive, len(pairs), (ExecArgument * len(pairs))(*(ExecArgument(arg, memory) for arg, memory in pairs))


class _Place(NamedTuple):
    """A memory, and its layout."""

    layout: c_void_p
    memory: c_void_p


def describe(library: Library, layout: ArrayLayout) -> c_void_p:
    """A description of *layout* for oneDNN."""
    shape, strides = map(numbers, layout)
    return library.make("memory_desc_create_with_strides", len(layout.shape), shape, F32, strides)


def _free(library: Library, handles: Sequence[tuple[str, c_void_p]]) -> None:
    destroy: Callable[..., None] = library.call
    for kind, handle in reversed(handles):
        destroy(f"{kind}_destroy", handle)
