"""Memory that arrays leave behind stays with the process, for the arrays of the next step.

By default glibc gives a freed block of more than some hundred kilobytes back to the system at once, and each page of
the next one has to be fetched from there again: for arrays of that size this takes longer than the arithmetic. What is
kept is bounded: blocks of more than :data:`LARGEST` bytes still come and go, and so does what is free at the end of the
heap beyond :data:`KEPT` bytes.
"""

from __future__ import annotations

import os

LARGEST = 32 << 20
"""Bytes up to which a block is taken from the heap (glibc allows no more)."""
KEPT = 512 << 20
"""Bytes that may stay free at the end of the heap."""

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""What ``mallopt`` calls the two settings."""


def keep_freed_memory() -> bool:
    """Let the allocator keep what is freed; whether it could be told. Settings of the user's (``MALLOC_…_``) stand."""
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION")
    except (AttributeError, OSError, ValueError):
        return False
    if not libc or any(name.startswith("MALLOC_") for name in os.environ) or "GLIBC_TUNABLES" in os.environ:
        return False
    import ctypes  # NumPy has loaded it

    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(_MMAP_THRESHOLD, LARGEST) and mallopt(_TRIM_THRESHOLD, KEPT))
