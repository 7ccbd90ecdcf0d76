"""Generated functions compiled by Numba: once in a process, once on a machine where the disk keeps them."""

from __future__ import annotations

import functools
import hashlib
import pickle
import platform
import threading
from collections.abc import Callable, Sequence
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.core.serialize import dumps
from numba.np.numpy_support import from_dtype

from ...files import user_cache
from .intrinsics import NAMES, stack
from .loops import inner_loop
from .source import Source

FORM = 1
"""To be raised when what generated functions are given changes, or how they are compiled."""

FOLDER, ENDING = "numba", ".compiled"
"""Where compiled functions are kept in the user's cache, and what the names of their files end in: a file each, named
by what it was compiled from, by what and for which CPU."""

_compiled: dict[str, Callable[..., Any]] = {}
_compiling = threading.Lock()


def compiled(source: Source, operands: Sequence[np.ndarray[Any, Any]], results: Sequence[Any]) -> Callable[..., Any]:
    """The function of *source* for arrays of these types and numbers of dimensions.

    Args:
        operands, results: anything with ``dtype`` and ``ndim``, in the order of the parameters.
    """
    signature = [(np.dtype(a.dtype).name, a.ndim) for a in (*operands, *results)]
    key = _key(source, signature)
    with _compiling:
        function = _compiled.get(key)
        if function is None:
            function = _compiled[key] = _from_disk(key) or _made(key, source, signature)
    return function


def addresses(source: Source) -> np.ndarray[Any, Any]:
    """Where NumPy's loops lie in this process, as generated code takes them."""
    pairs = [inner_loop(*loop) for loop in source.loops]
    return np.array([n for pair in pairs for n in pair] or [0], np.int64)


@functools.cache
def versions() -> str:
    """What a compiled function depends on beside its source."""
    features = llvm.get_host_cpu_features().flatten()
    parts = [FORM, numba.__version__, llvmlite.__version__, np.__version__, platform.python_version()]
    return " ".join(map(str, [*parts, platform.machine(), llvm.get_host_cpu_name(), features]))


def _key(source: Source, signature: Sequence[tuple[str, int]]) -> str:
    content = repr((versions(), source.text, source.rooms, len(source.dims), signature))
    return hashlib.sha256(content.encode()).hexdigest()


def _from_disk(key: str) -> Callable[..., Any] | None:
    content = user_cache.read(FOLDER, key + ENDING)
    if content is None:
        return None
    try:
        with global_compiler_lock:
            _refresh()
            payload = pickle.loads(content)
            result = compiler.CompileResult._rebuild(cpu_target.target_context, *payload)
    except Exception:  # whatever it is that was kept: it is compiled again
        return None
    return result.entry_point  # type: ignore[no-any-return]


def _made(key: str, source: Source, signature: Sequence[tuple[str, int]]) -> Callable[..., Any]:
    names: dict[str, Any] = dict(NAMES)
    names.update((name + "_", stack(dtype, count)) for name, dtype, count in source.rooms)
    exec(compile(source.text, "<group>", "exec"), names)
    arrays = [types.Array(from_dtype(np.dtype(dtype)), ndim, "C") for dtype, ndim in signature]
    numbers = [types.intp] * (len(source.dims) + 2)
    with global_compiler_lock:
        _refresh()
        result = compiler.compile_extra(
            cpu_target.typing_context,
            cpu_target.target_context,
            names["group"],
            (*arrays, types.Array(types.int64, 1, "C"), *numbers),
            types.none,
            _flags(),
            {},
        )
        content = dumps(result._reduce())
    user_cache.keep(FOLDER, key + ENDING, content)
    return result.entry_point  # type: ignore[no-any-return]


def _refresh() -> None:
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def _flags() -> Any:
    """No fastmath: what is computed is what IEEE says. Parameters are arrays that do not overlap."""
    flags: Any = compiler.Flags()
    flags.nrt = flags.noalias = flags.release_gil = flags.no_cfunc_wrapper = True
    flags.error_model = "numpy"
    return flags
