"""``paddle.fluid``, Paddle's public API of version 1.

Importing it switches static mode on, which was the default then.
"""

from __future__ import annotations

from gradtool import _lazy
from gradtool.engine.core import state

__getattr__, __dir__ = _lazy.attach(__name__)

state.enable_static()
