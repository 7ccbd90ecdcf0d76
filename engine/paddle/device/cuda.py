"""``paddle.device.cuda``: what can be said of graphics cards."""

from __future__ import annotations

from gradtool.paddle import _lazy
from gradtool.paddle.device import device_count

__all__ = ["device_count", "empty_cache"]


def empty_cache() -> None:
    """There is no cache."""


__path__: list[str] = []  # there are modules below it, of those that are recorded
__getattr__ = _lazy.refuse(__name__, globals())
