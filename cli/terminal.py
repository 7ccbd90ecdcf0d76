"""Results on a terminal: colours, and tables folded to its width. The only module that imports rich."""

from __future__ import annotations

from typing import IO

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from gradtool.viz.text import printable

from .views import STYLES, Report, Table, to_ascii, to_text


def show(report: Report, stream: IO[str], *, ascii_only: bool) -> None:
    """Print *report* with colours; unlimited width unless *stream* is a terminal."""
    text = to_ascii if ascii_only else str
    unlimited = None if stream.isatty() else max(map(len, to_text(report).split("\n"))) + 1
    console = Console(
        file=stream,
        force_terminal=True,
        width=unlimited,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for block in report.blocks:
        if isinstance(block, Table):
            console.print(_table(block, text))
        else:
            console.print(Text(text(block)), soft_wrap=True)
    console.print(Text(text(report.next_line), style="dim"), soft_wrap=True)


def _table(table: Table, text: object) -> RichTable:
    assert callable(text)
    drawn = RichTable(box=None, padding=(0, 1, 0, 1), header_style=STYLES["head"])
    for heading in table.headings:
        drawn.add_column(Text(text(heading)), overflow="fold")
    for row in table.rows:
        drawn.add_row(*(Text(text(printable(c)), style=table.style_of(c)) for c in row))
    return drawn
