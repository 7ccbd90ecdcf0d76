"""Files that belong together under a stamp that nobody has used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from gradtool.engine.files import confined_paths
from gradtool.engine.files.writing import write_files


def new_files(folder: str, stamps: Iterator[str], make: Callable[[str], Mapping[str, str]]) -> list[str]:
    """Write the files that ``make(stamp)`` gives by name, under the first stamp that nobody has used in *folder*.

    A stamp is reserved by a file that only one caller can create, in this process or another, until all files have
    their names. All files are written, or none.

    Returns:
        The paths.

    Raises:
        OSError: a file cannot be written.
    """
    while True:
        stamp = next(stamps)
        reserved = os.path.join(folder, f".{stamp}reserved")
        try:
            os.close(confined_paths.opener(reserved, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        try:
            if any(name.startswith(stamp) for name in os.listdir(folder)):
                continue
            texts = make(stamp)
            write_files({os.path.join(folder, n): t.encode("utf-8", "backslashreplace") for n, t in texts.items()})
            return [os.path.join(folder, name) for name in texts]
        finally:
            os.unlink(reserved)
