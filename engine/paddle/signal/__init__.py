"""``paddle.signal``: Fourier transforms over windows of a signal, and back."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
