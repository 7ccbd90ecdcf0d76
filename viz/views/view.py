"""Answers as text, JSON, TSV and Markdown.

A view of an answer fills a :class:`View`; how it looks is decided here. Cells are plain strings and never markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gradtool.engine.core.records import dataclass

from ..fitting import fit_table, wrap
from ..text import cells, printable
from ..text import to_ascii as to_ascii
from ..tones import TONES, paint

if TYPE_CHECKING:
    from gradtool.engine.answers.why.answers import Answer
    from gradtool.engine.kinds.about import About


@dataclass
class Table:
    """Rows under headings.

    Attributes:
        styles: cell text beginnings -> tone, for terminals: ``{"ok": "good", "cut": "bad"}``.
        order: where there is little room, which columns are missed least: headings, ``heading…`` where the column is
            shortened and not left out (``viz/fitting.py``).
        judged: the heading of the column whose cells say whether something is wrong; *styles* are for it alone then.
        tones: row -> the tone of its judged cell.
    """

    headings: Sequence[str]
    rows: list[Sequence[str]] = field(default_factory=list)
    styles: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[str] = ()
    judged: str = ""
    tones: Mapping[int, str] = field(default_factory=dict)

    def tone(self, row: int, heading: str, cell: str) -> str:
        """Return the meaning of a cell: a name in ``viz.tones.TONES``, or nothing."""
        if self.judged and heading != self.judged:
            return ""
        if row in self.tones:
            return self.tones[row]
        return next((tone for start, tone in self.styles.items() if cell.startswith(start)), "")


@dataclass
class View:
    """Answer of a command.

    Attributes:
        kind: the JSON schema is ``gradtool/<kind>/1``.
        contents: the answer as JSON values, or what makes them where that takes long: see :attr:`data`.
        blocks: the answer for people: lines and tables.
        next: commands that dig deeper.
        listing: the answer as a table, where the blocks are sentences or hold less, or what makes it (:attr:`table`).
        marks: phrases in the lines -> what they mean, as in :class:`Table`.
        tells_its_end: whether it says itself where the file was stopped.
        in_blocks: whether the tables among the blocks hold all of that table, in parts.
        records: the key in *contents* of the list that has an object for each thing that the answer is about.
    """

    kind: str
    contents: dict[str, Any] | Callable[[], dict[str, Any]]
    blocks: list[str | Table]
    next: list[str] = field(default_factory=list)
    listing: Table | Callable[[], Table] | None = None
    marks: Mapping[str, str] = field(default_factory=dict)
    records: str = ""
    tells_its_end: bool = False
    in_blocks: bool = False

    @cached_property
    def data(self) -> dict[str, Any]:
        """The answer as JSON values."""
        return self.contents() if callable(self.contents) else self.contents

    @cached_property
    def table(self) -> Table | None:
        """The answer as a table, where the blocks are sentences or hold less: what TSV holds."""
        return self.listing() if callable(self.listing) else self.listing

    @property
    def next_line(self) -> str:
        return "next: " + " · ".join(self.next)


def add_met(view: View, met: Mapping[str, Sequence[Mapping[str, str]]]) -> View:
    """*view* with what the run met, by entry of JSON; stderr has said it already."""
    lists = {name: [dict(entry) for entry in entries] for name, entries in met.items() if entries}
    if not lists:
        return view

    def contents() -> dict[str, Any]:
        return {**view.data, **lists}

    return replace(view, contents=contents)


def add_end(view: View, incomplete: str) -> View:
    """*view* with the sentence that says where the file was stopped, if it was."""
    if not incomplete or view.tells_its_end:
        return view

    def contents() -> dict[str, Any]:
        return {**view.data, "incomplete": incomplete}

    return replace(view, contents=contents, blocks=[*view.blocks, incomplete])


def other_losses(about: About, command: str) -> tuple[list[str], list[dict[str, Any]]]:
    """Return notes about other losses of the file, which the answer does not cover; and the same in JSON's types.

    Args:
        command: that answers about each of them.
    """
    if not about.others:
        return [], []
    from . import other_losses

    return other_losses.lines(about, command), [other.data() for other in about.others]


def failure_lines(failure: Answer | None) -> list[str]:
    """Return the lines below a table about the backward pass after it, which failed; none if none did."""
    return [] if failure is None else ["", "the next backward pass failed:", *failure.lines()]


def render_ascii(view: View) -> View:
    """*view* with ASCII cells and lines: before it is laid out, so that columns fit."""

    def table(t: Table) -> Table:
        rows: list[Sequence[str]] = [[to_ascii(printable(c)) for c in row] for row in t.rows]
        headings, judged = [*map(to_ascii, t.headings)], to_ascii(t.judged)
        order = [to_ascii(step.removesuffix("…")) + "…" * step.endswith("…") for step in t.order]
        return replace(t, headings=headings, rows=rows, order=order, judged=judged)

    def list_table() -> Table:
        assert view.table is not None
        return table(view.table)

    marks = {to_ascii(phrase): tone for phrase, tone in view.marks.items()}
    blocks = [table(b) if isinstance(b, Table) else "\n".join(map(to_ascii, b.split("\n"))) for b in view.blocks]
    whole = None if view.listing is None else list_table
    return replace(view, blocks=blocks, next=[*map(to_ascii, view.next)], listing=whole, marks=marks)


def to_json(data: dict[str, Any], kind: str) -> str:
    """JSON with sorted keys, without NaN literals, pure ASCII (the same bytes in every locale)."""
    import json

    return json.dumps({"schema": f"gradtool/{kind}/1", **data}, indent=2, sort_keys=True, allow_nan=False) + "\n"


def to_text(view: View, room: int | None = None, colours: bool = False, sign: str = "…") -> str:
    """*view* for people, as plain text or for a terminal.

    Args:
        room: columns of fixed width that there are; None where nothing is left out, shortened or wrapped.
        colours: whether escape codes may say what is wrong.
        sign: stands for what there is no room for.
    """
    lines = to_lines(view, room, colours, sign)
    last = _next(view, room)
    return "\n".join([*lines, *([paint(line, "dim") for line in last] if colours else last)]) + "\n"


def to_lines(view: View, room: int | None = None, colours: bool = False, sign: str = "…") -> list[str]:
    """The lines of :func:`to_text` without the commands to go on with."""
    lines: list[str] = []
    for block in view.blocks:
        lines += _table(block, room, colours, sign) if isinstance(block, Table) else _text(block, view, room, colours)
    return lines


def _next(view: View, room: int | None) -> list[str]:
    """The commands to go on with: on one line, or each on a line of its own, which can be copied as it stands."""
    line = printable(view.next_line)
    if room is None or cells(line) <= room:
        return [line]
    return [("      " if i else "next: ") + printable(command) for i, command in enumerate(view.next)]


def _text(block: str, view: View, room: int | None, colours: bool) -> Iterator[str]:
    lines = _lines(block).split("\n")
    if room is not None:
        lines = [piece for line in lines for piece in wrap(line, room)]
    if not colours or not view.marks:
        yield from lines
        return
    marks = re.compile("|".join(sorted(map(re.escape, view.marks), key=len, reverse=True)))
    for line in lines:
        yield marks.sub(lambda m: paint(m[0], TONES[view.marks[m[0]]]), line)


def _table(table: Table, room: int | None, colours: bool, sign: str) -> Iterator[str]:
    rows = [[*map(printable, row)] for row in table.rows]
    # Colours are chosen by whole cells, before these are shortened.
    styles = [_styles(table, i, row) for i, row in enumerate(rows)] if colours else []
    if room is None:
        yield from _columns(table.headings, rows, styles)
        return
    fit = fit_table(table.headings, rows, table.order, room, sign)
    headings = [table.headings[i] for i in fit.columns]
    styles = [[row[i] for i in fit.columns] for row in styles]
    if fit.fits:
        yield from _columns(headings, fit.rows, styles)
    else:
        for i, row in enumerate(fit.rows):
            yield from _paragraph(headings, row, styles[i] if styles else [""] * len(row), room)
    if fit.left_out:
        said = f" no room for: {', '.join(fit.left_out)} (a wider terminal, a pipe and --format tsv have all columns)"
        yield from [paint(line, "dim" * colours) for line in wrap(said, room)]


def _styles(table: Table, number: int, row: Sequence[str]) -> list[str]:
    entries = zip(table.headings, row, strict=True)
    return [TONES.get(table.tone(number, heading, cell), "") for heading, cell in entries]


def _columns(headings: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as their widest cell; without colours where there are no styles."""
    lines = [headings, *rows]
    sizes = [[*map(cells, line)] for line in lines]
    widths = [*map(max, zip(*sizes, strict=True))]
    if not styles:
        for row, size in zip(lines, sizes, strict=True):
            yield (" " + "  ".join([c + " " * (w - n) for c, w, n in zip(row, widths, size, strict=True)])).rstrip()
        return
    bold = ["bold"] * len(headings)
    for row, size, drawn in zip(lines, sizes, [bold, *styles], strict=True):
        line, gap = "", 1
        for cell, n, wide, style in zip(row, size, widths, drawn, strict=True):
            line += (" " * gap + paint(cell, style)) * bool(cell)
            gap = (0 if cell else gap) + wide - n + 2
        yield line


def _paragraph(headings: Sequence[str], row: Sequence[str], styles: Sequence[str], room: int) -> Iterator[str]:
    """A row that no order makes short enough: its first cell, and below it the others with their headings."""
    for i, (heading, cell, style) in enumerate(zip(headings, row, styles, strict=True)):
        text = f"   {heading} {cell}" if i and heading else f"   {cell}" if i else f" {cell}"
        for line in wrap(text, room) if cell else ():
            yield line.replace(cell, paint(cell, style)) if style else line


def _lines(block: str) -> str:
    return "\n".join([printable(line.rstrip()) for line in block.split("\n")])


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
    more = [] if view.in_blocks or view.table is None or view.table in view.blocks else [view.table]
    for block in [*view.blocks, *more]:
        if isinstance(block, Table):
            parts.append(markdown.table(block.headings, block.rows))
        elif "\n " in block:
            parts.append(markdown.fence(_lines(block)))
        else:
            parts.append("\n".join(map(markdown.line, block.split("\n"))))
    return "\n\n".join([*parts, markdown.line(view.next_line)]) + "\n"
