"""What notebooks keep of blocks: the same content in several forms, of which they show the best that they can."""

from __future__ import annotations

from collections.abc import Sequence

from . import pieces
from .blocks import Block, Commands, Data, Figure
from .text import blocks as as_text


def bundle(blocks: Sequence[Block]) -> dict[str, str]:
    """MIME type -> content. A picture is an image, as notebooks know them; a text for programs stays text."""
    found = {"text/plain": as_text(blocks)}
    if all(isinstance(b, Data) for b in blocks):
        return found
    shown = [b for b in blocks if not isinstance(b, Commands)]
    if len(shown) == 1 and isinstance(shown[0], Figure):
        found["image/svg+xml"] = shown[0].svg
    else:
        found["text/html"] = pieces.html(blocks)
    return found
