"""``paddle.tanh_(x)`` and the like: methods that change their tensor, as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._arguments import tensor
from ._variable_methods import IN_PLACE


def _function(method: str) -> Callable[..., Any]:
    def call(x: Any, *args: Any, **named: Any) -> Any:
        return getattr(tensor(x, "x", f"paddle.{method}"), method)(*args, **named)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"``x.{method}(…)``: change *x* in place and return it; in a static program make a new variable."
    return call


globals().update({name + "_": _function(name + "_") for name in IN_PLACE.split()})
