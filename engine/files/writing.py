"""Writing files whole, or not at all: the one place in the project where files are written.

Contents go to files of other names beside their places first (``leftovers.py``) and are moved there at the end, so that
a full disk, a missing folder, an error halfway or a signal leaves what was there before. They are on the disk before
they are moved: a machine that loses power has the old file or the new one. What a file in a folder has named stays in
that folder (``confined_paths.py``).
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.records import dataclass
from . import confined_paths, leftovers, temporary_files

Content = bytes | Iterable[Any]
"""The bytes of a file, or pieces of it, one after the other (anything that ``file.write`` takes)."""

_NOT_SYNCED = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)
"""What file systems say that cannot be asked to put something on a disk."""


def write_files(contents: Mapping[str, Content], durable: bool = True, direct: bool = True) -> None:
    """Write every file, or none.


    Args:
        contents: path -> content. Pieces are asked for while the file is being written; what they raise passes.
        durable: wait until they are on the disk; what can be made again at any time need not be.
        direct: write directly to what is no regular file (``/dev/null``, a pipe); else the file takes its place.

    Raises:
        OSError: a file cannot be written; ``error.filename`` is the path that was given.
    """
    pending: list[_Place] = []
    new: list[_Place] = []
    folders: dict[str, None] = {}
    path = ""
    with contextlib.ExitStack() as open_folders:
        try:
            for path, content in contents.items():
                is_free = confined_paths.root(path) is None
                if direct and is_free and _is_device(path):
                    with open(path, "wb") as device:
                        device.writelines(_pieces(content))
                    continue
                target = os.path.realpath(path) if is_free else path
                descriptor, name = open_folders.enter_context(confined_paths.parent(target))
                before = confined_paths.status(descriptor, name, path)
                folder = os.path.dirname(os.path.abspath(target))
                if folder not in folders:
                    leftovers.sweep(folder)
                    folders[folder] = None
                place = _Place(path, descriptor, name, os.path.join(os.path.dirname(name), leftovers.fresh_name()))
                # Before there is a file: a signal may come at any time.
                pending.append(place)
                temporary_files.files[place.temporary] = place.folder
                with open(place.temporary, "xb", opener=place.opener) as file:
                    file.writelines(_pieces(content))
                    file.flush()
                    if durable:
                        _sync(file.fileno())
                if before is not None:
                    os.chmod(place.temporary, before.st_mode & 0o777, **place.os_arguments())
            with temporary_files.moving:
                for place in pending:
                    path = place.path
                    if confined_paths.status(place.folder, place.name, path) is None:
                        new.append(place)
                    os.replace(place.temporary, place.name, **place.os_arguments("src_dir_fd", "dst_dir_fd"))
                    del temporary_files.files[place.temporary]
                pending.clear()
                new.clear()
        except OSError as error:
            error.filename, error.filename2 = path, None
            raise
        finally:
            for name, place in [*((p.temporary, p) for p in pending), *((p.name, p) for p in new)]:
                temporary_files.files.pop(name, None)
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(name, **place.os_arguments())
    for folder in folders if durable else ():
        _sync_folder(folder)


@dataclass(frozen=True)
class _Place:
    """Place of a file that is to be written.

    Attributes:
        path: as it was given, for messages.
        folder: a descriptor of its folder, where it has to stay there; None where names are paths.
        name: its name.
        temporary: its name until it is complete.
    """

    path: str
    folder: int | None
    name: str
    temporary: str

    def os_arguments(self, *options: str) -> dict[str, Any]:
        """Return arguments for functions of :mod:`os` with which they find a name in the folder."""
        return {} if self.folder is None else dict.fromkeys(options or ("dir_fd",), self.folder)

    def opener(self, path: str, flags: int) -> int:
        """Open in the folder."""
        return os.open(path, flags, 0o666, **self.os_arguments())


def _is_device(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


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
