"""``paddle.distributed``: of it, what is of use on one machine."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
