"""Generated functions carried out by Python, element by element: what Numba makes of them, without the compiling."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradtool.engine.kernels.numba.compiling import compile_source
from gradtool.engine.kernels.numba.fused import FusedKernel
from gradtool.engine.kernels.numba.group_function import Function
from gradtool.engine.kernels.numba.groups import InstructionGroup
from gradtool.engine.kernels.numba.loops import inner_loop
from gradtool.engine.kernels.numba.source import Source
from gradtool.engine.kernels.numba.tuning import fuse, observe

LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)


def at(place: Any, index: int) -> Any:
    return place.reshape(-1)[index]


def put(place: Any, index: int, value: Any) -> None:
    assert np.asarray(value).dtype == place.dtype, (value, place.dtype)
    place.reshape(-1)[index] = value


def address(place: Any, index: int) -> int:
    return int(place.ctypes.data) + int(index) * int(place.itemsize)


def choice(condition: Any, x: Any, y: Any) -> Any:
    assert np.asarray(x).dtype == np.asarray(y).dtype
    return x if condition else y


def loop(function: int, data: int, a: int, b: int, c: int, count: int, *steps: int) -> None:
    places, strides = (ctypes.c_void_p * 3)(a, b, c), (ctypes.c_ssize_t * 3)(*steps)
    LOOP(int(function))(places, (ctypes.c_ssize_t * 1)(count), strides, int(data) or None)


def products(function: int, data: int, a: int, b: int, c: int, count: int, *steps: int) -> None:
    places, strides = (ctypes.c_void_p * 3)(a, b, c), (ctypes.c_ssize_t * 5)(0, 0, 0, *steps)
    LOOP(int(function))(places, (ctypes.c_ssize_t * 2)(1, count), strides, int(data) or None)


def summed(place: Any, index: int, count: int) -> Any:
    return np.add.reduce(place.reshape(-1)[index : index + count])


def largest(place: Any, index: int, count: int, function: int, data: int) -> Any:
    return np.maximum.reduce(place.reshape(-1)[index : index + count])


def smallest(place: Any, index: int, count: int, function: int, data: int) -> Any:
    return np.minimum.reduce(place.reshape(-1)[index : index + count])


NAMES = {"np": np, "at": at, "put": put, "address": address, "choice": choice, "root": np.sqrt}
NAMES |= {"loop": loop, "products": products, "summed": summed, "largest": largest, "smallest": smallest}


WIDER = 64
"""How many times as many elements an array may have as the loops go over, if parts of it are read or written."""

CALLED = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)


def computing(source: Source, dtypes: Sequence[str]) -> Callable[..., None]:
    """The function of *source*, of arrays."""
    names: dict[str, Any] = dict(NAMES)
    for name, dtype, count in source.rooms:
        names[name + "_"] = lambda dtype=dtype, count=count: np.empty(count, dtype)
    exec(source.text, names)
    loops = np.array([n for loop in source.loops for n in inner_loop(*loop)], np.int64)

    def group(*arrays: Any) -> None:
        assert [a.dtype.name for a in arrays] == dtypes
        names["group"](*arrays, loops, *source.dims, 0, source.dims[source.divided])

    return group


def running(source: Source, dtypes: Sequence[str]) -> Callable[..., None]:
    """The same, compiled."""
    function = compile_source(source, dtypes)

    def group(*arrays: Any) -> None:
        places = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
        CALLED(function.address)(places, function.numbers.ctypes.data)

    return group


def interpreted(source: Source, dtypes: Sequence[str]) -> Function:
    """In place of ``compiling.compiled``."""
    return callable_from_c(computing(source, dtypes), source, dtypes, WIDER)


def callable_from_c(group: Callable[..., None], source: Source, dtypes: Sequence[str], wider: int = 1) -> Function:
    """*group*, a function of arrays that have as many elements as the loops go over, as one of their addresses."""
    size = wider * int(np.prod(source.dims))

    def called(places: Any, numbers: Any) -> None:
        arrays = []
        for i, name in enumerate(dtypes):
            dtype = np.dtype(name)
            memory = (ctypes.c_byte * (size * dtype.itemsize)).from_address(places[i])
            arrays.append(np.frombuffer(memory, dtype))
        group(*arrays)

    function = CALLED(called)
    return Function(ctypes.cast(function, ctypes.c_void_p).value or 0, np.zeros(1, np.int64), function)


def always(group: InstructionGroup) -> bool:
    """Every group is worth a function."""
    return True


def tuned(plan: Any, regs: list[Any], compiling: Any = interpreted, pays: Any = always) -> list[FusedKernel]:
    """Run *plan* once, and have its groups computed by generated functions from then on."""
    plan.tuning = None
    steps, kernels = fuse(plan, observe(plan, plan.steps(regs)), pays)
    for kernel in kernels:
        kernel.compile(compiling)
    plan.carry_out(steps)
    return kernels


def instruction(op: Any, kernel: Callable[..., Any], ins: Sequence[int], outs: Sequence[int]) -> Any:
    """What the pass reads of an instruction."""
    return SimpleNamespace(
        op=SimpleNamespace(op=op),
        kernel=kernel,
        ins=tuple(ins),
        outs=tuple(outs),
        spread=True,
        effect=False,
        in_turn=False,
        dead=(),
    )
