"""``paddle.device.cuda`` of a build without graphics cards."""

from __future__ import annotations

from gradtool import _lazy

__all__ = ["device_count", "empty_cache"]


def device_count() -> int:
    """0."""
    return 0


def empty_cache() -> None:
    """There is no cache."""


__getattr__ = _lazy.refuse(__name__, globals())
