"""Meanings of colours in answers: the one table of them, for terminals of any kind and for notebooks."""

from __future__ import annotations

from typing import Final

TONES: Final = {"bad": "red", "warn": "yellow", "good": "green", "dim": "dim"}
"""What a cell or a phrase means -> how a terminal shows it: a finding red, a note yellow, what is right green."""

LOUD: Final = ("bad", "warn")
"""Tones that ask to be looked at: bold where there are no colours to choose."""

_CODES: Final = {"red": "31", "yellow": "33", "green": "32", "dim": "2", "bold": "1"}


def paint(text: str, style: str) -> str:
    """*text* between the escape codes of a style such as ``red``; as it is for no style, or where there is no text."""
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if style and text else text
