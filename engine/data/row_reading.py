"""Arrays of the rows that a word selects: ``data.npz[320:384]``."""

from __future__ import annotations

import re
from typing import Final

from ..core.command_errors import CommandError
from . import arrays
from .arrays import Array
from .row_subset import Portion
from .row_syntax import split_word

_ROWS: Final = re.compile(r"\d+(,\d+)*")
_SPAN: Final = re.compile(r"(?P<first>\d*):(?P<after>\d*)")
_FORMS: Final = "--feed FILE[17], FILE[320:384] (384 is not among them), FILE[5,9] or FILE[:]"


def read_rows(word: str) -> dict[str | None, Array]:
    """The arrays that a word stands for; that of a file alone stands for all of it.

    Raises:
        CommandError: there is no such file, it has no such rows, or the word says none.
    """
    path, rows = split_word(word)
    arrays.must_be_there(path)
    if rows == ":":
        return arrays.take(Portion(path))
    length = arrays.length(path)
    span = _SPAN.fullmatch(rows)
    if span is not None:
        first, after = int(span["first"] or 0), int(span["after"] or length)
        if not first < after <= length:
            raise CommandError(f"--feed {word}: the rows of {path} are 0 to {length - 1}", _FORMS)
        return arrays.take(Portion(path, (first, after)))
    if _ROWS.fullmatch(rows) is None:
        raise CommandError(f"--feed {word}: {rows!r} says no rows", _FORMS)
    chosen = [int(row) for row in rows.split(",")]
    if max(chosen) >= length:
        raise CommandError(f"--feed {word}: the rows of {path} are 0 to {length - 1}", _FORMS)
    return arrays.take(Portion(path), chosen)
