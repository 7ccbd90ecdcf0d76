"""The rows of a sweep in a file, a line of JSON each, written as they come: where a cut sweep goes on."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final, TextIO

from ..core.command_errors import CommandError
from ..files import confined_paths
from . import rows
from .point_rows import OF_THE_MACHINE

STDOUT: Final = "-"
"""The name of standard output: rows go there as they come, and nothing can go on with them."""


def line(row: Mapping[str, Any]) -> str:
    """A row as a line, the key first: lines that are sorted are sorted by keys."""
    return json.dumps(row, allow_nan=False, separators=(",", ":")) + "\n"


class RowJournal:
    """A file of rows, or none.

    Args:
        path: the file, ``-`` for standard output; None where rows are kept in memory alone.
        resume: go on with what the file holds; else it must not be there.

    Raises:
        CommandError: the file cannot be written, or is there already.
        FileFormatError: it is none of rows.

    Attributes:
        rows: by key.
        torn: whether the last line was cut short, so that its point is asked again.
    """

    def __init__(self, path: str | None, resume: bool = False) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}
        self.torn = False
        self._stream: TextIO | None = None
        if path is None:
            return
        if path == STDOUT:
            self._stream = sys.stdout
            return
        there = os.path.exists(path) and os.path.getsize(path) > 0
        if there and not resume:
            raise CommandError(f"{path} holds the rows of a sweep already", "--resume goes on with it")
        try:
            whole = self._read(path) if there else 0
            self._stream = open(  # noqa: SIM115  (as long as the sweep)
                path, "a", encoding="utf-8", newline="\n", opener=confined_paths.opener
            )
            if there:
                self._stream.truncate(whole)  # a last line that was cut short
        except OSError as error:
            raise CommandError(f"cannot write {path}: {error.strerror or error}") from None

    def _read(self, path: str) -> int:
        """Take the rows of a file; how many bytes of it are whole lines."""
        whole = 0
        with open(path, "rb", opener=confined_paths.opener) as stream:
            for number, data in enumerate(stream, 1):
                if not data.endswith(b"\n"):
                    self.torn = True
                    break
                row = rows.read(data, f"{path}:{number}")
                whole += len(data)
                if row["status"] in OF_THE_MACHINE:
                    self.rows.pop(row["key"], None)
                else:
                    self.rows[row["key"]] = row
        return whole

    def take(self, coming: Iterable[dict[str, Any]]) -> None:
        """Write rows; they are in the file when this is over."""
        new = [row for row in coming if self.rows.get(row["key"]) is None]
        for row in new:
            self.rows[row["key"]] = row
        if self._stream is not None and new:
            try:
                self._stream.write("".join(map(line, new)))
                self._stream.flush()
            except OSError as error:
                if self.path == STDOUT:
                    raise  # whoever has opened it says what is wrong with it
                raise CommandError(f"cannot write {self.path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file."""
        if self._stream is not None and self.path != STDOUT:
            self._stream.close()
