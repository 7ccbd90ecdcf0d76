"""Writing files whole, or not at all: the one place in the project where files are written.

Contents go to files of other names beside their places first (``leftovers.py``) and are moved there at the end, so that
a full disk, a missing folder, an error halfway or a signal leaves what was there before. They are on the disk before
they are moved: a machine that loses power has the old file or the new one.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
from typing import Any

from . import leftovers

Content = bytes | Iterable[Any]
"""The bytes of a file, or pieces of it, one after the other (anything that ``file.write`` takes)."""

_NOT_SYNCED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""What file systems say that cannot be asked to put something on a disk."""


def write_files(contents: Mapping[str, Content], durable: bool = True) -> None:
    """Write every file, or none.

    What is no regular file (``/dev/null``, a pipe) is written to directly.

    Args:
        contents: path -> content. Pieces are asked for while the file is being written; what they raise passes.
        durable: wait until they are on the disk; what can be made again at any time need not be.

    Raises:
        OSError: a file cannot be written; ``error.filename`` is the path that was given.
    """
    pending: dict[str, str] = {}
    new: list[str] = []
    folders: dict[str, None] = {}
    path = ""
    try:
        for path, content in contents.items():
            if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
                with open(path, "wb") as device:
                    device.writelines(_pieces(content))
                continue
            target = os.path.realpath(path)
            if os.path.isdir(target):
                raise IsADirectoryError(0, "it is a directory")
            folder = os.path.dirname(target)
            if folder not in folders:
                leftovers.sweep(folder)
                folders[folder] = None
            temporary = os.path.join(folder, leftovers.fresh_name())
            pending[temporary] = target  # before there is a file: a signal may come at any time
            with open(temporary, "xb") as file:
                file.writelines(_pieces(content))
                file.flush()
                if durable:
                    _sync(file.fileno())
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o777)
        for temporary, path in pending.items():
            if not os.path.exists(path):
                new.append(path)
            os.replace(temporary, path)
        pending.clear()
        new.clear()
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise
    finally:
        for name in [*pending, *new]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name)
    for folder in folders if durable else ():
        _sync_folder(folder)


def _pieces(content: Content) -> Iterable[Any]:
    return (content,) if isinstance(content, bytes) else content


def _sync(descriptor: int) -> None:
    """Wait until the file is on its disk."""
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NOT_SYNCED:
            raise


def _sync_folder(folder: str) -> None:
    """Wait until the names in the folder are on the disk, where the system can do that; the files are there already."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
