"""Errors about the attributes of a layer."""

from __future__ import annotations

from gradtool.engine.core.errors import ArgumentTypeError, NotFound, UsageError


class MissingForward(UsageError, NotImplementedError):
    """A layer without a ``forward`` was called (Paddle raises NotImplementedError)."""


class MissingAttribute(UsageError, AttributeError):
    """A layer has no attribute of that name."""


class NameTaken(NotFound):
    """A name that a parameter cannot have (Paddle raises KeyError)."""


class NoLayer(ArgumentTypeError, AssertionError):
    """Something else where a layer is expected (Paddle raises AssertionError)."""
