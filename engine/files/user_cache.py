"""What is kept for the next process in the user's cache folder: a folder for each purpose, with sealed files.

Whoever keeps something there names its folder, which :data:`NAMES` or a backend is. A file comes into being by
renaming, so processes that run at the same time see it whole or not at all. Whatever goes wrong here costs the time of
making it again and nothing else.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from . import sealed
from .writing import write_files

NAMES: Final = "names"
"""The folder of what shells offer at Tab: names in models."""

LIMIT = 64 << 20
"""Bytes beyond which the files of a folder that were not used for longest are deleted."""


class Stored(NamedTuple):
    """What is kept for a purpose.

    Attributes:
        name: the name of its folder.
        folder: where; it need not be there.
        files, size: how many files, and their bytes.
    """

    name: str
    folder: Path
    files: int
    size: int


def folder(name: str = "") -> Path:
    """That of one purpose, or of all of them, beside what other programs keep for this user."""
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return Path(home or os.path.join(os.path.expanduser("~"), ".cache"), "gradtool", name)


def made(name: str) -> Path | None:
    """The folder of a purpose, made for this user alone; None where it cannot be written and read."""
    path = folder(name)
    with contextlib.suppress(OSError):
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        if os.access(path, os.W_OK | os.R_OK | os.X_OK):
            return path
    return None


def read(name: str, file: str) -> bytes | None:
    """What was kept for a purpose under the name *file*; None where there is nothing, or nothing whole."""
    path = folder(name) / file
    content = sealed.read(path)
    if content is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # used now
    return content


def keep(name: str, file: str, content: bytes) -> None:
    """Keep *content* for a purpose under the name *file*, if that can be."""
    home = made(name)
    if home is None:
        return
    with contextlib.suppress(OSError):
        write_files({str(home / file): sealed.sealed(content)}, durable=False)
        _shrink(home)


def stored(names: Iterable[str]) -> list[Stored]:
    """What there is for each purpose, in the order of *names*; without those that nothing was kept for."""
    listed: list[Stored] = []
    for name in names:
        home = folder(name)
        if home.is_dir():
            sizes = [size for _, size in _files(home)]
            listed.append(Stored(name, home, len(sizes), sum(sizes)))
    return listed


def clear(names: Iterable[str]) -> list[Stored]:
    """Delete what is kept for purposes; what has been deleted, by purpose.

    Processes that are running go on: they have read what they need, and make again what is missing.
    """
    cleared: list[Stored] = []
    for name, home, _, _ in stored(names):
        files = size = 0
        for path, length in _files(home):
            with contextlib.suppress(OSError):
                os.unlink(path)
                files, size = files + 1, size + length
        cleared.append(Stored(name, home, files, size))
    return cleared


def _files(home: Path) -> Iterator[tuple[str, int]]:
    """The files in a folder and their bytes, also of folders in it; links are not followed."""
    for inside, _, names in os.walk(home):
        for name in sorted(names):
            path = os.path.join(inside, name)
            with contextlib.suppress(OSError):
                yield path, os.lstat(path).st_size


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
