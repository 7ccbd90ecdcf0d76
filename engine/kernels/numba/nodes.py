"""The values of a group, as they are written down."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.records import dataclass
from .layout import Layout

FLEXIBLE = ("leaf", "constant", "part")
"""Nodes that lie where they are read."""

SUMS = ("reduce", "vecdot", "pick")
"""Nodes that are told by elements of a row together."""

CHOICES = ("pick", "hot")
"""Nodes whose last operand, an array that others have made, says which element of each row is meant."""


class Untraceable(Exception):
    """A kernel does something that is not written down."""


class Strip(NamedTuple):
    """Place of the elements of a part in a wider array.

    Attributes:
        offset: the index of the first one.
        run: how many lie one after the other.
        pitch: how far these runs lie apart.
    """

    offset: int
    run: int
    pitch: int


@dataclass(eq=False, slots=True)
class GroupValue:
    """One value of a group.

    Attributes:
        op: a ufunc's name; ``select``, ``cast`` or ``spread`` (the same numbers, broadcast); ``leaf`` for an operand,
            ``part`` for a part of a wider one, ``constant``; ``reduce`` with the ufunc's name as *value*; ``vecdot``,
            sums of the products of two rows; ``pick``, one element of each row, and ``hot``, which that is, with the
            length of a row as *value*; ``joined``, an array of parts side by side, which nothing reads: for each the
            *value* says where it lies.
        args: what it is computed from.
        value: the register of a leaf or part, and of an operand that is spread already; the number of a constant.
        strip: of a part.
    """

    op: str
    args: tuple[GroupValue, ...]
    dtype: np.dtype[Any]
    layout: Layout
    value: Any = None
    strip: Strip | None = None
