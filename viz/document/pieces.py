"""Blocks as HTML: for pages, which style the classes, and for the outputs of notebooks, which do not know them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from html import escape

from ..debugger.cell import Cell
from ..table import TextTable
from ..text import printable
from .blocks import Block, Commands, Data, Excerpt, Figure, Lines, Prose
from .safe import harmless
from .text import plain, prompt_lines


def html(blocks: Iterable[Block]) -> str:
    """Blocks, one under the other."""
    return "\n".join(map(_block, blocks))


def text(string: str) -> str:
    """One line of text."""
    return escape(printable(string))


def image(svg: str, said: str) -> str:
    """A picture that stands in the page itself, and in which neither a script nor a link works."""
    data = base64.b64encode(svg.encode("utf-8", "backslashreplace")).decode("ascii")
    alt = text(said)
    width = _WIDTH.search(svg)
    kind = ' class="large"' if width is not None and float(width[1]) > _SHRINKS_FROM else ""
    shown = f'<img{kind} src="data:image/svg+xml;base64,{data}" alt="{alt}">'
    return f'<div class="picture" tabindex="0" role="region" aria-label="{alt}">{shown}</div>'


_WIDTH = re.compile(r'<svg\b[^>]*?\swidth="([\d.]+)')
_SHRINKS_FROM = 1700
"""Pictures up to this many pixels wide are shrunk to the page; wider ones could not be read then, and scroll."""


def _lines(string: str) -> str:
    """Several lines of text, as what stands in an element."""
    return escape(plain(string), quote=False)


def _block(b: Block) -> str:
    match b:
        case Prose():
            return f"<p>{_lines(b.text)}</p>"
        case Lines():
            return f"<pre>{_lines(b.text)}</pre>"
        case TextTable():
            return f'<div class="wide" tabindex="0" role="group" aria-label="table">{b.html()}</div>'
        case Figure():
            return _figure(b)
        case Excerpt():
            return _excerpt(b)
        case Commands():
            items = "".join(f"<li><code>{text(line)}</code></li>" for line in b.lines)
            return f'<ul class="next" aria-label="commands that say more">{items}</ul>'
        case Data():
            return f"<details><summary>{text(b.summary)}</summary><pre>{_lines(b.text)}</pre></details>"
        case Cell():
            return _cell(b)


def _figure(figure: Figure) -> str:
    if not figure.caption:
        return f"<figure>{image(figure.svg, 'the picture')}</figure>"
    return f"<figure>{image(figure.svg, figure.caption)}<figcaption>{text(figure.caption)}</figcaption></figure>"


def _excerpt(e: Excerpt) -> str:
    lines = "".join(
        f'<span class="{"line here" if n == e.here else "line"}" data-line="{n}">{text(t)}</span>' for n, t in e.lines
    )
    stack = ""
    if e.stack:
        stack = f'<p>called by</p><pre class="stack">{_lines(chr(10).join(e.stack))}</pre>'
    body = f'<pre class="source">{lines}</pre>' if lines else ""
    return f"<h3><code>{text(e.place)}</code> {text(e.results)}</h3>\n{body}{stack}"


def _cell(c: Cell) -> str:
    if c.note:
        return f'<div class="note"><pre>{_lines(c.source)}</pre></div>'
    if c.html is not None:
        out = harmless(c.html)
    elif c.svg is not None and "\n" in c.text:
        out = f"<details><summary>as text</summary><pre>{_lines(c.text)}</pre></details>"
    elif c.text:
        out = f"<pre>{_lines(c.text)}</pre>"
    else:
        out = ""
    if c.svg is not None:
        out = image(c.svg, f"picture of cell {c.number}") + out
    kind = "cell failed" if c.failed else "cell"
    shown = f'<div class="out">{out}</div>' if out else ""
    typed = escape(prompt_lines(c), quote=False)
    return f'<div class="{kind}" id="cell-{c.number}"><pre class="in">{typed}</pre>{shown}</div>'
