"""Writing files that belong together: all of them or none, and never over others."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping


def new_files(folder: str, stamps: Iterator[str], make: Callable[[str], Mapping[str, str]]) -> list[str]:
    """Write the files that ``make(stamp)`` gives by name, under the first stamp that nobody has used in *folder*.

    A stamp is reserved by a file that only one caller can create, in this process or another, until all files have
    their names; texts are written under names of their own first. What was written is removed when something fails.

    Returns:
        The paths.

    Raises:
        OSError: a file cannot be written.
    """
    while True:
        stamp = next(stamps)
        reserved = os.path.join(folder, f".{stamp}reserved")
        try:
            os.close(os.open(reserved, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            continue
        try:
            if any(name.startswith(stamp) for name in os.listdir(folder)):
                continue
            return _written(folder, make(stamp))
        finally:
            os.unlink(reserved)


def _written(folder: str, texts: Mapping[str, str]) -> list[str]:
    made: list[str] = []
    moves = []
    try:
        for name, text in texts.items():
            pending = os.path.join(folder, f".{name}.pending")
            made.append(pending)
            with open(pending, "wb") as file:
                file.write(text.encode("utf-8", "backslashreplace"))
            moves.append((pending, os.path.join(folder, name)))
        for pending, path in moves:
            os.rename(pending, path)
            made[made.index(pending)] = path
    except BaseException:
        for path in made:
            if os.path.exists(path):
                os.unlink(path)
        raise
    return made
