"""What generated code calls beside arithmetic: reading and writing by address, a choice, and loops of NumPy.

Elements are read without Numba's treatment of negative indices, which would keep LLVM from vectorising.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

types: Any = numba_types  # half of its names are there for type checkers


def _pointer(context: Any, builder: Any, type_: Any, value: Any) -> Any:
    """The address of the first element of an array, or of numbers on the stack."""
    if isinstance(type_, types.CPointer):
        return value
    return context.make_array(type_)(context, builder, value).data


@intrinsic
def at(typingctx: Any, place: Any, index: Any) -> Any:
    """The element of *place* at *index*."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.gep(_pointer(context, builder, place, args[0]), [args[1]], inbounds=True)
        return context.unpack_value(builder, place.dtype, pointer)

    return place.dtype(place, types.intp), code


@intrinsic
def put(typingctx: Any, place: Any, index: Any, value: Any) -> Any:
    """Write *value* to *place* at *index*."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.gep(_pointer(context, builder, place, args[0]), [args[1]], inbounds=True)
        context.pack_value(builder, place.dtype, args[2], pointer)
        return context.get_dummy_value()

    return types.void(place, types.intp, place.dtype), code


@intrinsic
def address(typingctx: Any, place: Any, index: Any) -> Any:
    """Where the element of *place* at *index* lies."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = builder.gep(_pointer(context, builder, place, args[0]), [args[1]], inbounds=True)
        return builder.ptrtoint(pointer, ir.IntType(64))

    return types.intp(place, types.intp), code


@intrinsic
def choice(typingctx: Any, condition: Any, x: Any, y: Any) -> Any:
    """*x* where the condition holds, else *y*, without a branch."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return (x(types.boolean, x, x), code) if x == y else None


@intrinsic
def root(typingctx: Any, x: Any) -> Any:
    """The square root."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic("llvm.sqrt", [args[0].type]), args)

    return x(x), code


@intrinsic
def loop(
    typingctx: Any, function: Any, data: Any, a: Any, b: Any, c: Any, count: Any, by_a: Any, by_b: Any, by_c: Any
) -> Any:
    """Call NumPy's inner loop *function*: ``(char **places, intp *count, intp *strides, void *data)``."""

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        entry, extra, *places, number, first, second, third = args
        word, byte = ir.IntType(64), ir.IntType(8).as_pointer()
        addresses = cgutils.alloca_once(builder, ir.ArrayType(byte, 3))
        strides = cgutils.alloca_once(builder, ir.ArrayType(word, 3))
        counts = cgutils.alloca_once(builder, word)
        for i, place in enumerate(places):
            builder.store(builder.inttoptr(place, byte), cgutils.gep_inbounds(builder, addresses, 0, i))
        for i, stride in enumerate((first, second, third)):
            builder.store(stride, cgutils.gep_inbounds(builder, strides, 0, i))
        builder.store(number, counts)
        called = builder.inttoptr(entry, ir.FunctionType(ir.VoidType(), [byte] * 4).as_pointer())
        pointers = [builder.bitcast(p, byte) for p in (addresses, counts, strides)]
        builder.call(called, [*pointers, builder.inttoptr(extra, byte)])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 9), code


@cache
def stack(dtype: str, count: int) -> Any:
    """A function that gives room for *count* numbers, for as long as the generated function runs."""
    number = from_dtype(np.dtype(dtype))

    @intrinsic
    def room(typingctx: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = context.get_data_type(number)
            return cgutils.alloca_once(builder, kind, size=ir.Constant(ir.IntType(64), count))

        return types.CPointer(number)(), code

    return room


NAMES = {"np": np, "at": at, "put": put, "address": address, "choice": choice, "root": root, "loop": loop}
"""What generated code may name, beside rooms on the stack."""
