"""``paddle.static.nn.control_flow``: control flow by the names of its module in Paddle."""

from __future__ import annotations

from gradtool import _lazy

from ._branches import case, cond, switch_case
from ._effects import Assert, Print
from ._loops import while_loop
from ._while import While

__all__ = ["Assert", "Print", "While", "case", "cond", "switch_case", "while_loop"]

__getattr__ = _lazy.refuse(__name__, globals())
