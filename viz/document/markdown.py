"""A document as Markdown, in the dialect of GitHub: tables, fenced blocks, Mermaid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..debugger.cell import Cell
from ..table import TextTable
from ..text import printable
from .blocks import Block, Commands, Data, Document, Excerpt, Figure, Lines, Prose
from .text import excerpt, plain, prompt_lines


def to_markdown(document: Document) -> str:
    """The document as Markdown; the same text for the same document, every time."""
    parts = [f"# {line(document.title)}"]
    if document.facts:
        parts.append("\n".join(f"- {line(name)}: {line(text)}" for name, text in document.facts))
    for s in document.sections:
        parts.append(f"## {line(s.title)}")
        parts += blocks(s.blocks)
    return "\n\n".join(parts) + "\n"


def blocks(content: Iterable[Block]) -> Iterator[str]:
    """The text of every block."""
    return map(_block, content)


def line(text: str) -> str:
    r"""*text* on one line, and nothing in it means anything: ``a\_b\[0\]``."""
    return _SIGNS.sub(r"\\\g<0>", printable(text))


_SIGNS = re.compile(r"[\\`*_<>\[\]|~$&]|^[#+=-]")


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are text."""
    lines = ["| " + " | ".join(map(line, row)) + " |" for row in (headings, *rows)]
    lines.insert(1, "|" + " --- |" * len(headings))
    return "\n".join(lines)


def fence(text: str, language: str = "") -> str:
    """*text* as it stands, between fences that are longer than any in it."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip(chr(10))}\n{fence}"


def note(text: str) -> str:
    """A note that the user wrote, in Markdown already."""
    return plain(text)


def _block(b: Block) -> str:
    match b:
        case Prose():
            return "\n".join(map(line, b.text.split("\n")))
        case Lines():
            return fence(plain(b.text))
        case TextTable():
            return "\n\n".join([*([line(b.title)] if b.title else []), table(b.headings, b.rows)])
        case Figure():
            return _figure(b)
        case Excerpt():
            return f"**{line(b.place)}** {line(b.results)}\n\n{fence(excerpt(b))}"
        case Commands():
            return "next: " + " · ".join(map(_code, b.lines))
        case Data():
            return f"<details><summary>{line(b.summary)}</summary>\n\n{fence(b.text)}\n\n</details>"
        case Cell():
            return _cell(b)


def _figure(figure: Figure) -> str:
    picture = fence(figure.mermaid, "mermaid") if figure.mermaid else fence(plain(figure.text))
    return f"{picture}\n\n{line(figure.caption)}" if figure.caption else picture


def _cell(cell: Cell) -> str:
    if cell.note:
        return note(cell.source)
    source = fence(prompt_lines(cell))
    if not cell.text:
        return source
    return f"{source}\n\n{'Failed' if cell.failed else 'Out'}\\[{cell.number}\\]:\n\n{fence(plain(cell.text))}"


def _code(text: str) -> str:
    """*text* as code within a line."""
    text = printable(text)
    ticks = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"
