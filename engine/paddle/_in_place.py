"""``paddle.tanh_(x)`` and the like: methods that change their tensor, as functions."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from ._arguments import tensor
from ._variable_methods import IN_PLACE


def _function(method: str) -> Callable[..., Any]:
    def call(*args: Any, **named: Any) -> Any:
        name = "x"
        if not args:
            function = getattr(importlib.import_module("gradtool.paddle"), method[:-1])
            name = next(iter(inspect.signature(function).parameters))
        first, *rest = args or [named.pop(name, None)]
        return getattr(tensor(first, name, f"paddle.{method}"), method)(*rest, **named)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"``x.{method}(…)``: change *x* in place and return it; in a static program make a new variable."
    return call


globals().update({name + "_": _function(name + "_") for name in IN_PLACE.split()})
