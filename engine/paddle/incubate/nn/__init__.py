"""``paddle.incubate.nn``: layers that Paddle computes in one kernel on graphics cards, made of the plain ones here."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
