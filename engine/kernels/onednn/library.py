"""The C interface of oneDNN: where its library is, its functions with their types, its numbers.

Functions and numbers are those of version 3 (https://oneapi-src.github.io/oneDNN, "C API"), which later versions of
the same major number keep.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Sequence
from ctypes import POINTER, byref, c_int, c_int64, c_size_t, c_uint, c_void_p
from enum import IntEnum
from typing import Any

from ...core.errors import BackendError
from ..threads import limit
from . import wheel

MAJOR = 3
HINT = "pip install 'gradtool[onednn]', or your system's package of oneDNN 3 (libdnnl3)"

CPU, IN_ORDER, F32, ANY_LAYOUT = 1, 1, 3, 1
TRAINING, INFERENCE, DIRECT, MAXIMA, SCRATCHPAD_OF_USER = 64, 96, 1, 0x1FF, 1
IMPLEMENTATION = 8
"""The question for the name of an implementation."""

SPINS = "20000"
"""How often a thread that waits looks before it sleeps, some microseconds, where ``OMP_WAIT_POLICY`` says nothing: by
default it looks for milliseconds, in which NumPy's threads, or other programs, would compute."""


class Arg(IntEnum):
    """Role of a memory in a primitive."""

    SRC = 1
    DST = 17
    WEIGHTS = 33
    WORKSPACE = 64
    SCRATCHPAD = 80
    DIFF_SRC = 129
    DIFF_DST = 145
    DIFF_WEIGHTS = 161


class Query(IntEnum):
    """The layouts that a primitive can be asked for."""

    SRC = 129
    DIFF_SRC = 130
    WEIGHTS = 131
    DIFF_WEIGHTS = 132
    DST = 133
    DIFF_DST = 134
    WORKSPACE = 135
    SCRATCHPAD = 136


class ExecArgument(ctypes.Structure):
    """``dnnl_exec_arg_t``: a memory, and what it is to the primitive."""

    _fields_ = [("arg", c_int), ("memory", c_void_p)]


class _Version(ctypes.Structure):
    """The beginning of ``dnnl_version_t``."""

    _fields_ = [("major", c_int), ("minor", c_int), ("patch", c_int)]


_DIMS = POINTER(c_int64)
_OUT = POINTER(c_void_p)
_GEOMETRY = (_DIMS, _DIMS, _DIMS, _DIMS)  # strides, dilations, paddings before and after
_POOLING = (*_GEOMETRY, _DIMS)  # with the window behind the strides
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "engine_create": (_OUT, c_int, c_size_t),
    "stream_create": (_OUT, c_void_p, c_uint),
    "stream_wait": (c_void_p,),
    "memory_desc_create_with_tag": (_OUT, c_int, _DIMS, c_int, c_int),
    "memory_desc_create_with_strides": (_OUT, c_int, _DIMS, c_int, _DIMS),
    "memory_desc_destroy": (c_void_p,),
    "memory_create": (_OUT, c_void_p, c_void_p, c_void_p),
    "memory_set_data_handle": (c_void_p, c_void_p),
    "memory_destroy": (c_void_p,),
    "primitive_attr_create": (_OUT,),
    "primitive_attr_set_scratchpad_mode": (c_void_p, c_int),
    "reorder_primitive_desc_create": (_OUT, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p),
    # where it goes, engine, what for, algorithm, the layouts of image, filter, bias and result, windows, attributes
    "convolution_forward_primitive_desc_create": (_OUT, c_void_p, c_int, c_int, *(c_void_p,) * 4, *_GEOMETRY, c_void_p),
    # the backward ones: without "what for", and a forward description as a hint before the attributes
    "convolution_backward_data_primitive_desc_create": (
        _OUT,
        c_void_p,
        c_int,
        *(c_void_p,) * 3,
        *_GEOMETRY,
        *(c_void_p,) * 2,
    ),
    "convolution_backward_weights_primitive_desc_create": (
        *(_OUT, c_void_p, c_int),
        *(c_void_p,) * 4,
        *_GEOMETRY,
        *(c_void_p,) * 2,
    ),
    # where it goes, engine, what for, algorithm, image and result, strides, window, dilations, paddings, attributes
    "pooling_forward_primitive_desc_create": (_OUT, c_void_p, c_int, c_int, *(c_void_p,) * 2, *_POOLING, c_void_p),
    "pooling_backward_primitive_desc_create": (_OUT, c_void_p, c_int, *(c_void_p,) * 2, *_POOLING, *(c_void_p,) * 2),
    "primitive_desc_destroy": (c_void_p,),
    "primitive_create": (_OUT, c_void_p),
    "primitive_execute": (c_void_p, c_void_p, c_int, POINTER(ExecArgument)),
    "primitive_destroy": (c_void_p,),
}


class Library:
    """oneDNN, loaded, with one engine (the CPU) and one stream.

    Threads are OpenMP's (``OMP_NUM_THREADS``).

    Attributes:
        forks: how often the process was forked since, counted along the line of its parents.

    Raises:
        BackendError: it is not installed, or is not of version 3.
    """

    def __init__(self) -> None:
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault("GOMP_SPINCOUNT", SPINS)
        self._library = _load()
        for name, types in _FUNCTIONS.items():
            getattr(self._library, f"dnnl_{name}").argtypes = types
        self._library.dnnl_primitive_desc_query_md.argtypes = (c_void_p, c_int, c_int)
        self._library.dnnl_primitive_desc_query_md.restype = c_void_p
        self._library.dnnl_primitive_desc_query.argtypes = (c_void_p, c_int, c_int, c_void_p)
        self._library.dnnl_memory_desc_get_size.argtypes = (c_void_p,)
        self._library.dnnl_memory_desc_get_size.restype = c_size_t
        self._library.dnnl_memory_desc_equal.argtypes = (c_void_p, c_void_p)
        self.forks = 0
        self.engine = self.make("engine_create", CPU, 0)
        self.stream = self.make("stream_create", self.engine, IN_ORDER)
        self.attributes = self.make("primitive_attr_create")
        self.call("primitive_attr_set_scratchpad_mode", self.attributes, SCRATCHPAD_OF_USER)

    def threads(self) -> int:
        """Return how many threads it computes on when the current thread calls it; 0 where that is not known.

        OpenMP has a number for each of our threads, so what is asked for is told it here. In a process that was forked
        it is one: the others are not there, and GNU's OpenMP would wait for them forever.
        """
        count = 1 if self.forks else limit()
        try:
            if count is not None:
                self._library.omp_set_num_threads(count)
            return self._library.omp_get_max_threads()  # type: ignore[no-any-return]
        except AttributeError:  # another way of having threads than OpenMP
            return 0

    def note_fork(self) -> None:
        """Be told that this process was forked from the one that had loaded it."""
        self.forks += 1

    def call(self, name: str, *args: Any) -> None:
        """Call ``dnnl_NAME``.

        Raises:
            BackendError: it failed.
        """
        status = self.function(name)(*args)
        if status:
            raise self.failure(name, status)

    def function(self, name: str) -> Any:
        """``dnnl_NAME`` itself, which returns a status: 0 if it did not fail."""
        return getattr(self._library, f"dnnl_{name}")

    @staticmethod
    def failure(name: str, status: int) -> BackendError:
        """The error for a status of ``dnnl_NAME``."""
        return BackendError(f"oneDNN: dnnl_{name} failed with status {status}", hint="--backend numpy")

    def make(self, name: str, *args: Any) -> c_void_p:
        """Return what ``dnnl_NAME`` makes: a handle of its own."""
        handle = c_void_p()
        self.call(name, byref(handle), *args)
        return handle

    def supports(self, name: str, *args: Any) -> c_void_p | None:
        """The same, or None where oneDNN has no implementation for these arguments."""
        handle = c_void_p()
        status = self.function(name)(byref(handle), *args)
        return None if status else handle

    def layout(self, primitive: c_void_p, query: Query) -> c_void_p:
        """The layout that a primitive's description wants; it belongs to the description."""
        return c_void_p(self._library.dnnl_primitive_desc_query_md(primitive, query, 0))

    def implementation(self, description: c_void_p) -> str:
        """Return the implementation behind a primitive's description: ``jit:avx512_core``, ``x64:gemm:jit``,
        ``ref:any``.
        """
        text = ctypes.c_char_p()
        self._library.dnnl_primitive_desc_query(description, IMPLEMENTATION, 0, byref(text))
        return (text.value or b"").decode()

    def size(self, layout: c_void_p) -> int:
        """Bytes of a memory of that layout."""
        return self._library.dnnl_memory_desc_get_size(layout)  # type: ignore[no-any-return]

    def equal(self, a: c_void_p, b: c_void_p) -> bool:
        """Return whether two layouts are one."""
        return bool(self._library.dnnl_memory_desc_equal(a, b))


def numbers(values: Sequence[int]) -> Any:
    """An array of dimensions as the interface takes it."""
    return (c_int64 * len(values))(*values)


def _load() -> Any:
    for place in _places():
        try:
            library = ctypes.CDLL(place)
        except OSError:
            continue
        try:
            library.dnnl_version.restype = POINTER(_Version)
        except AttributeError:
            raise BackendError(f"backend 'onednn' needs oneDNN; {place} is none", hint=HINT) from None
        version = library.dnnl_version().contents
        if version.major != MAJOR:
            raise BackendError(
                f"backend 'onednn' needs oneDNN {MAJOR}; {place} is {version.major}.{version.minor}.{version.patch}",
                hint=HINT,
            )
        return library
    raise BackendError("backend 'onednn' needs oneDNN", hint=HINT)


def _places() -> Iterator[str]:
    """Return where the library may be: in the wheel, or where the system has its libraries."""
    installed = wheel.file(f"libdnnl.so.{MAJOR}")
    if installed is not None:
        yield installed
    import ctypes.util

    system = ctypes.util.find_library("dnnl")
    if system:
        yield system
