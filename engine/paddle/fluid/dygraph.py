"""``paddle.fluid.dygraph``: dynamic mode."""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
__path__: list[str] = []  # there are modules below it, in the table of old paths
