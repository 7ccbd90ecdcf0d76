"""The outcome as a badge in SVG: what was checked at the left, how many findings make the gate fail at the right."""

from __future__ import annotations

from xml.sax.saxutils import escape

from gradtool.engine.core.wording import count
from gradtool.engine.gate.report import Report

_ADVANCE = 6.6
"""Pixels of a character of the font, which is set to this width by ``textLength``."""
_GOOD, _BAD = "#1a7f37", "#b3261e"


def text(report: Report) -> str:
    """An image with a title for screen readers."""
    left = "gradients"
    right = count(report.findings, "finding") if report.findings else "checked"
    colour = _BAD if report.findings else _GOOD
    first, second = (round(len(word) * _ADVANCE + 12) for word in (left, right))
    title = escape(f"{left}: {right}")
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="20" role="img" aria-label="{title}">
<title>{title}</title>
<rect width="{first + second}" height="20" rx="3" fill="#444"/>
<path d="M{first} 0h{second - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{second - 3}z" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
<text x="6" y="14" textLength="{first - 12}" lengthAdjust="spacingAndGlyphs">{escape(left)}</text>
<text x="{first + 6}" y="14" textLength="{second - 12}" lengthAdjust="spacingAndGlyphs">{escape(right)}</text>
</g>
</svg>
"""
