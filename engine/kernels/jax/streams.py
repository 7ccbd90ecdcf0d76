"""The streams of random numbers inside a compiled function: its seed and its counter are values of the run.

The words are those of ``core/streams.py``, computed with the arithmetic of 64 bits that XLA has on every device.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.scoped_variables import set_inside
from ...core.state import RandomState
from ...core.streams import BLOCK, Draws, Position

MULTIPLIERS = 0xD2E7470EE14C6C93, 0xCA5A826395121157
WEYL = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
"""What the key grows by with each round."""
ROUNDS = 10
LOW = 0xFFFFFFFF


class Moved:
    """Distance that a compiled function has moved in the stream.

    Attributes:
        counter: how many blocks are taken, where that depends on values; else None.
        blocks: how many the function took, where it does not.
    """

    __slots__ = ("blocks", "counter")

    def __init__(self, counter: Any, blocks: int) -> None:
        self.counter = counter
        self.blocks = blocks

    def tell(self, stream: RandomState) -> None:
        """Have the process's *stream* go on there."""
        seed, counter = stream.position
        if self.counter is not None:
            stream.position = Position(seed, int(np.asarray(self.counter)))
        elif self.blocks:
            stream.position = Position(seed, counter + self.blocks)


def register() -> None:
    """Tell JAX; once in a process."""
    jax.tree_util.register_pytree_node(
        Moved, lambda m: ((m.counter,), m.blocks), lambda blocks, parts: Moved(parts[0], blocks)
    )


class TracedStream(Draws):
    """A stream while a function is traced.

    Args:
        seed: of the stream: a whole number, or an array of it without dimensions.
        counter: how many blocks were taken before, likewise.

    Attributes:
        seed: as an array.
    """

    xp = jnp

    def __init__(self, seed: Any, counter: Any = 0) -> None:
        self.seed = _word(seed)
        self._base = _word(counter)
        self._blocks = 0
        self._is_known = True

    @property
    def counter(self) -> Any:
        """Number of blocks that are taken; the stream goes on from a number that is set, which depends on values."""
        return self._base + np.uint64(self._blocks)

    @counter.setter
    def counter(self, counter: Any) -> None:
        self._base, self._blocks, self._is_known = counter, 0, False

    @property
    def has_moved(self) -> bool:
        """True if something was drawn, or may have been."""
        return bool(self._blocks) or not self._is_known

    @property
    def moved(self) -> Moved:
        """Distance that it has moved."""
        return Moved(None, self._blocks) if self._is_known else Moved(self.counter, 0)

    def words(self, count: int) -> Any:
        """The next *count* words."""
        blocks = -(-count // BLOCK)
        numbers = self.counter + np.uint64(1) + jnp.arange(blocks, dtype=jnp.uint64)  # NumPy counts, then makes a block
        self._blocks += blocks
        return _philox(self.seed, numbers).reshape(-1)[:count]


class _Chosen(Draws):
    """The stream of a seed that is computed, or where that is 0 the one of the run."""

    xp = jnp

    def __init__(self, seed: Any, usual: TracedStream) -> None:
        self._seed = _word(seed)
        self._usual = usual

    def words(self, count: int) -> Any:
        is_usual, before = self._seed == 0, self._usual.counter
        begun = TracedStream(jnp.where(is_usual, self._usual.seed, self._seed), jnp.where(is_usual, before, 0))
        words = begun.words(count)
        self._usual.counter = jnp.where(is_usual, begun.counter, before)
        return words


_stream: ContextVar[TracedStream | None] = ContextVar("gradtool_traced_stream", default=None)

current = _stream.get
"""Gives the stream of the function that is being traced, or None."""


def draw_from(stream: TracedStream | None) -> AbstractContextManager[TracedStream | None]:
    """Draw from *stream* inside; its counter is further afterwards."""
    return set_inside(_stream, stream)


def choose_stream(seed: Any) -> Draws:
    """The stream of a seed that is computed, or where that is 0 the current one."""
    stream = current()
    assert stream is not None
    return _Chosen(seed.reshape(()), stream)


def operands(position: Position) -> tuple[np.uint64, np.uint64]:
    """Seed and counter as operands of a compiled function."""
    return np.uint64(position.seed % 2**64), np.uint64(position.counter)


def _word(value: Any) -> Any:
    return jnp.asarray(np.uint64(value % 2**64) if isinstance(value, int) else value).astype(jnp.uint64)


def _product(factor: int, word: Any) -> tuple[Any, Any]:
    """The higher and the lower 64 bits of the product, from products of 32 bits."""
    high, low = factor >> 32, factor & LOW
    above, below = word >> 32, word & LOW
    middle = below * np.uint64(high) + ((below * np.uint64(low)) >> 32)
    other = above * np.uint64(low) + (middle & LOW)
    return above * np.uint64(high) + (middle >> 32) + (other >> 32), word * np.uint64(factor)


def _round(_: int, state: Any) -> Any:
    block, keys = state
    (high, low), (other_high, other_low) = _product(MULTIPLIERS[0], block[0]), _product(MULTIPLIERS[1], block[2])
    block = other_high ^ block[1] ^ keys[0], other_low, high ^ block[3] ^ keys[1], low
    return block, (keys[0] + np.uint64(WEYL[0]), keys[1] + np.uint64(WEYL[1]))


def _philox(seed: Any, numbers: Any) -> Any:
    """The blocks of those numbers, each of them in a row.

    A loop, and a barrier behind it: where XLA puts rounds into one expression it computes the first ones anew for each
    use of them, which takes a hundred times as long.
    """
    zeros = jnp.zeros_like(numbers)
    block, _ = lax.fori_loop(0, ROUNDS, _round, ((numbers, zeros, zeros, zeros), (seed, jnp.uint64(0))))
    return jnp.stack(lax.optimization_barrier(block), axis=1)
