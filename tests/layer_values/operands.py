"""The operands that calls of the table name: always the same values, of several shapes and types."""

from __future__ import annotations

import ast
import zlib
from typing import Any

import numpy as np

from tests.paddle_values.operands import Draw, between, exactly, normal, whole


def distinct(*shape: int) -> Draw:
    """No two of which are near each other."""
    return lambda rng: rng.permutation(int(np.prod(shape))).reshape(shape) / np.prod(shape) * 4 - 1.5


OPERANDS: dict[str, Draw] = {
    "image": distinct(2, 4, 6, 7),
    "photo": normal(2, 3, 24, 28),
    "regions": exactly([[1.0, 0.5, 6.2, 4.9], [0.0, 2.0, 3.4, 5.8], [1.5, 1.0, 6.0, 4.3]]),
    "regions2": exactly([[0.5, 0.6, 2.2, 3.9], [1.0, 0.5, 2.4, 2.8], [0.3, 0.7, 3.0, 4.3]]),
    "per_image": exactly([2, 1], "int32"),
    "moves": between(-0.9, 0.9, 2, 8, 5, 6),
    "moves2": between(-0.9, 0.9, 2, 8, 4, 6),
    "shares": between(0.1, 0.9, 2, 4, 5, 6),
    "shares2": between(0.1, 0.9, 2, 4, 4, 6),
    "f4": normal(3, 4, 2, 2),
    "coded": normal(2, 3, 4),
    "cells": normal(2, 14, 3, 3),
    "photo_sizes": exactly([[64, 96], [50, 80]], "int32"),
    "photo_sizes2": exactly([[20.0, 24.0], [18.0, 20.0]]),
    "true_boxes": exactly([[[0.3, 0.4, 0.3, 0.5], [0.7, 0.2, 0.6, 0.2]], [[0.6, 0.8, 0.4, 0.4], [0.0, 0, 0, 0]]]),
    "classes": exactly([[1, 0], [0, 0]], "int32"),
    "sure": exactly([[0.9, 0.6], [0.8, 1.0]]),
    "marks": exactly([0.3, 0.9, 0.5]),
    "kinds": exactly([0, 1, 0], "int64"),
    "batched": exactly([[[0.0, 0, 4, 4], [0.5, 0.5, 4.5, 4], [3, 3, 8, 9], [0, 5, 3, 9]]]),
    "graded": exactly([[[0.1, 0.2, 0.15, 0.3], [0.9, 0.85, 0.3, 0.4], [0.2, 0.7, 0.6, 0.55]]]),
    "likely": distinct(2, 2, 2, 3),
    "moves3": between(-0.5, 0.5, 2, 8, 2, 3),
    "starts": exactly(
        [[[[i, j, i + 6 + j, j + 7 + i], [j, i, j + 9, i + 5]] for j in (0, 4, 8)] for i in (1, 5)], "float64"
    ),
    "spreads": between(0.5, 1.0, 2, 3, 2, 4),
    "im": normal(2, 4, 5, 6),
    "vol": normal(2, 2, 4, 3, 5),
    "seq": normal(2, 4, 7),
    "x": normal(3, 4),
    "y": normal(3, 4),
    "z": normal(3, 4),
    "u": normal(4),
    "even": normal(3, 6),
    "tops": distinct(2, 2, 5, 6),
    "volume": distinct(1, 2, 4, 5, 3),
    "line": distinct(2, 3, 9),
    "positive": between(0.2, 3.0, 3, 4),
    "pimage": between(0.2, 3.0, 2, 2, 5, 4),
    "pline": between(0.2, 3.0, 2, 2, 7),
    "f2": normal(3, 4, 2, 3),
    "f3": normal(3, 2, 2, 2, 3),
    "f3g": normal(4, 1, 2, 2, 1),
    "t3": normal(2, 3, 2, 2, 3),
    "bias": normal(3),
    "labels": whole(0, 4, 3),
    "signs": exactly([[1.0, -1, 1, 1], [-1, 1, -1, 1], [1, 1, -1, -1]]),
    "multi": whole(0, 2, 3, 4),
    "counts": whole(0, 6, 3, 4),
    "single": lambda rng: rng.normal(size=(3, 4)).astype("float32"),
    "several": exactly([[1, 3, -1, 0], [0, -1, -1, -1], [2, 1, 3, 0]], "int64"),
    "frames": normal(6, 3, 4),
    "spelt": exactly([[1, 2, 2], [3, 1, 1], [1, 1, 3]], "int32"),
    "frame_counts": exactly([6, 4, 3], "int64"),
    "label_counts": exactly([3, 1, 2], "int64"),
    "steps": normal(2, 4, 3, 5),
    "spelt2": exactly([[1, 2], [3, 1]], "int32"),
    "frame_counts2": exactly([4, 3], "int32"),
    "label_counts2": exactly([2, 1], "int32"),
    "grid3": between(-1.2, 1.2, 2, 2, 3, 2, 3),
    "grid2": between(-1.2, 1.2, 2, 3, 2, 2),
    "theta3": normal(2, 3, 4),
    "five": normal(5, 4),
    "ways": exactly([[0, 2, -1, -1], [0, 1, 4, -1], [0, 1, 3, 2]], "int64"),
    "turns": exactly([[0, 1, -1, -1], [1, 1, 0, -1], [1, 0, 0, 1]], "int64"),
    "head": normal(4, 3),
    "tail": normal(4, 2),
    "tail2": normal(2, 2),
    "whole": whole(-3, 9, 3, 4),
}
"""How each operand is drawn."""


def operands_of(text: str) -> dict[str, Any]:
    """The values of the operands that a call names, in the order of the table."""
    words = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    return {name: drawn(name) for name in OPERANDS if name in words}


def drawn(name: str) -> Any:
    """The values of an operand, always the same."""
    return np.asarray(OPERANDS[name](np.random.default_rng(zlib.crc32(name.encode()))))
