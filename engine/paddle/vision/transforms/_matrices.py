"""The matrices of affine and perspective changes: each says where the point of the result is read in the image."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

Points = Sequence[Sequence[float]]


def affine(
    center: Sequence[float], angle: float, translate: Sequence[float], scale: float, shear: Sequence[float]
) -> list[float]:
    """The first two rows of the matrix that undoes turning, moving, scaling and shearing around *center*.

    Angles are in degrees, clockwise as images lie.
    """
    turn, along, across = math.radians(angle), math.radians(shear[0]), math.radians(shear[1])
    # The turn with both shears, without the scale; its determinant is 1.
    a = math.cos(turn - across) / math.cos(across)
    b = -math.cos(turn - across) * math.tan(along) / math.cos(across) - math.sin(turn)
    c = math.sin(turn - across) / math.cos(across)
    d = -math.sin(turn - across) * math.tan(along) / math.cos(across) + math.cos(turn)
    rows = [[d / scale, -b / scale], [-c / scale, a / scale]]
    x, y = (center[0] + translate[0], center[1] + translate[1])
    moved = [center[i] - rows[i][0] * x - rows[i][1] * y for i in (0, 1)]
    return [*rows[0], moved[0], *rows[1], moved[1]]


def perspective(start: Points, end: Points) -> list[float]:
    """The eight numbers of the projection that takes the points *end* to the points *start*."""
    rows, wanted = [], []
    for (x, y), (u, v) in zip(end, start, strict=True):
        rows.append([x, y, 1, 0, 0, 0, -u * x, -u * y])
        rows.append([0, 0, 0, x, y, 1, -v * x, -v * y])
        wanted += [u, v]
    solution: Any = np.linalg.lstsq(np.array(rows, "float64"), np.array(wanted, "float64"), rcond=None)[0]
    return [float(n) for n in solution]


def turned_size(angle: float, width: float, height: float) -> tuple[int, int]:
    """The width and the height that hold the whole image, turned around its middle."""
    cos, sin = abs(math.cos(math.radians(angle))), abs(math.sin(math.radians(angle)))
    halves = (height * sin + width * cos) / 2, (height * cos + width * sin) / 2
    wide, high = (2 * math.ceil(round(half, 9)) for half in halves)
    return wide, high
