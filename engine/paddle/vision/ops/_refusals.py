"""Refusals of operators on images."""

from __future__ import annotations

from gradtool.engine.core.errors import UsageError


class WrongBoxes(UsageError, AssertionError):
    """Arguments about boxes that do not fit together (Paddle raises AssertionError)."""


def expect(fits: bool, text: str) -> None:
    """Raise :class:`WrongBoxes` with *text* unless it *fits*."""
    if not fits:
        raise WrongBoxes(text)
