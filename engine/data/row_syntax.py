"""Rows of data as a word, for ``--feed``: ``data.npz[17]``, ``data.npz[320:384]``, ``[5,9]``, all of them ``[:]``.

:mod:`.row_reading` reads them. It and what it reads with are loaded when a command has such a word, which is seldom.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any, Final

from .row_subset import Portion

MOST: Final = 100
"""Rows that are listed one by one; a word of more is nobody's to copy."""

_WORD: Final = re.compile(r"(?P<path>.+)\[(?P<rows>[^\[\]]*)\]", re.DOTALL)


def is_of_rows(word: str) -> bool:
    """Return whether *word* selects rows of a file; not where a file has that very name."""
    return _WORD.fullmatch(word) is not None and not os.path.exists(word)


def split_word(word: str) -> tuple[str, str]:
    """Return the path in *word* and its rows, ``:`` where the word is a path alone."""
    parts = _WORD.fullmatch(word) if is_of_rows(word) else None
    return (word, ":") if parts is None else (parts["path"], "".join(parts["rows"].split()))


def take(word: str) -> dict[str | None, Any]:
    """The arrays that a word stands for; that of a file alone stands for all of it.

    Raises:
        CommandError: there is no such file, it has no such rows, or the word says none.
    """
    from .row_reading import read_rows

    return read_rows(word)


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
