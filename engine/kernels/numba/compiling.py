"""Generated functions compiled by LLVM, as Numba brings it: once in a process, once on a machine with a disk."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import platform
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from ...files import user_cache
from .emission import TABLE, emitted
from .hot import AT_WORK
from .loops import inner_loop
from .source import Source

FORM = 2
"""To be raised when what generated functions are given changes, or how they are compiled."""

FOLDER, ENDING = "numba", ".compiled"
"""Where compiled functions are kept in the user's cache, and what the names of their files end in: a file each, named
by what it was compiled from, by what and for which CPU."""

RELEASED = 1 << 15
"""Elements from which a function lets other threads of Python run."""

_FASTCALL = 0x80
"""``METH_FASTCALL``."""


class _Definition(ctypes.Structure):
    """``PyMethodDef``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


class _Process:
    """What is one for the process.

    Attributes:
        definitions: by the key of its content, of every function that is there.
        loaded: every engine, which holds the code of one function, with its definition. Functions of Python point at
            both for as long as they live, so nothing leaves it.
    """

    definitions: dict[str, _Definition]
    loaded: list[tuple[Any, _Definition]]


_Process.definitions = {}
_Process.loaded = []


def compiled(source: Source, dtypes: Sequence[str]) -> Callable[..., Any]:
    """The function of *source* over arrays of these types, operands first, for the sizes of its loops."""
    key = _key(source, dtypes)
    with AT_WORK:
        if key not in _Process.definitions:
            content = user_cache.read(FOLDER, key + ENDING) or b""
            # LLVM ends the process over what is no object file, so it sees nothing that was not written for this key.
            mark = key.encode()
            definition = _loaded(key, content.removeprefix(mark)) if content.startswith(mark) else None
            if definition is None:
                content = _made(key, source, dtypes)
                user_cache.keep(FOLDER, key + ENDING, mark + content)
                definition = _loaded(key, content)
            if definition is None:
                raise RuntimeError("LLVM cannot load what it has compiled")
            _Process.definitions[key] = definition
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(_Process.definitions[key]), _table(source), None)  # type: ignore[no-any-return]


def _table(source: Source) -> np.ndarray[Any, Any]:
    """What a function of *source* is told in this process; see :data:`emission.TABLE`."""
    python = ctypes.pythonapi
    names = [python.Py_IncRef, python.PyEval_SaveThread, python.PyEval_RestoreThread]
    retain, *lock = [ctypes.cast(f, ctypes.c_void_p).value for f in names]
    if np.prod(source.dims) < RELEASED:
        lock = [0, 0]
    start = dict(zip(TABLE, (retain, id(None), *lock), strict=True))
    loops = [n for loop in source.loops for n in inner_loop(*loop)]
    return np.array([*start.values(), *source.dims, 0, source.dims[0], *loops], np.int64)


@functools.cache
def _header() -> int:
    """The bytes before the address of the elements in an array of NumPy (``PyArrayObject``, a stable interface).

    Raises:
        RuntimeError: it is not there.
    """
    array, size = np.zeros(3), object.__basicsize__
    if ctypes.c_void_p.from_address(id(array) + size).value != array.ctypes.data:
        raise RuntimeError("arrays of another structure")
    return size


@functools.cache
def _machine() -> Any:
    """What LLVM is told of this CPU."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), opt=3, jit=True
    )


@functools.cache
def versions() -> str:
    """What a compiled function depends on beside its source."""
    features = llvm.get_host_cpu_features().flatten()
    parts = [FORM, _header(), llvmlite.__version__, llvm.llvm_version_info, platform.machine()]
    return " ".join(map(str, [*parts, llvm.get_host_cpu_name(), features]))


def _key(source: Source, dtypes: Sequence[str]) -> str:
    content = repr((versions(), source.text, source.rooms, len(source.dims), dtypes))
    return hashlib.sha256(content.encode()).hexdigest()


def _name(key: str) -> str:
    return f"group_{key[:32]}"


def _made(key: str, source: Source, dtypes: Sequence[str]) -> bytes:
    """The object file with the function. No fast maths: what is computed is what IEEE says."""
    machine = _machine()
    with llvm.parse_assembly(emitted(_name(key), source, dtypes, _header())) as module:
        module.triple, module.data_layout = machine.triple, str(machine.target_data)
        module.verify()
        tuning = llvm.create_pipeline_tuning_options(speed_level=3)
        tuning.loop_vectorization = tuning.slp_vectorization = True
        builder = llvm.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        return machine.emit_object(module)  # type: ignore[no-any-return]


def _loaded(key: str, content: bytes) -> _Definition | None:
    """The function of an object file; None where it holds none."""
    name = _name(key)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    try:
        engine.add_object_file(llvm.ObjectFileRef.from_data(content))
        engine.finalize_object()
        address = engine.get_function_address(name)
    except Exception:  # whatever it is that was kept: it is compiled again
        return None
    if not address:
        return None
    definition = _Definition(name.encode(), address, _FASTCALL, None)
    _Process.loaded.append((engine, definition))
    return definition
