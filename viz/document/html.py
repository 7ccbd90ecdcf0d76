"""A document as one HTML file that loads nothing, has no script, and prints as it reads.

Pictures stand in it as data, in which a browser runs no script and follows no link. The content security policy allows
them and this one style.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

import gradtool

from ..policy import digest
from ..text import FONT, printable, shorten
from . import pieces
from .blocks import Document, Section

LONGEST_TITLE: Final = 200
_POLICY: Final = "default-src 'none'; img-src data:; style-src '{}'; base-uri 'none'; form-action 'none'"


def to_html(document: Document) -> str:
    """The document as the text of an HTML file; the same text for the same document, every time."""
    style = _style()
    title = escape(shorten(printable(document.title), LONGEST_TITLE))
    facts = "".join(f"<div><dt>{pieces.text(n)}</dt><dd>{pieces.text(t)}</dd></div>" for n, t in document.facts)
    links = "".join(f'<li><a href="#{s.name}">{pieces.text(s.title)}</a></li>' for s in document.sections)
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY.format(digest(style))}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f'<meta name="generator" content="gradtool {escape(gradtool.__version__)}">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{title}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
        '<a id="skip" href="#content">Skip to the content</a>',
        "<header>",
        f"<h1>{title}</h1>",
        f"<dl>{facts}</dl>" if facts else "",
        "</header>",
        f'<nav aria-label="sections"><ol>{links}</ol></nav>' if len(document.sections) > 1 else "",
        '<main id="content">',
        *map(_section, document.sections),
        "</main>",
        "</body>",
        "</html>",
    ]
    return "\n".join(filter(None, lines)) + "\n"


def _section(s: Section) -> str:
    return (
        f'<section id="{s.name}" aria-labelledby="{s.name}-title">\n'
        f'<h2 id="{s.name}-title">{pieces.text(s.title)}</h2>\n'
        f"{pieces.html(s.blocks)}\n</section>"
    )


_INDENT = re.compile(r"\n\s+")


@cache
def _style() -> str:
    text = (files("gradtool.viz.document") / "document.css").read_text(encoding="utf-8")
    return _INDENT.sub("\n", f":root {{ --code: {FONT}; }}\n{text}")
