"""Compiled functions on disk, a file each, named by what they were compiled from, by what and for which CPU.

A file begins with the digest of the rest and comes into being by renaming, so processes that run at the same time see
it whole or not at all. Whatever goes wrong here costs the time of compiling and nothing else.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from ...files.writing import write_files
from ..disk import folder as cache_folder

LIMIT = 64 << 20
"""Bytes beyond which the files that were not used for longest are deleted."""

ENDING = ".compiled"

_DIGEST = hashlib.sha256().digest_size


def folder() -> Path:
    """Where the files lie."""
    return cache_folder() / "numba"


def read(key: str) -> bytes | None:
    """What was written under *key*; None where there is nothing, or nothing whole."""
    path = folder() / (key + ENDING)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = data[_DIGEST:]
    if hashlib.sha256(content).digest() != data[:_DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now
    return content


def write(key: str, content: bytes) -> None:
    """Keep *content* under *key*, if that can be."""
    home = folder()
    with contextlib.suppress(OSError):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_files({str(home / (key + ENDING)): hashlib.sha256(content).digest() + content}, durable=False)
        _shrink(home)


def _shrink(home: Path) -> None:
    """Delete the oldest files, until three quarters of the limit are left."""
    with os.scandir(home) as entries:
        files = [(e.stat().st_mtime, e.stat().st_size, e.path) for e in entries]
    total = sum(size for _, size, _ in files)
    if total <= LIMIT:
        return
    for _, size, path in sorted(files):
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size
        if total <= LIMIT * 3 // 4:
            return
