"""A cell of a debugger session as plain data: what was typed and what came of it."""

from __future__ import annotations

from gradtool.engine.core.records import dataclass


@dataclass
class Cell:
    """One cell.

    Attributes:
        number: of ``In [number]``; cells of a session have different ones.
        source: what was typed: a verb with its arguments (``back 2``), Python, or the text of a note.
        text: the output as text.
        html, svg: the same as a table or as a picture, where there is one.
        failed: whether it ended with an error, which *text* tells.
        note: whether it is a note in Markdown.
    """

    number: int
    source: str
    text: str = ""
    html: str | None = None
    svg: str | None = None
    failed: bool = False
    note: bool = False
