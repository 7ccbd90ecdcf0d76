"""Forms in which notebooks keep blocks: the same content several times, of which they show the best that they can."""

from __future__ import annotations

from collections.abc import Sequence

from ..debugger.cell import Cell
from . import markdown, pieces
from .blocks import Block, Commands, Data, Figure
from .safe import harmless
from .text import blocks as as_text
from .text import plain


def bundle(blocks: Sequence[Block]) -> dict[str, str]:
    """MIME type -> content. A picture is an image, as notebooks know them; a text for programs stays text."""
    forms = {"text/plain": as_text(blocks)}
    if all(isinstance(b, Data) for b in blocks):
        return forms
    shown = [b for b in blocks if not isinstance(b, Commands)]
    if len(shown) == 1 and isinstance(shown[0], Figure):
        forms["image/svg+xml"] = shown[0].svg
    else:
        forms["text/html"] = pieces.html(blocks)
    return forms


def cell_bundle(cell: Cell) -> dict[str, str]:
    """The same for what came of a cell of a session; empty where nothing did."""
    if cell.note:
        return {"text/plain": plain(cell.source), "text/markdown": markdown.note(cell.source)}
    if not cell.text and cell.html is None and cell.svg is None:
        return {}
    forms = {"text/plain": plain(cell.text)}
    if cell.html is not None:
        forms["text/html"] = harmless(cell.html)
    if cell.svg is not None:
        forms["image/svg+xml"] = cell.svg
    return forms
