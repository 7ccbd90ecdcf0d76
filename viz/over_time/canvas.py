"""Places of the parts of a heat map, and their look in a light and in a dark scheme."""

from __future__ import annotations

from html import escape
from typing import Final

from gradtool.engine.core.records import dataclass

from ..text import FONT, printable
from .ramp import colours

SMALL: Final = 10.0
"""Size of the font; that of the title is larger."""
MARGIN: Final = 18.0
NOT_FINITE, ZERO = "x", "z"
"""Classes of cells that have no level."""
_GAPS_FROM: Final = 7.0
"""Cells of so many pixels stand apart."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Place of the cells.

    Attributes:
        x: where the first step begins.
        cell, row: width and height of a cell.
        per: how many steps a column stands for.
        columns: how many there are.
        steps: how many steps there are.
    """

    x: float
    cell: float
    row: float
    per: int
    columns: int
    steps: int

    @property
    def width(self) -> float:
        return self.cell * self.columns

    @property
    def gap(self) -> float:
        return 1.0 if min(self.cell, self.row) >= _GAPS_FROM else 0.0

    def middle(self, step: int) -> float:
        """The middle of the column of a step, by its number from 1."""
        return self.x + ((step - 1) // self.per + 0.5) * self.cell


def style() -> str:
    """The style element."""
    fills = "".join(f".l{i}{{fill:{c}}}" for i, c in enumerate(colours()))
    rules = (
        f"text{{font:{SMALL:g}px {FONT.replace(chr(34), chr(39))};fill:#1b1f24;white-space:pre}}"
        ".ground{fill:#fff}.q{fill:#57606a}.t{font-size:13px;font-weight:600}.e{text-anchor:end}.m{text-anchor:middle}"
        f".{NOT_FINITE}{{fill:#C8321F}}.{ZERO}{{fill:#A9AEB5}}.h{{fill:none;pointer-events:all}}"
        ".frame{fill:none;stroke:#d0d5db}.grid{stroke:#d0d5db;stroke-width:1}"
        ".curve{fill:none;stroke:#0b5cad;stroke-width:1.6;stroke-linejoin:round}.dot{fill:#0b5cad}"
        ".clip{fill:#b45309}.birth{stroke:#fff;stroke-width:3.4;fill:none}.birth2{stroke:#000;stroke-width:1.5;fill:none}"
        ".mark{stroke:#57606a;stroke-width:1;stroke-dasharray:2 2}.bad{fill:#b3261e;font-weight:600}"
    )
    dark = (
        "text{fill:#e6e8eb}.ground{fill:#16181c}.q{fill:#9aa4b0}.frame,.grid{stroke:#3a414a}.curve{stroke:#7cc0ff}"
        f".dot{{fill:#7cc0ff}}.clip{{fill:#ffc24d}}.mark{{stroke:#9aa4b0}}.bad{{fill:#ff9a91}}.{NOT_FINITE}{{fill:#FF5A45}}"
        f".{ZERO}{{fill:#6B727B}}"
    )
    crisp = "path.c{shape-rendering:crispEdges}"
    return f"<style>{rules}{fills}{crisp}@media (prefers-color-scheme:dark){{{dark}}}</style>"


def n(value: float) -> str:
    """A number as short as it can be."""
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A line of text; *kind* are its classes."""
    attribute = f' class="{kind}"' if kind else ""
    return f'<text x="{n(x)}" y="{n(y)}"{attribute}>{escape(printable(words))}</text>'
