"""``paddle.amp.grad_scaler``: loss scales, which Paddle defines here."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
