"""Errors of ``paddle.io``: Paddle checks with assertions, or raises RuntimeError, where other functions do not."""

from __future__ import annotations

from gradtool.engine.core.errors import UsageError


class DataError(UsageError, AssertionError):
    """Data sets, samplers or settings that do not fit together (Paddle raises AssertionError)."""


class NotWritten(UsageError, NotImplementedError):
    """A method that the user's class has to define (Paddle raises NotImplementedError)."""


class StreamError(UsageError, RuntimeError):
    """Asked of a data set that is only read from its beginning, or of samples that differ (a RuntimeError)."""


def check_flag(value: object, what: str) -> None:
    """Raise :class:`DataError` unless it is True or False."""
    if not isinstance(value, bool):
        raise DataError(f"{what} should be a boolean value, but got {type(value)}")


def check_count(value: object, what: str) -> None:
    """Raise :class:`DataError` unless it is a positive integer."""
    if not isinstance(value, int) or value <= 0:
        raise DataError(f"{what} should be a positive integer, but got {value}")
