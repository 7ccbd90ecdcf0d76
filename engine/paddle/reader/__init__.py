"""``paddle.reader``: functions that give samples one after the other, and what makes such functions of others."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
