"""Time for which the threads of NumPy's OpenBLAS look for their next product before they sleep.

By default they look for 2²⁶ cycles, some 25 ms, and occupy a processor meanwhile: threads of other libraries (oneDNN's,
those of compiled groups) and other programs wait for it. A product of a step follows within 0.2 ms of the one before or
not for long, so 2¹⁹ cycles lose nothing: what was measured is in ``docs/threads.md``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator

SETTING = "OPENBLAS_THREAD_TIMEOUT"
"""OpenBLAS's own variable: it reads the logarithm of the cycles from there when it is loaded."""

CYCLES = 19
"""The logarithm of how many cycles (of the processor's time stamps) a thread waits awake."""

MAPS = "/proc/self/maps"
"""Where Linux lists the files of a process."""


def wait_briefly() -> int:
    """Have each OpenBLAS of this process begin its threads again with a shorter wait; how many could be told.

    A setting of the user's stands. Nothing is done where another thread of Python might be within a product, nor where
    libraries cannot be listed (other systems than Linux) or have no such calls. What is called is what OpenBLAS itself
    does before a fork: its threads end, and the next product begins them anew.
    """
    if SETTING in os.environ or threading.active_count() > 1:
        return 0
    told = 0
    for path in find_libraries():
        import ctypes  # NumPy has loaded it

        try:
            library = ctypes.CDLL(path)
            read, end = library.openblas_read_env, library.blas_thread_shutdown_
        except (OSError, AttributeError):  # a file that was replaced meanwhile; another build
            continue
        os.environ[SETTING] = str(CYCLES)
        try:
            read()
        finally:
            del os.environ[SETTING]
        end()
        told += 1
    return told


def find_libraries() -> Iterator[str]:
    """The files of OpenBLAS in this process, each once, in the order of their addresses."""
    try:
        with open(MAPS, encoding="utf-8", errors="surrogateescape") as lines:
            paths = [line.rstrip("\n").split(None, 5)[5] for line in lines if "openblas" in line]
    except OSError:
        return iter(())
    return iter(dict.fromkeys(path for path in paths if "openblas" in os.path.basename(path)))
