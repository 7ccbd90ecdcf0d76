"""Number of threads that compute: those of NumPy's matrix products, and of the libraries that backends call.

Several processes that compute at once, and a machine on which others are busy, are slowed down by more threads than
there are free processors: a product waits until each of its threads has had its turn. Results of products may differ in
their last digits between numbers of threads, so that number never follows from how busy a machine is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ..core.errors import UsageError

SETTING = "GRADTOOL_THREADS"

_LIBRARIES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Where libraries that are loaded later, and processes that are started later, read the number from."""


def environment_count() -> int | None:
    """The number of threads that the environment asks for; None where it says nothing.

    Raises:
        UsageError: it is no number of threads.
    """
    text = os.environ.get(SETTING)
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and int(text)):
        raise UsageError(f"{SETTING} is {text!r}, which is no number of threads", hint=f"{SETTING}=1")
    return int(text)


def environment(count: int) -> Mapping[str, str]:
    """The variables that tell another process to compute on *count* threads."""
    return dict.fromkeys((SETTING, *_LIBRARIES), str(count))


class _Process:
    """State that all threads share: how many of the libraries' threads each may have where that is limited."""

    limit: int | None = None


def limit() -> int | None:
    """The number that is told to libraries which are loaded late, or have a number for each of our threads."""
    return _Process.limit or environment_count()


@contextmanager
def limit_threads(count: int | None) -> Iterator[None]:
    """Compute on *count* threads inside, in this process; on as many as before if None. JAX has threads of its own."""
    if count is None:
        yield
        return
    import threadpoolctl

    before, _Process.limit = _Process.limit, count
    try:
        with threadpoolctl.threadpool_limits(count):
            yield
    finally:
        _Process.limit = before


def follow_environment() -> None:
    """Compute on as many threads as the environment asks for, from now on.

    Raises:
        UsageError: it asks for what is no number of threads.
    """
    count = environment_count()
    if count is not None:
        import threadpoolctl

        threadpoolctl.threadpool_limits(count)


_ASKED = (
    *(f"{prefix}openblas_get_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")),
    "MKL_Get_Max_Threads",
)
"""Functions of C that say on how many threads a product of NumPy's is computed at that moment."""


def find_blas_function() -> int | None:
    """The address of such a function of the library that NumPy calls; None where there is none."""
    import ctypes  # this file is read before NumPy is, which variables tell

    from numpy._core import _multiarray_umath as core  # type: ignore[attr-defined]

    library = ctypes.CDLL(core.__file__)  # and what it is linked with
    for name in _ASKED:
        if hasattr(library, name):
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
    return None


def current_count() -> int:
    """On how many threads products of matrices, and large groups, are computed now."""
    import ctypes

    address = find_blas_function()
    if address is not None:
        return int(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
    text = os.environ.get(SETTING) or os.environ.get("OMP_NUM_THREADS") or ""
    return int(text) if text.isascii() and text.isdigit() and int(text) else available()


def available() -> int:
    """The processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
