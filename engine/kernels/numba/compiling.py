"""Generated functions compiled by LLVM, as Numba brings it: once in a process, once on a machine with a disk."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import platform
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from ...files import user_cache
from . import group_function, pool
from .emission import emit
from .hot import AT_WORK
from .loops import inner_loop
from .source import Source

FORM = 6
"""To be raised when what generated functions are given changes, or how they are compiled."""

FOLDER, ENDING = "numba", ".compiled"
"""Where compiled functions are kept in the user's cache, and what the names of their files end in: a file each, named
by what it was compiled from, by what and for which CPU."""

SHARED = 1 << 17
"""Elements from which a function that calls NumPy's loops for each (``exp``) is computed on several threads."""

PLAIN = 8
"""So many times the elements, of one that does not: memory takes its time, and what another thread has computed lies in
another processor's cache."""

_ONE = 0x8
"""``METH_O``: a function of one argument."""


class _Definition(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


class _Process:
    """State of the whole process.

    Attributes:
        addresses: by the key of its content, of every function that is there.
        loaded: every engine, which holds the code of one function. Functions of Python point at it for as long as they
            live, so nothing leaves it.
        definition: of what Python calls.
    """

    addresses: dict[str, int]
    loaded: list[Any]
    definition: _Definition | None


_Process.addresses = {}
_Process.loaded = []
_Process.definition = None


def compile_source(source: Source, dtypes: Sequence[str]) -> group_function.Function:
    """The function of *source* over arrays of these types, operands first, for the sizes of its loops."""
    key = _key(source.text, source.rooms, len(source.dims), dtypes)
    address = _address(key, lambda name: emit(name, source, dtypes))
    loops = [n for loop in source.loops for n in inner_loop(*loop)]
    share = _share() if large(source) else 0
    told = [share, source.unit, *source.dims, 0, source.dims[source.divided], *loops]
    return group_function.Function(address, np.array(told, np.int64))


def large(source: Source) -> bool:
    """Return whether the function of *source* is computed on several threads."""
    return source.unit > 0 and math.prod(source.dims) >= SHARED * (1 if source.heavy else PLAIN)


@functools.cache
def _share() -> int:
    """The address of the function that computes on several threads; zero where there are none."""
    if not pool.possible():
        return 0
    return pool.begin(_address(_key(pool.text("share")), pool.text))


def callable_of(call: group_function.GroupCall, registers: group_function.CallRegisters) -> Callable[[list[Any]], bool]:
    """Return a function that does *call* in a list of registers; it returns False for operands that it is not for."""
    with AT_WORK:
        if _Process.definition is None:
            address = _address(_key(group_function.entry("group")), group_function.entry)
            _Process.definition = _Definition(b"group", address, _ONE, None)
            # Never let go of: Python reads it when it lets go of a function, of which the last ones go when it ends.
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(_Process.definition))
    numbers, owned = group_function.table(call, registers)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    # The function holds the table, which is its *self*, and what it owns, which it takes for its module.
    return make(ctypes.addressof(_Process.definition), numbers, owned)  # type: ignore[no-any-return]


def _address(key: str, emit: Callable[[str], str]) -> int:
    """Of the function that *emit* writes, given its name: of this process, from the disk or compiled."""
    with AT_WORK:
        if key not in _Process.addresses:
            content = user_cache.read(FOLDER, key + ENDING) or b""
            # LLVM ends the process over what is no object file, so it sees nothing that was not written for this key.
            mark = key.encode()
            address = _load_object(key, content.removeprefix(mark)) if content.startswith(mark) else None
            if address is None:
                content = _make_object(key, emit(_name(key)))
                user_cache.keep(FOLDER, key + ENDING, mark + content)
                address = _load_object(key, content)
            if address is None:
                raise RuntimeError("LLVM cannot load what it has compiled")
            _Process.addresses[key] = address
        return _Process.addresses[key]


@functools.cache
def _machine() -> Any:
    """Return the description of this CPU for LLVM."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )


@functools.cache
def versions() -> str:
    """Return what a compiled function depends on besides its source."""
    features = llvm.get_host_cpu_features().flatten()
    parts = [FORM, llvmlite.__version__, llvm.llvm_version_info, platform.machine()]
    return " ".join(map(str, [*parts, llvm.get_host_cpu_name(), features]))


def _key(*content: Any) -> str:
    return hashlib.sha256(repr((versions(), *content)).encode()).hexdigest()


def _name(key: str) -> str:
    return f"group_{key[:32]}"


def _make_object(key: str, text: str) -> bytes:
    """The object file with the function. No fast maths: what is computed is what IEEE says."""
    machine = _machine()
    with llvm.parse_assembly(text) as module:
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=3)
        tuning.loop_vectorization = tuning.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)  # type: ignore[no-any-return]


def _load_object(key: str, content: bytes) -> int | None:
    """The address of the function of an object file; None where it holds none."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    try:
        engine.add_object_file(llvm.ObjectFileRef.from_data(content))
        engine.finalize_object()
        address = engine.get_function_address(_name(key))
    except Exception:  # whatever it is that was kept: it is compiled again
        return None
    if not address:
        return None
    engine.detach()  # threads are in there when the process ends
    _Process.loaded.append(engine)
    return int(address)
