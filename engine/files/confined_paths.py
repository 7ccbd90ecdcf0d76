"""Paths that a file in some folder has named: what is written there stays below that folder, whatever links lie in it.

A folder that was downloaded may hold ``x -> ~/.bashrc`` beside a configuration file that says ``output = "x"``. Such a
path is compared after its links are resolved (:func:`resolve`). From then on (:func:`confine`), everything that
gradtool writes at it or below it is opened folder by folder from the folder that it has to stay in, and no link is
followed on the way: one that comes later is refused, too.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

from . import python_functions

_CAN: Final = hasattr(os, "O_NOFOLLOW") and hasattr(os, "O_DIRECTORY") and os.open in os.supports_dir_fd
"""The system opens files from a folder's descriptor; where it does not (Windows), paths are compared once more."""

_FOLDER: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)

_named: list[tuple[str, str]] = []
"""Paths, and the folders that they have to stay in; both without links."""


def resolve(path: str, folder: str) -> str | None:
    """*path* without links; None where that lies outside *folder*.

    >>> resolve("/usr/../etc", "/usr") is None
    True
    """
    whole, inside = os.path.realpath(path), os.path.realpath(folder)
    return whole if whole == inside or whole.startswith(os.path.join(inside, "")) else None


@contextmanager
def confine(path: str, folder: str) -> Iterator[None]:
    """Inside, what is written at *path* stays below *folder* and follows no link.

    So does what is written below *path*, or beside it with another ending.

    Args:
        path: as :func:`resolve` gave it.
    """
    entry = (os.path.abspath(path), os.path.realpath(folder))
    _named.append(entry)
    try:
        yield
    finally:
        _named.remove(entry)


def root(path: str) -> str | None:
    """The folder that *path* has to stay in; None where it may lead anywhere."""
    if not _named or python_functions.is_active():  # what the user's code writes stays in the overlay
        return None
    whole = os.path.abspath(path)
    return next((f for p, f in reversed(_named) if whole == p or whole.startswith(_path_prefixes(p))), None)


def _path_prefixes(path: str) -> tuple[str, str]:
    """Return the prefixes of paths below *path* or next to it, as ``net.pdiparams`` is to ``net.pdmodel``."""
    return os.path.join(path, ""), os.path.splitext(path)[0] + "."


def must_stay(path: str) -> None:
    """Raise OSError for a path that has to stay in a folder and leads out of it."""
    folder = root(path)
    if folder is not None and resolve(path, folder) is None:
        raise _link(path)


@contextmanager
def parent(path: str, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """Yield a descriptor of the folder that *path* lies in, and its name there; None and *path* where it may be a link.

    Args:
        make: make the folders on the way.

    Raises:
        OSError: a folder on the way is a link or is missing.
    """
    folder = root(path)
    if folder is None or not _CAN:
        must_stay(path)
        if make and os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        yield None, path
        return
    *parts, name = _parts(path, folder)
    descriptor = os.open(folder, _FOLDER)
    try:
        for part in parts:
            descriptor = _enter_folder(descriptor, part, make, path)
        yield descriptor, name
    finally:
        os.close(descriptor)


def _parts(path: str, folder: str) -> list[str]:
    """The names on the way from *folder* to *path*."""
    parts = os.path.relpath(os.path.abspath(path), folder).split(os.sep)
    if os.pardir in parts or parts == [os.curdir]:
        raise OSError(errno.EPERM, "it lies outside the folder of the file that names it", path)
    return parts


def _enter_folder(descriptor: int, name: str, make: bool, path: str) -> int:
    """A descriptor of the folder *name* in that of *descriptor*, which is closed."""
    if make:
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=descriptor)
    try:
        inner = os.open(name, _FOLDER, dir_fd=descriptor)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, descriptor):
            raise _link(path) from None
        raise
    os.close(descriptor)
    return inner


def status(descriptor: int | None, name: str, path: str) -> os.stat_result | None:
    """Return the status of the file that is to be written; None where there is none.

    Args:
        descriptor: the folder's, from :func:`parent`; None for a path that may be a link.
        path: what to call it in errors.

    Raises:
        OSError: it is a folder; or it has to stay in one, and is a link, a device or a pipe.
    """
    try:
        told = os.stat(name) if descriptor is None else os.stat(name, dir_fd=descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(told.st_mode):
        raise IsADirectoryError(0, "it is a directory", path)
    if descriptor is not None and stat.S_ISLNK(told.st_mode):
        raise _link(path)
    if descriptor is not None and not stat.S_ISREG(told.st_mode):
        raise OSError(errno.EINVAL, "it is a device or a pipe", path)
    return told


def opener(path: str, flags: int) -> int:
    """Open as ``open`` does, for its argument of that name: where a path has to stay in a folder, without its links.

    Raises:
        OSError: it cannot be opened, or is a link, a device or a pipe.
    """
    with parent(path) as (descriptor, name):
        if descriptor is None:
            return os.open(name, flags, 0o666)
        status(descriptor, name, path)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666, dir_fd=descriptor)


def make_folder(path: str) -> None:
    """Make a folder with its parents, as ``os.makedirs`` does; where it has to stay in one, without following links.

    Raises:
        OSError: it cannot be made, or a link lies on the way.
    """
    with parent(os.path.join(path, "name"), make=True):
        pass


def _is_link(name: str, descriptor: int) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode)
    except OSError:
        return False


def _link(path: str) -> OSError:
    return OSError(
        errno.ELOOP, "a symbolic link there leads elsewhere; a path from a file is opened without links", path
    )
