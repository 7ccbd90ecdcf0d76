"""Every row: an operator, function or layer that both libraries have."""

from __future__ import annotations

from . import arrays, complex_numbers, images, mathematics, networks, tensor_functions

ROWS = [*mathematics.ROWS, *arrays.ROWS, *images.ROWS, *networks.ROWS, *complex_numbers.ROWS, *tensor_functions.ROWS]
