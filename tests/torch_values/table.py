"""Every row: an operator, function or layer that both libraries have."""

from __future__ import annotations

from . import arrays, mathematics, networks

ROWS = [*mathematics.ROWS, *arrays.ROWS, *networks.ROWS]
