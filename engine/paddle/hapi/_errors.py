"""Errors and warnings of ``paddle.Model``."""

from __future__ import annotations

from gradtool.engine.core.errors import UsageError


class NotReadyError(UsageError, AssertionError):
    """The model lacks what a call needs (Paddle raises AssertionError)."""


class SkippedWarning(UserWarning):
    """A parameter that was not loaded, or a callback that has nothing to look at."""
