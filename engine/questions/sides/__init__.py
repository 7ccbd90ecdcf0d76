"""The two sides of a comparison: models, models in a revision of git, files that hold a graph, saved sessions.

============  =====================================================================================
side.py       what every kind of side has, what is wanted of one, and what is seen of it
of_model.py   whatever a command takes as MODEL, and FILE@REVISION
of_file.py    files with an outline: golden files, and dumps
of_session.py sessions of the debugger that were saved
============  =====================================================================================
"""

from __future__ import annotations

from typing import Final

from ...answers.diff.outline import Outline
from ...core.notes import Notes
from ...request.request import Request
from ..backward import Backward
from .of_file import DumpSide, Golden
from .of_model import OfModel
from .of_session import SessionSide
from .side import Side, SideAnswer, SideRequest

KINDS: Final[tuple[type[Side], ...]] = (Golden, DumpSide, SessionSide, OfModel)
"""The kinds of sides; the first that claims what a command line names is asked."""

__all__ = ["KINDS", "Side", "SideAnswer", "SideRequest", "outline_of", "side"]


def side(text: str) -> Side:
    """The side that a command line names."""
    return next(kind for kind in KINDS if kind.claims(text))(text)


def outline_of(text: str, request: Request, asked: Backward, notes: Notes) -> Outline:
    """The outline of one side.

    Args:
        text: the side, as the command line names it.
        request: how models are loaded; the model in it is not looked at.

    Raises:
        CommandError: there is nothing of that name.
        GoldenError: a file is no outline.
        ModelError: the user's code raised.
        GradtoolError: the engine refused.
    """
    return side(text).seen(SideRequest(asked), request, notes).the_outline
