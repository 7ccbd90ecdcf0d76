"""Tables as rich draws them on a terminal; rich is imported when one is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .text import printable


def rich_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    style_of: Callable[[str], str],
    text: Callable[[str], str] = str,
    title: str | None = None,
) -> Any:
    """A table without a box. Cells are text and never markup, long ones go on in the next line.

    Args:
        style_of: the style of a cell.
        text: applied to everything that is shown.
    """
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, padding=(0, 1, 0, 1), header_style="bold", title=title, title_justify="left")
    for heading in headings:
        drawn.add_column(Text(text(heading)), overflow="fold")
    for row in rows:
        drawn.add_row(*(Text(text(printable(c)), style=style_of(c)) for c in row))
    return drawn
