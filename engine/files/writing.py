"""Writing files whole, or not at all: the one place in the project where files are written.

Contents go to files of other names beside their places first and are moved there at the end, so that a full disk, a
missing folder or an error halfway leaves what was there before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

Content = bytes | Iterable[Any]
"""The bytes of a file, or pieces of it, one after the other (anything that ``file.write`` takes)."""


def write_files(contents: Mapping[str, Content]) -> None:
    """Write every file, or none.

    What is no regular file (``/dev/null``, a pipe) is written to directly.

    Args:
        contents: path -> content. Pieces are asked for while the file is being written; what they raise passes.

    Raises:
        OSError: a file cannot be written; ``error.filename`` is the path that was given.
    """
    pending: list[tuple[str, str]] = []
    new: list[str] = []
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
            temporary = os.path.join(os.path.dirname(target), f".gradtool-{os.urandom(8).hex()}")
            with open(temporary, "xb") as file:
                pending.append((temporary, target))
                file.writelines(_pieces(content))
            if os.path.exists(target):
                os.chmod(temporary, os.stat(target).st_mode & 0o777)
        for temporary, path in list(pending):
            fresh = not os.path.exists(path)
            os.replace(temporary, path)
            pending.remove((temporary, path))
            if fresh:
                new.append(path)
        new.clear()
    except OSError as error:
        error.filename, error.filename2 = path, None
        raise
    finally:
        for temporary in [t for t, _ in pending] + new:
            os.unlink(temporary)


def _pieces(content: Content) -> Iterable[Any]:
    return (content,) if isinstance(content, bytes) else content
