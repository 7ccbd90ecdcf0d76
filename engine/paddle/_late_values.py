"""``paddle.LazyGuard``: layers whose parameters get their values later."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.eager.parameter import TensorParameter

_late: ContextVar[bool] = ContextVar("gradtool_late_values", default=False)


class ValuesError(UsageError, AssertionError):
    """A parameter has its values already (Paddle raises AssertionError)."""


class LazyGuard:
    """Inside, parameters of layers are made without values; ``parameter.initialize()`` draws them.

    Until then every element is NaN, so that nothing that is computed with them looks like a result. In static mode it
    changes nothing: there the startup program gives the values.

    >>> from gradtool import paddle
    >>> with paddle.LazyGuard():
    ...     layer = paddle.nn.Linear(2, 2)
    >>> for parameter in layer.parameters():
    ...     parameter.initialize()
    >>> layer.bias.tolist()
    [0.0, 0.0]
    """

    def __init__(self) -> None:
        self._tokens: list[Token[bool]] = []

    def __enter__(self) -> LazyGuard:
        self._tokens.append(_late.set(True))
        return self

    def __exit__(self, *error: object) -> None:
        _late.reset(self._tokens.pop())


def parameter(fill: Callable[[], Any], spec: TensorSpec, name: str, flags: dict[str, Any]) -> TensorParameter:
    """A parameter of dynamic mode: with the values that *fill* gives, at once or on ``initialize()``."""
    if not _late.get():
        return TensorParameter(fill(), name, **flags)
    shape: Any = spec.shape
    empty = np.full(shape, np.nan, spec.dtype.numpy) if spec.dtype.is_floating else np.zeros(shape, spec.dtype.numpy)
    result = TensorParameter(empty, name, **flags)
    waiting = [fill]

    def initialize() -> None:
        """Draw the values.

        Raises:
            ValuesError: they are drawn (an AssertionError).
        """
        if not waiting:
            raise ValuesError(f"{name} has its values already.", hint="call initialize() once")
        result.set_value(waiting.pop()())

    result.__dict__["initialize"] = initialize
    return result
