"""Results on a terminal: colours, and tables folded to its width."""

from __future__ import annotations

from typing import IO

from rich.console import Console
from rich.text import Text

from gradtool.viz.on_terminal import rich_table
from gradtool.viz.text import printable
from gradtool.viz.views.view import Table, View, to_ascii, to_text


def show(report: View, stream: IO[str], *, ascii_only: bool) -> None:
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
            console.print(rich_table(block.headings, block.rows, block.style_of, text))
        else:
            console.print(Text("\n".join(printable(text(line)) for line in block.split("\n"))), soft_wrap=True)
    console.print(Text(printable(text(report.next_line)), style="dim"), soft_wrap=True)
