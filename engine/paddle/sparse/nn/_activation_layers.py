"""Activations of sparse tensors as layers."""

from __future__ import annotations

from typing import Any

from gradtool.paddle.nn._layers import named
from gradtool.paddle.nn.layer import Layer

from . import functional as F


class ReLU(Layer):
    """``max(x, 0)`` of each stored element."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        return F.relu(x)

    def extra_repr(self) -> str:
        return named(self._name).removeprefix(", ")


class ReLU6(Layer):
    """``min(max(x, 0), 6)`` of each stored element."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        return F.relu6(x)

    def extra_repr(self) -> str:
        return named(self._name).removeprefix(", ")


class LeakyReLU(Layer):
    """*x* where it is positive, ``negative_slope · x`` elsewhere, of each stored element."""

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        super().__init__()
        self._negative_slope, self._name = negative_slope, name

    def forward(self, x: Any) -> Any:
        return F.leaky_relu(x, self._negative_slope)

    def extra_repr(self) -> str:
        return named(self._name).removeprefix(", ")


class Softmax(Layer):
    """Softmax over the stored elements along *axis*."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._name = axis, name

    def forward(self, x: Any) -> Any:
        return F.softmax(x, self._axis)

    def extra_repr(self) -> str:
        return named(self._name).removeprefix(", ")
