"""Blocks as text for terminals and for notebooks that show nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from ..debugger.cell import Cell
from ..table import TextTable
from ..text import printable
from .blocks import Block, Commands, Data, Document, Excerpt, Figure, Lines, Prose, Section


def document(d: Document) -> str:
    """The whole document, without what only programs read."""
    shown = [s for s in d.sections if not all(isinstance(b, Data) for b in s.blocks)]
    facts = [f"{name}: {printable(text)}" for name, text in d.facts]
    return "\n\n".join(["\n".join([printable(d.title), *facts]), *map(section, shown)])


def section(s: Section) -> str:
    """A heading and what stands under it."""
    return f"{s.title}\n\n{blocks(s.blocks)}"


def blocks(content: Iterable[Block]) -> str:
    """Blocks, one under the other."""
    return "\n\n".join(map(_block, content))


def plain(text: str) -> str:
    """*text* without control characters, line by line."""
    return "\n".join(printable(line.expandtabs()) for line in text.split("\n"))


def prompt_lines(cell: Cell) -> str:
    """``In [3]: back 2``, further lines below the first."""
    head = f"In [{cell.number}]: "
    return head + plain(cell.source).replace("\n", "\n" + "...: ".rjust(len(head)))


def excerpt(e: Excerpt) -> str:
    """The lines, the one that matters marked, and the calls that led there."""
    wide = max((len(str(n)) for n, _ in e.lines), default=1)
    lines = [f"{'▶' if n == e.here else ' '} {n:>{wide}} │ {printable(t)}".rstrip() for n, t in e.lines]
    if e.stack:
        lines += ["called by", *(f"  {printable(line.strip())}" for line in e.stack)]
    return "\n".join(lines)


def _block(b: Block) -> str:
    match b:
        case Prose() | Lines():
            return plain(b.text)
        case TextTable():
            return str(b)
        case Figure():
            return plain(b.text)
        case Excerpt():
            return f"{printable(b.place)}   {printable(b.results)}\n{excerpt(b)}"
        case Commands():
            return "next: " + " · ".join(map(printable, b.lines))
        case Data():
            return b.text.rstrip("\n")
        case Cell():
            if b.note:
                return plain(b.source)
            return prompt_lines(b) + (f"\n{plain(b.text)}" if b.text else "")
