"""Writing files: whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping

from .errors import CommandError


def write_all(texts: Mapping[str, str]) -> None:
    """Write every file, or none.

    All texts are written beside their places first and moved there at the end, so that a full disk or a missing
    folder leaves what was there before. What is no regular file (``/dev/null``, a pipe) is written to directly.

    Raises:
        CommandError: a file cannot be written.
    """
    if not texts:
        return
    import tempfile

    pending: list[tuple[str, str]] = []
    path = ""
    try:
        for path, text in texts.items():
            data = text.encode("utf-8", "backslashreplace")
            if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
                with open(path, "wb") as device:
                    device.write(data)
                continue
            target = os.path.realpath(path)
            if os.path.isdir(target):
                raise IsADirectoryError(0, "it is a directory")
            handle, temporary = tempfile.mkstemp(prefix=".gradtool-", dir=os.path.dirname(target))
            pending.append((temporary, target))
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            os.chmod(temporary, _mode(target))
        for temporary, path in list(pending):
            os.replace(temporary, path)
            pending.remove((temporary, path))
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        for temporary, _ in pending:
            os.unlink(temporary)


def _mode(path: str) -> int:
    """The permissions of the file that is replaced, or those that a new file gets."""
    if os.path.exists(path):
        return os.stat(path).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def make_folder(path: str) -> None:
    """Create a folder with its parents; raises :class:`CommandError` when that cannot be done."""
    if not path:
        raise CommandError("the name of the folder is empty", "'.' is the current folder")
    try:
        os.makedirs(path, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise CommandError(f"cannot write to folder {path}: there is a file of that name") from None
    except OSError as error:
        raise CommandError(f"cannot write to folder {path}: {error.strerror or error}") from None
