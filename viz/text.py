"""Names as people see them: on one line, and not too long."""

from __future__ import annotations

import re
from collections.abc import Callable

from gradtool.engine.core.near_names import shorten as shorten

FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace'
"""Names of operators and tensors are code. In a typeface of fixed width a layout knows how wide they are."""

ADVANCE = 0.602
"""Width of a character in those typefaces, in sizes of the font; none of them is wider."""


def printable(name: str) -> str:
    r"""*name* on one line: control characters become visible escapes such as ``\n``."""
    if name.isprintable():
        return name
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in name)


def escape_sign(sign: str) -> str:
    r"""A character as a text shows it escaped: ``\x3a``."""
    return f"\\x{ord(sign):02x}"


def inert(text: str, escaped: Callable[[str], str] = escape_sign) -> str:
    r"""Return *text* without what pipelines obey that read it: ``::stop-commands::``, ``##[group]``, ``##vso[…]``.

    A workflow of GitHub obeys lines that begin with ``::``, with blanks before it or not; that of Azure, ``##[`` and
    ``##vso[`` wherever they stand, as old workflows of GitHub do; TeamCity obeys ``##teamcity[``.

    Args:
        escaped: what stands in place of the first character of each.

    >>> print(inert("::stop-commands::x: GT103"))
    \x3a:stop-commands::x: GT103
    """
    return _COMMAND.sub(lambda found: (found["before"] or "") + escaped(found["colon"] or found["hash"]), text)


_COMMAND = re.compile(r"(?P<before>^[^\S\n]*)(?P<colon>:)(?=:)|(?P<hash>#)(?=#\w*\[)", re.MULTILINE)


def legible(text: str) -> str:
    """Lines of a message as a terminal gets them: control characters visible, and of endless words the ends."""
    return "\n".join(_WORD.sub(lambda word: shorten(word[0]), printable(line)) for line in text.split("\n"))


_WORD = re.compile(r"\S{400,}")
"""Longer than any path or name that a person has chosen."""


_ASCII = str.maketrans(
    {
        "–": "-",
        "·": "|",
        "→": "->",
        "←": "<-",
        "↔": "<->",
        "×": "x",
        "‖": "||",
        "…": "...",
        "″": '"',
        "∞": "inf",
        "⟨": "<",
        "⟩": ">",
        "µ": "u",
        "√": "sqrt",
        "²": "^2",
        "³": "^3",
        "±": "+-",
        "θ": "theta",
        "≤": "<=",
        "Δ": "d",
    }
    | dict(zip("▁▂▃▄▅▆▇█", "1234567#", strict=True))
    | dict(zip("▏▎▍▌▋▊▉", "...::::", strict=True))
    | {"─": "-", "✂": "x", "▶": ">", "│": "|", "✓": "v", "●": "*", "✗": "x", "■": "#"}
)


def to_ascii(text: str) -> str:
    """*text* with the signs of this program replaced by ASCII ones; other characters become escapes."""
    return text.replace("‖·‖", "norm").translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


_UNUSUAL = re.compile("[^\\u0000-\\u02ff\\u2010-\\u22ff]")
"""Characters that may take no column, or two."""


def cells(text: str) -> int:
    """Columns of fixed width that *text* takes: characters of East Asia take two."""
    if text.isascii() or _UNUSUAL.search(text) is None:
        return len(text)
    from unicodedata import combining, east_asian_width

    wide = sum(east_asian_width(c) in "WF" for c in text if not combining(c))
    return wide + sum(not combining(c) for c in text)


def fit_text(text: str, longest: int) -> str:
    """*text* on one line in at most *longest* columns, its middle left out where it must be."""
    if len(text) <= longest and text.isascii() and text.isprintable():
        return text
    text = shorten(text if text.isprintable() else printable(text[: 4 * longest]), longest)
    while cells(text) > longest:
        text = shorten(text, len(text) - 1)
    return text


def text_width(text: str, size: float) -> float:
    """Pixels that *text* takes in a font of that size."""
    return cells(text) * size * ADVANCE
