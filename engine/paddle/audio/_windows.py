"""Windows: what pieces of a signal are multiplied with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.paddle._creation import to_tensor

Array = np.ndarray[Any, Any]


def _cosines(n: int, *shares: float) -> Array:
    """A sum of cosines with these shares, over one turn."""
    turn = np.linspace(-math.pi, math.pi, n)
    return np.asarray(np.sum([share * np.cos(k * turn) for k, share in enumerate(shares)], axis=0))


def _general_hamming(n: int, alpha: float) -> Array:
    return _cosines(n, alpha, 1.0 - alpha)


def _general_gaussian(n: int, p: float, sig: float) -> Array:
    places = np.arange(n) - (n - 1) / 2
    return np.asarray(np.exp(-0.5 * np.abs(places / sig) ** (2 * p)))


def _gaussian(n: int, std: float) -> Array:
    return _general_gaussian(n, 1.0, std)


def _exponential(n: int, center: float | None = None, tau: float = 1.0) -> Array:
    middle = (n - 1) / 2 if center is None else center
    return np.asarray(np.exp(-np.abs(np.arange(n) - middle) / tau))


def _triang(n: int) -> Array:
    places = np.arange(1, (n + 1) // 2 + 1)
    if n % 2 == 0:
        rising = (2 * places - 1) / n
        return np.concatenate([rising, rising[::-1]])
    rising = 2 * places / (n + 1)
    return np.concatenate([rising, rising[-2::-1]])


def _bartlett(n: int) -> Array:
    return np.asarray(1 - np.abs(np.linspace(-1, 1, n)))


def _bohman(n: int) -> Array:
    far = np.abs(np.linspace(-1, 1, n)[1:-1])
    inside = (1 - far) * np.cos(math.pi * far) + np.sin(math.pi * far) / math.pi
    return np.concatenate([[0.0], inside, [0.0]])


def _cosine(n: int) -> Array:
    return np.asarray(np.sin(math.pi / n * (np.arange(n) + 0.5)))


def _tukey(n: int, alpha: float = 0.5) -> Array:
    if alpha <= 0:
        return np.ones(n)
    if alpha >= 1:
        return _cosines(n, 0.5, 0.5)
    width = math.floor(alpha * (n - 1) / 2)
    rising = 0.5 * (1 + np.cos(math.pi * (-1 + 2 * np.arange(width + 1) / alpha / (n - 1))))
    return np.concatenate([rising, np.ones(n - 2 * width - 2), rising[::-1]])


def _taylor(n: int, nbar: int = 4, sll: float = 30, norm: bool = True) -> Array:
    ratio = math.acosh(10 ** (sll / 20)) / math.pi
    spread = nbar**2 / (ratio**2 + (nbar - 0.5) ** 2)
    orders = np.arange(1, nbar)
    weights = []
    for i, m in enumerate(orders):
        above = (-1) ** i * np.prod(1 - m**2 / spread / (ratio**2 + (orders - 0.5) ** 2))
        below = 2 * np.prod([1 - m**2 / other**2 for other in orders if other != m])
        weights.append(above / below)

    def at(places: Any) -> Any:
        turns = 2 * math.pi * orders[:, None] * (np.asarray(places) - n / 2 + 0.5) / n
        return 1 + 2 * np.dot(np.array(weights), np.cos(turns))

    window = at(np.arange(n))
    return np.asarray(window / at([(n - 1) / 2])[0] if norm else window)


def _kaiser(n: int, beta: float) -> Array:
    return np.asarray(np.kaiser(n, beta))


WINDOWS: dict[str, tuple[Callable[..., Array], bool]] = {
    "bartlett": (_bartlett, False),
    "blackman": (lambda n: _cosines(n, 0.42, 0.5, 0.08), False),
    "bohman": (_bohman, False),
    "cosine": (_cosine, False),
    "exponential": (_exponential, True),
    "gaussian": (_gaussian, True),
    "general_gaussian": (_general_gaussian, True),
    "general_hamming": (_general_hamming, True),
    "hamming": (lambda n: _general_hamming(n, 0.54), False),
    "hann": (lambda n: _general_hamming(n, 0.5), False),
    "kaiser": (_kaiser, True),
    "nuttall": (lambda n: _cosines(n, 0.3635819, 0.4891775, 0.1365995, 0.0106411), False),
    "taylor": (_taylor, False),
    "triang": (_triang, False),
    "tukey": (_tukey, False),
}
"""Name -> the window of a length, and whether it needs parameters."""


def get_window(window: Any, win_length: int, fftbins: bool = True, dtype: str = "float64") -> Any:
    """A window of *win_length* values.

    Args:
        window: a name (``"hann"``, ``"hamming"``, ``"blackman"`` …), or a tuple of it and its parameters.
        fftbins: the window goes round: its end is where its beginning comes next; otherwise it is symmetric.

    Raises:
        UsageError: no such window, or one that needs parameters (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.audio.functional.get_window("hann", 4).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    name, *arguments = window if isinstance(window, tuple) else (window,)
    if not isinstance(name, str):
        raise UsageError(f"{type(window)} as window type is not supported.")
    if name not in WINDOWS:
        raise UsageError("Unknown window type.", hint=f"there are {', '.join(WINDOWS)}")
    function, needs = WINDOWS[name]
    if needs and not arguments:
        raise UsageError(f"The '{name}' window needs one or more parameters -- pass a tuple.")
    if win_length <= 1:
        return to_tensor(np.ones(max(win_length, 0)), dtype)
    values = function(win_length + 1, *arguments)[:-1] if fftbins else function(win_length, *arguments)
    return to_tensor(values, dtype)
