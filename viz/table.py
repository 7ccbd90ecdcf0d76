"""Tables as results: text when printed, a table in notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from gradtool.engine.result import Result

from .text import cells, printable


@dataclass(frozen=True, slots=True)
class Table(Result):
    """Rows of text under headings.

    Attributes:
        title: what it is of.
    """

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]

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
        """The element of the table; every text in it is text."""
        head = "".join(f'<th scope="col">{escape(h)}</th>' for h in self.headings)
        body = "".join(f"<tr>{''.join(f'<td>{escape(printable(c))}</td>' for c in row)}</tr>" for row in self.rows)
        return (
            f"<table><caption>{escape(printable(self.title))}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>"
        )
