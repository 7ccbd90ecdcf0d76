"""``paddle.fluid.layers``: the layers of version 1, under the argument names that they had then."""

from __future__ import annotations

import sys
from typing import Any

from gradtool.paddle import _lazy

from ._table import ROWS

_get, _names = _lazy.attach(__name__)


def __dir__() -> list[str]:
    return sorted({*_names(), *ROWS})


def __getattr__(name: str) -> Any:
    row = ROWS.get(name)
    if row is None:
        try:
            return _get(name)
        except AttributeError:
            raise _lazy.missing(__name__, name, __dir__()) from None
    value = row.function(name)
    setattr(sys.modules[__name__], name, value)
    return value
