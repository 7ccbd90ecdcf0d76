"""Where backends that compile keep their code: a folder of each in the user's cache folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from .choice import available


class Stored(NamedTuple):
    """What a backend keeps.

    Attributes:
        name: the backend.
        folder: where; it need not be there.
        files, size: how many files, and their bytes.
    """

    name: str
    folder: Path
    files: int
    size: int


def folder() -> Path:
    """That of all of them, beside what other programs keep for this user."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(home) / "gradtool"


def stored() -> list[Stored]:
    """What there is of each backend, by name; without those that keep nothing."""
    listed: list[Stored] = []
    for name in available():
        home = folder() / name
        if home.is_dir():
            sizes = [size for _, size in _files(home)]
            listed.append(Stored(name, home, len(sizes), sum(sizes)))
    return listed


def clear() -> list[Stored]:
    """Delete what backends have compiled; what has been deleted, by backend.

    Processes that are running go on: they have read what they need, and compile what is missing.
    """
    cleared: list[Stored] = []
    for name, home, _, _ in stored():
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
