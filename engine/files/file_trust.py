"""Files that nobody but the user can have written: who owns them, who may write to them, what kind of file they are.

Compiled code from a cache runs. So it counts only where every folder on the way belongs to the user or to root and is
closed to others, and where the file itself is the user's: a regular one, no link and no pipe.
"""

from __future__ import annotations

import os
import stat
from typing import Final

_HAS_USERS: Final = hasattr(os, "geteuid")
"""The system says who owns a file (Windows does not in this way: there, folders of users are closed to others)."""

_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def is_users_own(status: os.stat_result) -> bool:
    """Return whether a file belongs to the user, and nobody else may write to it."""
    return not _HAS_USERS or (status.st_uid == os.geteuid() and not _is_open_to_others(status))


def _is_open_to_others(status: os.stat_result) -> bool:
    """Return whether others may write; a group whose number is the user's is the user's own, as most systems make
    them.
    """
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and status.st_gid != status.st_uid


def is_closed(folder: str) -> bool:
    """Return whether nobody but the user and root can put another folder in the place of *folder*, at any level.

    A folder that all may write to does no harm where its sticky bit keeps them from what belongs to others (``/tmp``).

    Args:
        folder: an absolute path without links.
    """
    if not _HAS_USERS:
        return True
    at = folder
    while True:
        try:
            status = os.lstat(at)
        except OSError:
            return False
        if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (0, os.geteuid()):
            return False
        if _is_open_to_others(status) and not status.st_mode & stat.S_ISVTX:
            return False
        above = os.path.dirname(at)
        if above == at:
            return True
        at = above


def is_users_folder(path: str) -> bool:
    """Return whether *path* is a folder, not a link to one, that is the user's own."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and is_users_own(status)


def read(path: str | os.PathLike[str], own: bool = True) -> bytes | None:
    """Return what a regular file holds; None where there is none, or a link, a pipe or a device.

    Args:
        own: whether it has to be the user's own, too.
    """
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode) or (own and not is_users_own(status)):
                return None
            return file.read()
        except OSError:
            return None
