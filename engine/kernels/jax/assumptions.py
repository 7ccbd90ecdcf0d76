"""Assumptions of a compiled function, which it checks while it runs.

How often a loop runs decides how large the buffers are that its rounds write to, and shapes cannot wait for values. So
a number is taken for granted, the function returns the one that it would have needed, and where that is more, its
results are dropped and it is compiled anew with more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.scoped_variables import set_inside
from .host_operators import NeedsValues

Otherwise = Callable[[int], None]
"""Called with the number needed: what is traced later takes that for granted; raises NeedsValues if nothing does."""


FIRST_ROWS = 32
"""Rounds that a loop is expected to have at first, unless they take more than :data:`FIRST_BYTES`."""
FIRST_BYTES = 1 << 25


class Assumed:
    """A number that is taken to be at most *limit*.

    Attributes:
        needed: what it is, an array without dimensions.
        otherwise: see :data:`Otherwise`.
        index: the number of the instruction that takes it for granted.
    """

    __slots__ = ("index", "limit", "needed", "otherwise")

    def __init__(self, needed: Any, limit: int, otherwise: Otherwise, index: int = -1) -> None:
        self.needed = needed
        self.limit = limit
        self.otherwise = otherwise
        self.index = index

    def select(self, index: int) -> Assumed:
        """The same, by the instruction of that number."""
        return Assumed(self.needed, self.limit, self.otherwise, index)


_collected: ContextVar[list[Assumed] | None] = ContextVar("gradtool_assumptions", default=None)


def assume(needed: Any, limit: int, otherwise: Otherwise) -> None:
    """Take for granted that *needed* is at most *limit*.

    Raises:
        NeedsValues: nobody compiles.
    """
    noted = _collected.get()
    if noted is None:
        raise NeedsValues("it takes for granted what nobody checks")
    noted.append(Assumed(jnp.asarray(needed).astype("int64"), limit, otherwise))


def short(assumed: Sequence[Assumed]) -> Any:
    """Return whether one of the assumptions does not hold."""
    limits = np.array([a.limit for a in assumed])
    return (jnp.stack([jnp.asarray(a.needed) for a in assumed]) > limits).any()


def collect_assumptions() -> AbstractContextManager[list[Assumed]]:
    """Collect the assumptions made inside, in order."""
    return set_inside(_collected, [])


def round_up(number: int) -> int:
    """*number* or up to a quarter more: of four sizes between two powers of 2, so that few are compiled."""
    unit = 1 << max(number.bit_length() - 3, 0)
    return -(-number // unit) * unit


class Room:
    """Number of rows of a buffer: at first :data:`FIRST_ROWS`, and later as many as runs have needed."""

    def __init__(self) -> None:
        self._rows: int | None = None

    def rows(self, size: int) -> int:
        """The rows of a buffer whose rows have that many bytes."""
        if self._rows is None:
            self._rows = min(FIRST_ROWS, round_up(max(FIRST_BYTES // max(size, 1), 1)))
        return self._rows

    def make(self, rows: int) -> None:
        """Have room for that many from now on."""
        self._rows = max(self._rows or 1, round_up(rows))


def register() -> None:
    """Tell JAX; once in a process."""
    jax.tree_util.register_pytree_node(
        Assumed,
        lambda a: ((a.needed,), (a.limit, a.otherwise, a.index)),
        lambda rest, parts: Assumed(parts[0], *rest),
    )
