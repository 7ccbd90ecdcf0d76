"""The operands that calls of the table name: always the same values, of several shapes and types."""

from __future__ import annotations

import ast
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

Draw = Callable[[np.random.Generator], Any]


def normal(*shape: int) -> Draw:
    return lambda rng: rng.normal(size=shape)


def between(low: float, high: float, *shape: int) -> Draw:
    return lambda rng: rng.uniform(low, high, shape)


def whole(low: int, high: int, *shape: int) -> Draw:
    return lambda rng: rng.integers(low, high, shape)


def complexes(*shape: int) -> Draw:
    return lambda rng: rng.normal(size=shape) + 1j * rng.normal(size=shape)


def exactly(values: Any, dtype: str = "float64") -> Draw:
    return lambda rng: np.array(values, dtype)


OPERANDS: dict[str, Draw] = {
    # real numbers, differentiated
    "x": normal(3, 4),
    "y": normal(3, 4),
    "u": normal(5),
    "v": normal(4),
    "w": normal(4),
    "m": normal(3, 3),
    "b": normal(2, 3, 4),
    "d": normal(2, 4, 3),
    "s": normal(),
    "row": normal(1, 4),
    "column": normal(3, 1),
    "few": normal(2, 4),
    "three": normal(3),
    "six": normal(3, 6),
    "positive": between(0.3, 3.0, 3, 4),
    "above": between(0.3, 6.0, 3, 4),
    "large": between(5.0, 40.0, 3, 4),
    "unit": between(-0.95, 0.95, 3, 4),
    "share": between(0.05, 0.95, 3, 4),
    "sorted": exactly([-1.0, -0.3, 0.4, 0.9, 1.7]),
    "ladders": exactly([[-1.0, 0.1, 0.5, 2.0], [-2.0, -1.0, 0.0, 1.0], [0.0, 0.5, 1.0, 1.5]]),
    "zeros": exactly([[0.0, 2.0, -1.0, 3.0], [1.5, 0.0, 0.0, 2.0], [2.0, -0.5, 1.0, 4.0]]),
    "gaps": exactly([[np.nan, 2.0, -1.0, 3.0], [1.5, np.nan, np.nan, 2.0], [2.0, -0.5, 1.0, 4.0]]),
    "edges": exactly([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5]),
    "ties": exactly([[1.0, 2.0, 2.0, 1.0], [3.0, 3.0, 1.0, 3.0], [2.0, 1.0, 0.0, 2.0]]),
    "nothing": normal(0, 4),
    "z": complexes(3, 4),
    "q": complexes(3, 4),
    "zm": complexes(3, 3),
    "wave": normal(12),
    "waves": normal(2, 12),
    "bell": between(0.5, 1.5, 6),
    "short": between(0.5, 1.5, 4),
    "zwave": complexes(12),
    "zbell": complexes(6),
    "spectrum": complexes(4, 5),
    "spectra": complexes(2, 6, 5),
    # whole numbers and truth values
    "i": whole(1, 20, 3, 4),
    "j": whole(1, 20, 3, 4),
    "shifts": whole(0, 4, 3, 4),
    "signed": whole(-9, 9, 3, 4),
    "counts": whole(0, 6, 7),
    "at": exactly([2, 0], "int64"),
    "again": exactly([2, 0, 2], "int64"),
    "places": whole(0, 4, 3, 2),
    "rows": whole(0, 3, 3, 4),
    "points": exactly([[0, 1], [2, 3], [0, 1]], "int64"),
    "which": exactly([[1], [0], [1]], "int32"),
    "runs": exactly([1, 1, 2, 2, 3, 1, 1, 2], "int64"),
    "pairs": exactly([[1, 1], [1, 1], [2, 3]], "int64"),
    "mask": exactly([[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 0, 1]], "bool"),
    "f": lambda rng: rng.normal(size=(3, 4)).astype("float32"),
}
"""How each operand is drawn."""


def names_in(text: str) -> list[str]:
    """The operands that a call names, in their order."""
    words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return [name for name in OPERANDS if name in words]


def values(name: str) -> Any:
    """The values of an operand."""
    return np.asarray(OPERANDS[name](np.random.default_rng(zlib.crc32(name.encode()))))


def weights(shape: tuple[int, ...], dtype: Any, turn: int) -> Any:
    """Numbers of every size and sign to weigh the elements of a result with; another set for each *turn*."""
    count = int(np.prod(shape))
    angles = np.arange(count) * 1.7 + turn
    numbers = np.cos(angles) + (1j * np.sin(angles * 0.6) if np.dtype(dtype).kind == "c" else 0)
    return numbers.reshape(shape).astype(dtype)
