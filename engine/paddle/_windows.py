"""``paddle.hann_window``, ``paddle.kaiser_window``, …: weights that fade a piece of a signal out at both ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._creation import to_tensor


def _cosines(places: Any, size: int, weights: tuple[float, ...]) -> Any:
    turns = 2 * np.pi * places / size
    return sum(w * (-1) ** i * np.cos(i * turns) for i, w in enumerate(weights))


def _made(name: str, length: int, periodic: bool, values: Callable[[Any, int], Any], dtype: Any, asks: bool) -> Any:
    """The window: *values* of the places and how many lie between the two ends."""
    if length < 0:
        raise UsageError(f"paddle.{name}: window_length must not be negative, but is {length}.")
    kind = dtype_of(dtype)
    if not kind.is_floating:
        raise UsageError(f"paddle.{name}: dtype must be one of floating-point numbers, but is {kind.name}.")
    last = length if periodic else length - 1
    window = np.ones(length) if length <= 1 else np.asarray(values(np.arange(length), last))
    return to_tensor(window.astype("float64"), dtype=kind, stop_gradient=not asks)


def bartlett_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> AnyTensor:
    """A triangle.

    Args:
        window_length: how many numbers.
        periodic: leave the last number of a window that is longer by one out.
    """

    def values(places: Any, last: int) -> Any:
        return 1 - np.abs(2 * places / last - 1)

    return _made("bartlett_window", window_length, periodic, values, dtype, requires_grad)  # type: ignore[no-any-return]


def blackman_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> AnyTensor:
    """Blackman's sum of three cosines; the arguments are those of :func:`bartlett_window`."""

    def values(places: Any, last: int) -> Any:
        return _cosines(places, last, (0.42, 0.5, 0.08))

    return _made("blackman_window", window_length, periodic, values, dtype, requires_grad)  # type: ignore[no-any-return]


def hamming_window(
    window_length: int,
    periodic: bool = True,
    alpha: float = 0.54,
    beta: float = 0.46,
    *,
    dtype: Any = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> AnyTensor:
    """``alpha`` less ``beta`` times a cosine; the other arguments are those of :func:`bartlett_window`."""

    def values(places: Any, last: int) -> Any:
        return _cosines(places, last, (alpha, beta))

    return _made("hamming_window", window_length, periodic, values, dtype, requires_grad)  # type: ignore[no-any-return]


def hann_window(
    window_length: int,
    periodic: bool = True,
    *,
    dtype: Any = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> AnyTensor:
    """The square of a sine; the arguments are those of :func:`bartlett_window`."""

    def values(places: Any, last: int) -> Any:
        return _cosines(places, last, (0.5, 0.5))

    return _made("hann_window", window_length, periodic, values, dtype, requires_grad)  # type: ignore[no-any-return]


def kaiser_window(
    window_length: int,
    periodic: bool = True,
    beta: float = 12.0,
    *,
    dtype: Any = "float32",
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> AnyTensor:
    """Kaiser's window of Bessel functions; the other arguments are those of :func:`bartlett_window`.

    Args:
        beta: how narrow it is.
    """

    def values(places: Any, last: int) -> Any:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * places / last - 1) ** 2, 0))) / np.i0(beta)

    return _made("kaiser_window", window_length, periodic, values, dtype, requires_grad)  # type: ignore[no-any-return]
