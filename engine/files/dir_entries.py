"""Entries as ``os.scandir`` gives them, of names that are known already."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from types import TracebackType


class DirectoryEntry(os.PathLike[str]):
    """As ``os.DirEntry``; asks when it is asked.

    Attributes:
        name: the file's name.
        path: with the folder that was looked through.
    """

    __slots__ = ("name", "path")

    def __init__(self, name: str, path: str) -> None:
        self.name = name
        self.path = path

    def __fspath__(self) -> str:
        return self.path

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        return os.stat(self.path) if follow_symlinks else os.lstat(self.path)

    def inode(self) -> int:
        return self.stat(follow_symlinks=False).st_ino

    def _mode(self, follow_symlinks: bool) -> int:
        try:
            return self.stat(follow_symlinks=follow_symlinks).st_mode
        except FileNotFoundError:
            return 0

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISDIR(self._mode(follow_symlinks))

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISREG(self._mode(follow_symlinks))

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self._mode(False))


class DirectoryEntries(Iterator[DirectoryEntry]):
    """As the iterator that ``os.scandir`` gives."""

    def __init__(self, entries: Iterable[DirectoryEntry]) -> None:
        self._entries = iter(entries)

    def __next__(self) -> DirectoryEntry:
        return next(self._entries)

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> DirectoryEntries:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
