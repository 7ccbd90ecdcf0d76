"""``paddle.base``, the later name of ``paddle.fluid``: the same objects as everywhere else."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
