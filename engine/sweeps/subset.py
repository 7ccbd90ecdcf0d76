"""The smallest part of a batch that still gives what the batch gave, by halving, then by leaving parts out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..core.records import dataclass
from .point import Point
from .point_rows import CRASHED, ERROR
from .summaries import FINDING

Gives = Callable[[Sequence[int]], bool]

_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class RowSubset:
    """Rows that are enough.

    Attributes:
        point: where it was found.
        rows: their numbers in the file; without any one of them it does not come.
        repeated: whether the model takes batches of one size alone, so that the rows were repeated to fill one.
        runs: how many more runs that took.
    """

    point: Point
    rows: tuple[int, ...]
    repeated: bool
    runs: int


def sign(row: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the signature that a smaller batch has to give, too; None where rows have no part in it."""
    status, answer = row["status"], row["answer"] or {}
    if status in (ERROR, CRASHED):
        return status, _DIGITS.sub("#", row["error"] or "")
    if status != FINDING:
        return None
    if answer.get("births"):
        return "birth", answer["births"][0]["operator"]
    return ("not finite",) if answer.get("nonfinite") else None


def smallest(rows: Sequence[int], gives: Gives) -> tuple[int, ...]:
    """A subset of *rows* that gives it, and of which no row can be left out.

    Args:
        gives: whether a subset does; true of all of *rows*.

    >>> smallest(range(1000), lambda rows: 17 in rows and 640 in rows)
    (17, 640)
    """
    left, parts = [*rows], 2
    while len(left) > 1:
        size = -(-len(left) // parts)
        pieces = [left[i : i + size] for i in range(0, len(left), size)]
        piece = next((piece for piece in pieces if gives(piece)), None)
        if piece is not None:
            left, parts = piece, 2
            continue
        if len(pieces) > 2:
            rest = (left[: i * size] + left[(i + 1) * size :] for i in range(len(pieces)))
            smaller = next((rows for rows in rest if gives(rows)), None)
            if smaller is not None:
                left, parts = smaller, max(parts - 1, 2)
                continue
        if size == 1:
            break
        parts = min(2 * parts, len(left))
    return tuple(left)
