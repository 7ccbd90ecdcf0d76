"""Answers that fit a terminal: columns are shortened or left out in the order that a view declares, lines go on below.

No word and no number is broken: names lose parts from their middle (``net.….weight``), places their folders,
sentences their last words. A table that still has no room becomes a short paragraph for each row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gradtool.engine.core.records import dataclass

from .text import cells

SHORTENED = "…"
"""At the end of a heading in an order: the column is shortened; without it, the column is left out."""

_GAP = 2
_MARGIN = 1


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table in the room that there is.

    Attributes:
        columns: the indices of the columns that are left, in their order.
        rows: their cells, without the headings.
        left_out: the headings of the others.
        fits: whether lines are short enough now.
    """

    columns: Sequence[int]
    rows: Sequence[Sequence[str]]
    left_out: Sequence[str]
    fits: bool


def fit_table(
    headings: Sequence[str], rows: Sequence[Sequence[str]], order: Sequence[str], room: int, sign: str = "…"
) -> Fitted:
    """A table in *room* columns of fixed width.

    Args:
        order: headings, first what is missed least: left out, or with a ``…`` behind them shortened.
        sign: stands for what is left out of a cell.
    """
    columns = [[*column] for column in zip(headings, *rows, strict=True)]
    widths = [max(map(cells, column)) for column in columns]
    there = [*range(len(headings))]
    left_out = []
    for step in order:
        over = _table_width([widths[i] for i in there]) - room
        if over <= 0:
            break
        heading = step.removesuffix(SHORTENED)
        at = next((i for i in there if headings[i] == heading), None)
        if at is None:
            continue
        if step == heading:
            there.remove(at)
            left_out.append(heading)
            continue
        longest = max(widths[at] - over, cells(heading))
        columns[at] = [heading, *(abbreviate(cell, longest, sign) for cell in columns[at][1:])]
        widths[at] = max(map(cells, columns[at]))
    fits = _table_width([widths[i] for i in there]) <= room
    lines = [*zip(*(columns[i][1:] for i in there), strict=True)]
    return Fitted(there, lines, left_out, fits)


def _table_width(widths: Sequence[int]) -> int:
    return _MARGIN + sum(widths) + _GAP * (len(widths) - 1)


_WHOLE = re.compile(r".*:\d+|[-+\d.e]+")
"""A line of a file, and a number."""


def abbreviate(text: str, longest: int, sign: str = "…") -> str:
    """*text* in at most *longest* columns, as far as that goes without breaking a word.

    >>> abbreviate("model.encoder.layers.3.weight", 20)
    'model.….3.weight'
    >>> abbreviate("cut: stop_gradient of guide.tmp_1, net.py:38", 30)
    'cut: stop_gradient of …'
    >>> abbreviate("src/models/net.py:38", 15)
    '…/net.py:38'
    """
    if cells(text) <= longest:
        return text
    if " " in text:
        return _first_words(text, longest, sign)
    if "/" in text:
        return _drop_middle(text, "/", longest, sign)
    return text if _WHOLE.fullmatch(text) else _drop_middle(text, ".", longest, sign)


def _first_words(text: str, longest: int, sign: str) -> str:
    words = text.split(" ")
    count = len(words) - 1
    while count > 1 and cells(" ".join(words[:count])) > longest - len(sign) - 1:
        count -= 1
    return " ".join([*words[:count], sign])


def _drop_middle(name: str, separator: str, longest: int, sign: str) -> str:
    """The first part and as many of the last as there is room for; the last alone where there is none."""
    parts = name.split(separator)
    candidates = [[parts[0], sign, *parts[i:]] for i in range(2, len(parts))] + [[sign, parts[-1]]]
    texts = [separator.join(c) for c in candidates] if len(parts) > 1 else []
    shorter = [t for t in texts if cells(t) < cells(name)]
    return next((t for t in shorter if cells(t) <= longest), shorter[-1] if shorter else name)


def wrap(line: str, room: int) -> Iterator[str]:
    """*line* over as many lines as it takes, broken between words; those after the first stand further in."""
    if cells(line) <= room:
        yield line
        return
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    begun = ""
    for piece in re.findall(r" *[^ ]+", line):
        if begun.strip() and cells(begun + piece) > room:
            yield begun
            begun = indent + piece.lstrip()
        else:
            begun += piece
    yield begun
