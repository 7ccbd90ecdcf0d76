"""``F.relu_(x)`` and the like: activations that are written to their tensor."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from typing import Any

from gradtool.engine.core.state import in_static_mode
from gradtool.paddle import _tensor_methods
from gradtool.paddle._arguments import tensor
from gradtool.paddle.nn import functional as F

NAMES = "elu hardtanh leaky_relu relu softmax tanh thresholded_relu"


def _function(name: str) -> Callable[..., Any]:
    plain = getattr(F, name)
    method = _tensor_methods.in_place(name, F.__name__)

    def call(x: Any, *args: Any, **named: Any) -> Any:
        if not in_static_mode():
            return method(tensor(x, "x", f"{name}_"), *args, **named)
        warnings.warn(f"In a static program {name}_() is the same as {name}(): it makes a new variable.", stacklevel=2)
        return plain(x, *args, **named)

    call.__name__ = call.__qualname__ = name + "_"
    call.__doc__ = f"``paddle.nn.functional.{name}``, written to *x*, which is returned; in a program a new variable."
    call.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    return call


globals().update({name + "_": _function(name) for name in NAMES.split()})
