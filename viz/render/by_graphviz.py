"""PNG and PDF: the DOT text with its places, drawn by Graphviz."""

from __future__ import annotations

from ..external import draw
from ..forms import Drawable
from . import dot


def picture(subject: Drawable, form: str) -> bytes:
    """The picture as ``png`` or ``pdf``.

    Raises:
        GraphvizError: Graphviz is missing or failed.
    """
    return draw(dot.picture(subject, form), form)
