"""Routes with round corners, as the curves of drawing programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..mirror.scene import Point

CORNER: Final = 5.0


def bends(points: tuple[Point, ...]) -> Iterator[tuple[Point, Point, Point]]:
    """For each corner the point where the curve begins, the corner itself, and where the curve ends."""
    before = points[0]
    for i in range(1, len(points) - 1):
        (x, y), after = points[i], points[i + 1]
        dx, dy, ex, ey = before[0] - x, before[1] - y, after[0] - x, after[1] - y
        near, far = abs(dx) + abs(dy), abs(ex) + abs(ey)
        r = min(CORNER, near / 2, far / 2)
        if r < 0.3:
            continue
        a, b = r / near, r / far
        yield (x + dx * a, y + dy * a), (x, y), (x + ex * b, y + ey * b)
        before = points[i]


def curves(points: tuple[Point, ...]) -> list[Point]:
    """Control points of cubic curves one after another: 1 + 3n of them."""
    path = [points[0]]

    def straight(to: Point) -> None:
        (x, y), (u, v) = path[-1], to
        path.extend([(x + (u - x) / 3, y + (v - y) / 3), (x + (u - x) * 2 / 3, y + (v - y) * 2 / 3), to])

    for start, (x, y), end in bends(points):
        straight(start)
        # The cubic curve that is the same as the quadratic one with the corner in its middle.
        path.extend(((s + 2 * x) / 3, (t + 2 * y) / 3) for s, t in (start, end))
        path.append(end)
    straight(points[-1])
    return path
