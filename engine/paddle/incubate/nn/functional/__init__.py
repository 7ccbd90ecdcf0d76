"""``paddle.incubate.nn.functional``: what Paddle computes in one kernel, made of the plain functions here."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
