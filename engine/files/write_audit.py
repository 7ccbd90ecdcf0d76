"""Writes that would go past an overlay are refused.

Who has a function of Python's from before the run, or one of the C library's, does not ask an overlay:
``from os import replace`` in a module that was imported before the run, ``io.FileIO(path, "w")`` and functions that
``ctypes`` takes out of the C library by name ask nobody where a file lies. Python tells its audit hooks of each, before
it happens, and a hook may refuse.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, Final, Protocol

from ..core import audit as events
from . import native

_PATHS: Final[dict[str, tuple[tuple[int, int | None], ...]]] = {
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
}
"""By event, where its arguments have paths that are changed, and the descriptors of the folders that they lie in."""


class PathSource(Protocol):
    """Source of the paths that a run may change, such as the overlay."""

    @property
    def is_handling(self) -> bool: ...

    def is_meant(self) -> bool: ...

    def may_change(self, path: str) -> bool: ...


class _Process:
    """State of the whole process: a hook stays until its end."""

    files: PathSource | None = None


@contextmanager
def audit(files: PathSource | None) -> Iterator[None]:
    """Inside, changes of files that *files* knows nothing of are refused; with None, nothing is."""
    if files is not None:
        _hear()
    before, _Process.files = _Process.files, files
    try:
        yield
    finally:
        _Process.files = before


@cache
def _hear() -> None:
    events.listen(_check, lambda event: event in ("open", "ctypes.dlsym") or event in _PATHS)


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    files = _Process.files
    if files is None or native.is_busy():
        return
    if event == "open":
        path, mode, flags = arguments
        if flags & native.WRITING and not (mode is not None and files.is_handling):
            _must_be_known(files, path, None)
    elif event == "ctypes.dlsym":
        _must_not_be_taken(files, *arguments)
    else:
        for path, folder in _PATHS[event]:
            _must_be_known(files, arguments[path], None if folder is None else arguments[folder])


def _must_be_known(files: PathSource, path: Any, folder: int | None) -> None:
    if not isinstance(path, (str, bytes)) or not files.is_meant():
        return
    name = os.fsdecode(path)
    if folder is not None and folder >= 0 and not os.path.isabs(name):
        name = os.path.join(os.readlink(f"/proc/self/fd/{folder}"), name)
    if not files.may_change(name):
        raise refusal(name)


def _must_not_be_taken(files: PathSource, library: Any, name: Any) -> None:
    if name in native.WRITERS and files.is_meant() and native.is_c_librarys(library, name):
        raise refusal(f"{name} of the C library")


def refusal(what: str) -> PermissionError:
    """Return the error for a write that gradtool cannot keep away from the user's files."""
    return PermissionError(
        errno.EPERM, "gradtool keeps what a run writes away from your files, and cannot; --write lets it write", what
    )
