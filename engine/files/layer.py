"""Folder over the real ones with everything that one run wrote, made, renamed and removed.

A path stands below the overlay's folder with all of its parts: ``/home/a/best.npz`` as ``FOLDER/home/a/best.npz``. What
the run has removed is in a set of names, and hides what lies below in the real folders. Left alone are the files of
caches, what ``tempfile`` makes where temporary files go, and all that is neither a file nor a folder.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from typing import Any, NoReturn

from ..core.cache_folders import is_in_cache
from . import temporary_files
from .python_functions import current_folder, leave_overlay, real, real_open

_SYSTEM = ("/dev/", "/proc/", "/sys/")

_MOST_LINKS = 40


class PathLayer:
    """Mapping of paths to the files that they mean.

    Attributes:
        home: the current folder when the run began, if there is one.
    """

    def __init__(self) -> None:
        self.home = current_folder()
        self._folder = ""
        """Where it lies; empty until something is changed."""
        self._gone: set[str] = set()
        self._temporary: set[str] = set()
        self._elsewhere = False
        """Whether the current folder is one that only the overlay has."""
        self._links: set[str] = set()
        """Links that the run has made."""
        self._unsure: set[str] = set()
        """Files that a library has opened for writing, and may only have read."""

    def changes(self) -> tuple[list[str], list[str]]:
        """The files that the run wrote, and new folders without any, in order; and those that it removed."""
        written: list[str] = []
        if not self._folder:
            return written, []
        with leave_overlay():
            for folder, folders, files in os.walk(self._folder):
                path = folder[len(self._folder) :]
                written += [p for p in (os.path.join(path, file) for file in files) if not self._is_as_it_was(p)]
                if not folders and not files and path and not exists(path):
                    written.append(path + os.sep)
        removed = [p for p in self._gone if not exists(self._folder + p) and self._is_folder(os.path.dirname(p))]
        return sorted(written), sorted(removed)

    def _is_as_it_was(self, path: str) -> bool:
        """Return whether a file was opened for writing and only read."""
        if path not in self._unsure:
            return False
        import filecmp

        return os.path.isfile(path) and filecmp.cmp(path, self._folder + path, shallow=False)

    def _absolute(self, path: str) -> str:
        absolute = os.path.abspath(path)
        if self._folder and absolute.startswith(self._folder + os.sep):
            absolute = absolute[len(self._folder) :]
        return self._follow_links(absolute) if self._links else absolute

    def _follow_links(self, absolute: str) -> str:
        """The path in the folder that a link of the run's leads to: else its files would be written where they are."""
        for _ in range(_MOST_LINKS):
            link = next((p for p in self._links if absolute.startswith(p + os.sep)), None)
            if link is None:
                return absolute
            try:
                target = os.path.join(os.path.dirname(link), real.readlink(self._folder + link))
            except OSError:  # it is none any more
                self._links.discard(link)
                continue
            target = os.path.normpath(target)
            if target.startswith(self._folder + os.sep):
                target = target[len(self._folder) :]
            absolute = target + absolute[len(link) :]
        return refuse(errno.ELOOP, absolute)

    def _is_gone(self, absolute: str) -> bool:
        while self._gone and absolute not in self._gone:
            above = os.path.dirname(absolute)
            if above == absolute:
                return False
            absolute = above
        return bool(self._gone)

    def _is_left_alone(self, absolute: str) -> bool:
        if absolute.startswith((*_SYSTEM, sys.pycache_prefix or _SYSTEM[0])) or is_in_cache(absolute):
            return True
        return any(absolute == t or absolute.startswith(t + os.sep) for t in self._temporary)

    def current(self, path: str) -> str:
        """Return the path at which the file of that name can be read."""
        if not self._folder:
            return path
        absolute = self._absolute(path)
        above = self._folder + absolute
        if exists(above) or self._is_gone(absolute):
            return above
        return absolute if self._elsewhere else path

    def _status(self, path: str, follow: bool = True) -> os.stat_result | None:
        """Return the status of the current file; None where there is none."""
        try:
            return (real.stat if follow else real.lstat)(self.current(path))  # type: ignore[no-any-return]
        except OSError:
            return None

    def _is_folder(self, path: str) -> bool:
        status = self._status(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def writable_path(self, path: str, keep: bool = True, new: bool = False, unsure: bool = False) -> str:
        """Return the path at which a file can be written that the run calls *path*.

        Args:
            keep: whether what is in it is there already.
            new: whether there may not be one.
            unsure: whether it may be that nothing is written.

        Raises:
            OSError: it is there although it is to be new, or its folder is not.
        """
        absolute = self._absolute(path)
        if self._is_left_alone(absolute):
            return path
        status = self._status(path, follow=False)
        if new and status is not None:
            refuse(errno.EEXIST, path)
        if not self._is_folder(os.path.dirname(absolute)):
            refuse(errno.ENOENT, path)
        if status is None:
            return self._place(absolute)
        if not stat.S_ISLNK(status.st_mode) and not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            return path
        source, place = self.current(absolute), self._place(absolute)
        if source != place and stat.S_ISDIR(status.st_mode):
            real.mkdir(place)
        elif source != place and keep:
            copy(source, place)
            self._unsure |= {absolute} if unsure else set()
        if not unsure:
            self._unsure.discard(absolute)
        return place

    def _place(self, absolute: str) -> str:
        """The path in the overlay, in a folder that is there."""
        if not self._folder:
            import tempfile  # which imports shutil: here, where that cannot see how to go by descriptors of folders

            with leave_overlay():  # the folder is not there yet, so nobody may look for it
                self._folder = os.path.realpath(tempfile.mkdtemp(prefix="gradtool-"))
            temporary_files.folders[self._folder] = None
        parents, folder = [], os.path.dirname(self._folder + absolute)
        while not exists(folder):
            parents.append(folder)
            folder = os.path.dirname(folder)
        for folder in reversed(parents):
            real.mkdir(folder)
        return self._folder + absolute

    def _vanish(self, path: str) -> None:
        """Have nothing of that name there any more."""
        absolute = self._absolute(path)
        if self._is_left_alone(absolute):
            real.unlink(path)
            return
        place = self._place(absolute)
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(real.lstat(place).st_mode):
                real.rmdir(place)
            else:
                real.unlink(place)
        if exists(absolute):
            self._gone.add(absolute)

    def _names(self, path: str) -> list[str] | None:
        """Return the names in a folder; None where only the real folder has any."""
        absolute = self._absolute(path)
        place = self._folder + absolute
        own = exists(place) or self._is_gone(absolute) or any(os.path.dirname(p) == absolute for p in self._gone)
        if not self._folder or not own:
            return None
        names = set(real.listdir(place)) if exists(place) else set()
        if not self._is_gone(absolute):
            with suppress(FileNotFoundError):
                below = real.listdir(absolute)
                names.update(name for name in below if os.path.join(absolute, name) not in self._gone)
        return sorted(names)

    def may_change(self, path: str) -> bool:
        """Return whether what is done to *path* itself leaves the user's files as they are."""
        absolute = os.path.join(self._getcwd(), path)
        absolute = os.path.normpath(absolute)
        if self._folder and (absolute + os.sep).startswith(self._folder + os.sep):
            return True
        if self._is_left_alone(absolute):
            return True
        try:
            mode = real.lstat(absolute).st_mode
        except OSError:
            return False
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))

    def _getcwd(self) -> str:
        folder: str = real.getcwd()
        inside = self._folder and folder.startswith(self._folder + os.sep)
        return folder[len(self._folder) :] if inside else folder


def exists(path: str) -> bool:
    try:
        real.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def copy(source: str, target: str) -> None:
    """Copy a file with its permissions."""
    with real_open(source, "rb") as old, real_open(target, "wb") as new:
        while piece := old.read(1 << 20):
            new.write(piece)
    real.chmod(target, stat.S_IMODE(real.stat(source).st_mode) | stat.S_IWUSR)


def refuse(number: int, path: Any) -> NoReturn:
    raise OSError(number, os.strerror(number), path)
