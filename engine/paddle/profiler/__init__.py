"""``paddle.profiler``: which steps are measured, and how long named parts of them take.

It measures what scripts put into a :class:`RecordEvent`, and steps. ``gradtool stats --time MODEL`` measures operators.
"""

from __future__ import annotations

from gradtool.paddle import _lazy

__getattr__, __dir__ = _lazy.attach(__name__)
