"""Refusals of networks, under the classes that Paddle raises."""

from __future__ import annotations

from gradtool.engine.core.errors import UsageError


class WrongNet(UsageError, AssertionError):
    """A network of another kind than there are (Paddle raises AssertionError)."""


class WrongScale(UsageError, NotImplementedError):
    """A network of another size than there are (Paddle raises NotImplementedError)."""


class WrongActivation(UsageError, RuntimeError):
    """An activation that the network does not know (Paddle raises RuntimeError)."""
