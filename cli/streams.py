"""The standard streams where one is closed or full: a message or silence, and never a file in its place."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from .errors import ReaderGone, StdoutError

_LOST = frozenset({errno.ENOSPC, errno.EBADF, errno.EIO, errno.EDQUOT})


class _Closed(io.TextIOBase):
    """Standard output after ``>&-``: writing says that it is closed."""

    encoding = "utf-8"

    @property
    def buffer(self) -> _Closed:
        return self

    def write(self, text: object) -> NoReturn:
        raise OSError(errno.EBADF, "it is closed")


def open_closed_streams() -> None:
    """Put something in place of every standard stream that is closed, so that no file gets the number of one."""
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return
    number = os.open(os.devnull, os.O_RDWR)
    while number <= 2:
        number = os.open(os.devnull, os.O_RDWR)
    os.close(number)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BytesIO())
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115


@contextmanager
def convert_write_errors(*, nothing_else: bool = False) -> Iterator[None]:
    """Turn a failure to write to a stream into an error of ours; errors about files name the file.

    Args:
        nothing_else: standard output is all that is written inside, so every failure is one of it.
    """
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None
    except OSError as error:
        if not nothing_else and (error.filename is not None or error.errno not in _LOST):
            raise
        raise StdoutError(f"cannot write to stdout: {error.strerror or error}") from None
