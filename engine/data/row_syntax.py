"""Rows of data as a word, for ``--feed``: ``data.npz[17]``, ``data.npz[320:384]``, ``[5,9]``, all of them ``[:]``."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Final

from ..core.command_errors import CommandError
from . import arrays
from .arrays import Array
from .row_subset import Portion

MOST: Final = 100
"""Rows that are listed one by one; a word of more is nobody's to copy."""

_WORD: Final = re.compile(r"(?P<path>.+)\[(?P<rows>[^\[\]]*)\]", re.DOTALL)
_ROWS: Final = re.compile(r"\d+(,\d+)*")
_SPAN: Final = re.compile(r"(?P<first>\d*):(?P<after>\d*)")
_FORMS: Final = "--feed FILE[17], FILE[320:384] (384 is not among them), FILE[5,9] or FILE[:]"


def is_of_rows(word: str) -> bool:
    """Return whether *word* selects rows of a file; not where a file has that very name."""
    return _WORD.fullmatch(word) is not None and not os.path.exists(word)


def rows_word(portion: Portion, chosen: Sequence[int] | None = None) -> str | None:
    """The word for some of the data; None where that would be too long.

    Args:
        chosen: rows that stand for the data in place of all of its portion.
    """
    if chosen is not None:
        return None if len(chosen) > MOST else f"{portion.path}[{','.join(map(str, chosen))}]"
    if portion.rows is None:
        return f"{portion.path}[:]"
    first, after = portion.rows
    return f"{portion.path}[{first}]" if after == first + 1 else f"{portion.path}[{first}:{after}]"


def take(word: str) -> dict[str | None, Array]:
    """The arrays that a word stands for; that of a file alone stands for all of it.

    Raises:
        CommandError: there is no such file, it has no such rows, or the word says none.
    """
    told = _WORD.fullmatch(word) if is_of_rows(word) else None
    path, rows = (word, ":") if told is None else (told["path"], "".join(told["rows"].split()))
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
