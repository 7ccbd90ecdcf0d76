"""Files that exist while the process works, and are removed at its end, however it ends.

Files that are being written have other names first (:mod:`.writing`), and some commands need a folder of their own.
Each is taken away by who made it. :func:`remove` is for the process that cannot wait for that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock

files: dict[str, int | None] = {}
"""Files that are not complete, with the descriptor of the folder that their names are looked up in, if there is one."""

folders: dict[str, None] = {}

moving = Lock()
"""Held while files are moved to their places: what is removed in between would be half of an answer."""


@contextmanager
def folder() -> Iterator[str]:
    """Give the path of a new folder, which is removed at the end."""
    import tempfile  # which few commands need

    with tempfile.TemporaryDirectory(prefix="gradtool-") as path:
        folders[path] = None
        try:
            yield path
        finally:
            folders.pop(path, None)


def remove() -> None:
    """Remove all of it, for good: from now on no file is moved to its place."""
    import shutil

    moving.acquire(timeout=0.2)
    for path, descriptor in list(files.items()):
        with suppress(OSError):
            os.unlink(path, dir_fd=descriptor)
    for path in list(folders):
        shutil.rmtree(path, ignore_errors=True)
