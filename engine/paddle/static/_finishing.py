"""Shared parts of the layers of ``paddle.static.nn``: parameters that must be there, a bias, an activation."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import UsageError
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _parameters
from gradtool.paddle._dispatch import apply


class MissingParameter(UsageError, AssertionError):
    """A parameter that a layer cannot do without was switched off (Paddle raises AssertionError)."""


def required(attr: Any, what: str, where: str) -> None:
    """Raise :class:`MissingParameter` when the parameter is switched off."""
    if attr is False:
        raise MissingParameter(f"{what} should not be False in {where}.")


def activated(x: Variable, act: str | None, layer: str) -> Variable:
    """*x* through the activation called *act*, as part of *layer*."""
    return x if act is None else apply(act, x, name=layer)


def finished(x: Variable, bias_attr: Any, filters: int, last: bool, act: str | None, layer: str) -> Variable:
    """*x* with a bias for each channel, through the activation."""
    b = _parameters.make(layer, bias_attr, [filters], x.dtype, is_bias=True)
    if b is not None:
        x = apply("elementwise_add", x, b, attrs={"axis": x.ndim - 1 if last else 1}, name=layer)
    return activated(x, act, layer)
