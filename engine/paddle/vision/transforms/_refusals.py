"""Refusals of transforms, under the classes that Paddle raises."""

from __future__ import annotations

from gradtool.engine.core.errors import UsageError


class WrongValue(UsageError, AssertionError):
    """Arguments that do not fit (Paddle raises AssertionError)."""


class MissingApply(UsageError, NotImplementedError):
    """A transform does not say what becomes of such an input (Paddle raises NotImplementedError)."""
