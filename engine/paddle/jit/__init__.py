"""``paddle.jit``: functions that Paddle turns into programs run as they are, which gives the same values."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
