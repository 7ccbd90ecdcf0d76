"""Tables as results: text when printed, a table in notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from html import escape

from gradtool.engine.core.records import dataclass
from gradtool.engine.core.result import Result

from .text import cells, printable


@dataclass(frozen=True, slots=True)
class TextTable(Result):
    """Rows of text under headings.

    Attributes:
        title: what it is of; may be empty.
        tones: how cells are meant, by their beginnings: ``{"ok": "good", "cut": "bad"}``, also ``warn`` and ``dim``.
        anchors: what the rows are called in a page, where others may link to them: ``#NAME``.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    tones: Mapping[str, str] = field(default_factory=dict)
    anchors: Sequence[str] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def __len__(self) -> int:
        return len(self.rows)

    def _lines(self) -> Iterator[str]:
        lines = [list(self.headings), *(list(map(printable, row)) for row in self.rows)]
        widths = [max(map(cells, column)) for column in zip(*lines, strict=True)]
        for line in lines:
            yield "  ".join(c + " " * (w - cells(c)) for c, w in zip(line, widths, strict=True)).rstrip()

    def html(self) -> str:
        """A table element; tones are classes."""
        caption = f"<caption>{escape(printable(self.title))}</caption>" if self.title else ""
        head = "".join(f'<th scope="col">{escape(printable(h))}</th>' for h in self.headings)
        places = [f' id="{escape(name)}"' for name in self.anchors] or [""] * len(self.rows)
        rows = zip(places, self.rows, strict=True)
        body = "".join(f"<tr{place}>{''.join(map(self._cell, row))}</tr>" for place, row in rows)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def _cell(self, cell: str) -> str:
        tone = next((tone for start, tone in self.tones.items() if cell.startswith(start)), None)
        attribute = f' class="{tone}"' if tone is not None else ""
        return f"<td{attribute}>{escape(printable(cell))}</td>"
