"""``paddle.nn.layer.common``."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
