"""Answers as text, JSON, TSV and Markdown.

A view of an answer fills a :class:`View`; how it looks is decided here. Cells are plain strings and never markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..on_terminal import TONES
from ..text import cells as width
from ..text import printable
from ..text import to_ascii as to_ascii


@dataclass
class Table:
    """Rows under headings.

    Attributes:
        styles: cell text beginnings -> style, for terminals: ``{"ok": "good", "cut": "bad"}``.
    """

    headings: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    styles: dict[str, str] = field(default_factory=dict)

    def style_of(self, cell: str) -> str:
        return next((TONES[s] for start, s in self.styles.items() if cell.startswith(start)), "")


@dataclass
class View:
    """What a command answers.

    Attributes:
        kind: the JSON schema is ``gradtool/<kind>/1``.
        data: the answer as JSON values.
        blocks: the answer for people: lines and tables.
        next: commands that dig deeper.
        table: the answer as a table, where the blocks are sentences: what TSV holds.
    """

    kind: str
    data: dict[str, Any]
    blocks: list[str | Table]
    next: list[str] = field(default_factory=list)
    table: Table | None = None

    @property
    def next_line(self) -> str:
        return "next: " + " · ".join(self.next)


def in_ascii(view: View) -> View:
    """*view* with ASCII cells and lines: before it is laid out, so that columns fit."""

    def block(b: str | Table) -> str | Table:
        if isinstance(b, Table):
            rows: list[Sequence[str]] = [[to_ascii(printable(c)) for c in row] for row in b.rows]
            return Table([*map(to_ascii, b.headings)], rows, b.styles)
        return "\n".join(map(to_ascii, b.split("\n")))

    table = None if view.table is None else block(view.table)
    assert table is None or isinstance(table, Table)
    return View(view.kind, view.data, [*map(block, view.blocks)], [*map(to_ascii, view.next)], table)


def to_json(data: dict[str, Any], kind: str) -> str:
    """JSON with sorted keys, without NaN literals, pure ASCII (the same bytes in every locale)."""
    import json

    return json.dumps({"schema": f"gradtool/{kind}/1", **data}, indent=2, sort_keys=True, allow_nan=False) + "\n"


def to_text(view: View) -> str:
    """Plain text; columns as wide as their widest cell, nothing cut."""
    parts = ["\n".join(_text_rows(b)) if isinstance(b, Table) else _lines(b) for b in view.blocks]
    return "\n".join([*parts, printable(view.next_line)]) + "\n"


def _lines(block: str) -> str:
    return "\n".join(printable(line.rstrip()) for line in block.split("\n"))


def _text_rows(table: Table) -> Iterable[str]:
    rows = [list(table.headings), *(list(map(printable, r)) for r in table.rows)]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield (" " + "  ".join([c + " " * (w - width(c)) for c, w in zip(row, widths, strict=True)])).rstrip()


def to_tsv(view: View) -> str:
    """The tables alone, tab-separated, with a heading row; tabs and line breaks in cells are escaped."""
    lines = []
    for table in view.blocks if view.table is None else [view.table]:
        if isinstance(table, Table):
            lines += ["\t".join(map(_tsv_cell, r)) for r in (table.headings, *table.rows)]
    return "\n".join(lines) + "\n" if lines else ""


def _tsv_cell(cell: str) -> str:
    return printable(cell.replace("\\", "\\\\"))


def to_markdown(view: View) -> str:
    """Lines as paragraphs, indented lines as they stand, tables as tables; the table in the end if no block has it."""
    from ..document import markdown

    parts = []
    blocks = view.blocks if view.table is None or view.table in view.blocks else [*view.blocks, view.table]
    for block in blocks:
        if isinstance(block, Table):
            parts.append(markdown.table(block.headings, block.rows))
        elif "\n " in block:
            parts.append(markdown.fenced(_lines(block)))
        else:
            parts.append("\n".join(map(markdown.line, block.split("\n"))))
    return "\n\n".join([*parts, markdown.line(view.next_line)]) + "\n"
