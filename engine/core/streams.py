"""Random numbers that depend on a key, a counter and the shape only, so that every backend computes the same ones.

The bits come from Philox (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011): a block
of four words of 64 bits is a function of the key (the seed) and of the number of the block. A draw takes as many
blocks as it needs, which its shape says alone, and the counter goes on behind them. What becomes of the words is
arithmetic over whole arrays, written once (:class:`Draws`) for every array module; nothing is drawn again because of
what was drawn.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .errors import ShapeError

if TYPE_CHECKING:
    Shape = int | Sequence[int]

BLOCK = 4
"""Words of 64 bits in a block."""

CHUNK = 1 << 14
"""Elements that longer formulas are computed for at a time: what is in between stays in the processor's cache."""

HOSTED = 1 << 128
"""Where in the counter the blocks of :meth:`Stream.host` begin: far behind all that a stream can take."""

UNIT = 2.0**-53


class Position(NamedTuple):
    """Position in a stream.

    Attributes:
        seed: what it began with.
        counter: how many blocks were taken.
    """

    seed: int
    counter: int


class Draws(ABC):
    """Distributions over the words that a subclass gives.

    Attributes:
        xp: the array module.
    """

    xp: Any = np

    @abstractmethod
    def words(self, count: int) -> Any:
        """The next *count* words: an array of uint64. What is left of the last block is nobody's."""

    def random(self, shape: Shape = ()) -> Any:
        """Numbers from 0 up to but without 1, in steps of 2⁻⁵³."""
        dims, count = _sizes(shape)
        return self.xp.reshape(_unit(self.words(count)), dims)

    def uniform(self, low: float, high: float, shape: Shape = (), dtype: Any = None) -> Any:
        """Numbers drawn evenly from *low* up to *high*; float64, rounded to *dtype* where one is asked for."""

        def spread(xp: Any, drawn: Any) -> Any:
            drawn *= high - low
            drawn += low
            return drawn

        return self._draw_units(spread, shape, dtype)

    def draw_mask(self, shape: Shape, dropped: float) -> Any:
        """Bools, each of them False with the probability *dropped* (to 2⁻³²)."""
        dims, count = _sizes(shape)
        if dropped >= 1:  # the words are taken nevertheless: where the stream is does not depend on chances
            self.words(-(-count // 2))
            return self.xp.zeros(dims, bool)
        halves = self.words(-(-count // 2)).view(np.uint32)[:count]
        return self.xp.reshape(halves >= np.uint32(min(round(dropped * 2**32), 2**32 - 1)), dims)

    def integers(self, low: int, high: int, shape: Shape = ()) -> Any:
        """Whole numbers from *low* up to but without *high*; int64.

        Raises:
            ValueError: there are none.
        """
        if high <= low:
            raise ValueError(f"no whole number lies from {low} up to but without {high}")
        dims, count = _sizes(shape)
        drawn = (self.words(count) % np.uint64(high - low)).astype(np.int64)
        return self.xp.reshape(drawn + low, dims)

    def permutation(self, n: int) -> Any:
        """The whole numbers below *n* in random order; int64."""
        bits = np.uint64(max(n - 1, 0).bit_length())
        # Each number below a random one above it: sorting has one answer, whoever sorts.
        keys = ((self.words(n) >> bits) << bits) | self.xp.arange(n, dtype=np.uint64)
        return (self.xp.sort(keys) & ((np.uint64(1) << bits) - np.uint64(1))).astype(np.int64)

    def standard_normal(self, shape: Shape = ()) -> Any:
        """Numbers from the normal distribution with mean 0 and variance 1 (Box and Muller, 1958)."""
        return self._draw_pairs(_normal_pairs, shape, None)

    def normal(self, mean: float, std: float, shape: Shape = (), dtype: Any = None) -> Any:
        """Numbers from a normal distribution; float64, rounded to *dtype* where one is asked for."""

        def scale(xp: Any, lengths: Any, angles: Any) -> Any:
            drawn = _normal_pairs(xp, lengths, angles)
            drawn *= std
            drawn += mean
            return drawn

        return self._draw_pairs(scale, shape, dtype)

    def truncated_normal(
        self, low: float, high: float, shape: Shape = (), mean: float = 0.0, std: float = 1.0, dtype: Any = None
    ) -> Any:
        """``mean + std·x`` of numbers from what the normal distribution with mean 0 and variance 1 has from *low* to
        *high*; float64, rounded to *dtype* where one is asked for."""
        if low > 0:  # the lower tail has the digits
            return self.truncated_normal(-high, -low, shape, mean, -std, dtype)
        least, most = _normal_cdf(low), _normal_cdf(high)

        def quantiles(xp: Any, drawn: Any) -> Any:
            drawn *= most - least
            drawn += least
            drawn = xp.clip(_quantile(xp, drawn, least, most), low, high)
            if (mean, std) != (0.0, 1.0):
                drawn *= std
                drawn += mean
            return drawn

        return self._draw_units(quantiles, shape, dtype)

    def exponential(self, scale: float, shape: Shape = ()) -> Any:
        """Numbers from the exponential distribution with the mean *scale*."""
        return self.xp.log(1 - self.random(shape)) * -scale

    def standard_cauchy(self, shape: Shape = ()) -> Any:
        """Numbers from the Cauchy distribution around 0 with the scale 1."""
        return self.xp.tan((self.random(shape) - 0.5) * math.pi)

    def _draw_units(self, function: Callable[..., Any], shape: Shape, dtype: Any) -> Any:
        """``function(xp, numbers)`` of numbers from 0 up to but without 1."""
        dims, count = _sizes(shape)
        return self.xp.reshape(_round(function(self.xp, _unit(self.words(count))), dtype), dims)

    def _draw_pairs(self, function: Callable[..., Any], shape: Shape, dtype: Any) -> Any:
        """``function(xp, lengths, angles)``, which makes two rows of two runs of words, the first row before the
        second."""
        dims, count = _sizes(shape)
        half = _half(count)
        words = self.words(2 * half)
        pairs = _round(function(self.xp, words[:half], words[half:]), dtype)
        return self.xp.reshape(pairs.reshape(-1)[:count], dims)


class Stream(Draws):
    """The numbers of one seed, one after the other; NumPy computes the words.

    Args:
        seed: any whole number; those that differ by 2⁶⁴ are the same.
        counter: how many blocks were taken before.
    """

    def __init__(self, seed: int, counter: int = 0) -> None:
        self._position = Position(seed, counter)
        self._generator: np.random.Generator | None = None
        self._lock = threading.Lock()

    @property
    def position(self) -> Position:
        """Position of the stream; the stream goes on from a position that is set."""
        return self._position

    @position.setter
    def position(self, position: Position) -> None:
        with self._lock:
            self._position, self._generator = position, None

    def words(self, count: int) -> Any:
        with self._lock:
            blocks, generator = self._take(count)
            return generator.bit_generator.random_raw(blocks * BLOCK)[:count]

    def random(self, shape: Shape = ()) -> Any:
        dims, count = _sizes(shape)
        with self._lock:
            blocks, generator = self._take(count)
            return generator.random(blocks * BLOCK)[:count].reshape(dims)  # as of any stream, in one pass

    def host(self) -> np.random.Generator:
        """NumPy's generator on blocks of its own, for what is drawn until something holds; takes one block.

        Operators that need it compute on the host, where every stream is one of these.
        """
        with self._lock:
            seed, counter = self._position
            self._position, self._generator = Position(seed, counter + 1), None
        return _philox(seed, HOSTED + (counter << 64))

    def _take(self, count: int) -> tuple[int, np.random.Generator]:
        """Take *count* words from the stream; return how many blocks they fill, and their generator."""
        seed, counter = self._position
        if self._generator is None:
            self._generator = _philox(seed, counter)
        blocks = -(-count // BLOCK)
        self._position = Position(seed, counter + blocks)
        return blocks, self._generator

    # Long draws chunk by chunk, each rounded to its type at once: what is in between stays in the processor's cache.

    def _draw_units(self, function: Callable[..., Any], shape: Shape, dtype: Any) -> Any:
        dims, count = _sizes(shape)
        out = np.empty(count, np.float64 if dtype is None else dtype)
        with self._lock:
            blocks, generator = self._take(count)
            for start in range(0, count, CHUNK):
                end = min(start + CHUNK, count)
                drawn = generator.random(min(CHUNK, blocks * BLOCK - start))[: end - start]
                out[start:end] = function(np, drawn)
        return out.reshape(dims)

    def _draw_pairs(self, function: Callable[..., Any], shape: Shape, dtype: Any) -> Any:
        dims, count = _sizes(shape)
        half = _half(count)
        with self._lock:
            seed, counter = self._position
            lengths, angles = _philox(seed, counter), _philox(seed, counter + half // BLOCK)
            angles.bit_generator.random_raw(half % BLOCK, output=False)
            self._position, self._generator = Position(seed, counter + 2 * half // BLOCK), None
        out = np.empty((2, half), np.float64 if dtype is None else dtype)
        for start in range(0, half, CHUNK):
            size = min(CHUNK, half - start)
            words = (g.bit_generator.random_raw(size) for g in (lengths, angles))
            out[:, start : start + size] = function(np, *words)
        drawn = out.reshape(-1)[:count].reshape(dims)
        return drawn if count == 2 * half else drawn.copy()  # an array that holds no more than it shows


def _half(count: int) -> int:
    """Return how many pairs of words *count* normal numbers take; both runs together are whole blocks."""
    return -(-count // BLOCK) * (BLOCK // 2)


def _round(drawn: Any, dtype: Any) -> Any:
    return drawn if dtype is None else drawn.astype(dtype)


def _philox(seed: int, counter: int) -> np.random.Generator:
    """Return the generator of the words of a key from a block on. NumPy counts before it makes a block, so that the
    first is 1.
    """
    return np.random.Generator(np.random.Philox(key=seed % 2**64, counter=counter))


def _sizes(shape: Shape) -> tuple[tuple[int, ...], int]:
    dims = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if any(n < 0 for n in dims):
        raise ShapeError(f"random numbers of shape {list(dims)}: negative dimensions are not allowed")
    return dims, math.prod(dims)


def _unit(words: Any) -> Any:
    """Words as numbers from 0 up to but without 1."""
    return (words >> np.uint64(11)).astype(np.float64) * UNIT


def _polynomial(xp: Any, x: Any, coefficients: Any) -> Any:
    """The sum of the *coefficients*, the constant first, times the powers of *x*; two rows where they are pairs."""
    out = x * coefficients[-1]
    for c in coefficients[-2:0:-1]:
        out += c
        out *= x
    out += coefficients[0]
    return out


TURN = 2 * math.pi
TERMS = 11
_orders = np.arange(2 * TERMS)
_taylor = (TURN**_orders / np.cumprod(np.maximum(_orders, 1.0))).reshape(TERMS, 2)[:, ::-1]
WAVES = list((_taylor * (-1.0) ** np.arange(TERMS)[:, None])[:, :, None])
"""Taylor's terms of sin(2πx) / x and of cos(2πx) in x², as many as a quarter of a turn needs: functions of a library
differ from machine to machine, and NumPy's take longer."""


def _normal_pairs(xp: Any, lengths: Any, angles: Any) -> Any:
    """Two rows of normal numbers from words: of points at random lengths and angles, the two coordinates."""
    length = xp.sqrt(xp.log(1 - _unit(lengths)) * -2)
    turns = angles.view(np.int64).astype(np.float64) * 2.0**-64  # from -1/2 to 1/2
    past = xp.abs(turns) - 0.25  # what half a turn has beyond its middle: its sine and cosine are the other ones here
    waves = _polynomial(xp, past * past, WAVES)
    return xp.stack([-length * past * waves[0], length * xp.copysign(waves[1], turns)])


def _normal_cdf(x: float) -> float:
    """The probability that a normal number is below *x*."""
    return math.erfc(-x / math.sqrt(2)) / 2


# M. J. Wichura, "Algorithm AS 241: The percentage points of the normal distribution", 1988: good to 1e-16.
MIDDLE = list(np.array([
    [3.3871328727963666080e0, 1.0],
    [1.3314166789178437745e2, 4.2313330701600911252e1],
    [1.9715909503065514427e3, 6.8718700749205790830e2],
    [1.3731693765509461125e4, 5.3941960214247511077e3],
    [4.5921953931549871457e4, 2.1213794301586595867e4],
    [6.7265770927008700853e4, 3.9307895800092710610e4],
    [3.3430575583588128105e4, 2.8729085735721942674e4],
    [2.5090809287301226727e3, 5.2264952788528545610e3],
])[:, :, None])  # fmt: skip
"""Pairs for numerator and denominator, for probabilities within 0.425 of a half."""
TAIL = list(np.array([
    [1.42343711074968357734e0, 1.0],
    [4.63033784615654529590e0, 2.05319162663775882187e0],
    [5.76949722146069140550e0, 1.67638483018380384940e0],
    [3.64784832476320460504e0, 6.89767334985100004550e-1],
    [1.27045825245236838258e0, 1.48103976427480074590e-1],
    [2.41780725177450611770e-1, 1.51986665636164571966e-2],
    [2.27238449892691845833e-2, 5.47593808499534494600e-4],
    [7.74545014278341407640e-4, 1.05075007164441684324e-9],
])[:, :, None])  # fmt: skip
"""The same for probabilities at least exp(-25) from 0 and 1."""
FAR_TAIL = list(np.array([
    [6.65790464350110377720e0, 1.0],
    [5.46378491116411436990e0, 5.99832206555887937690e-1],
    [1.78482653991729133580e0, 1.36929880922735805310e-1],
    [2.96560571828504891230e-1, 1.48753612908506148525e-2],
    [2.65321895265761230930e-2, 7.86869131145613259100e-4],
    [1.24266094738807843860e-3, 1.84631831751005468180e-5],
    [2.71155556874348757815e-5, 1.42151175831644588870e-7],
    [2.01033439929228813265e-7, 2.04426310338993978564e-15],
])[:, :, None])  # fmt: skip
"""The same beyond."""


def _quantile(xp: Any, p: Any, least: float, most: float) -> Any:
    """The numbers below which a normal number is with the probabilities *p*, which lie between *least* and *most*."""
    from_half = p - 0.5
    ratio = _polynomial(xp, 0.180625 - from_half * from_half, MIDDLE)
    out = from_half * ratio[0]
    out /= ratio[1]
    if least >= 0.075 and most <= 0.925:
        return out
    outside = xp.abs(from_half) > 0.425
    if xp is np:  # few are: the rest of the formula is for these alone
        places = np.flatnonzero(outside)  # taking by a mask looks at all of it every time
        out[places] = xp.copysign(_tail(xp, p.take(places), least, most), from_half.take(places))
        return out
    return xp.where(outside, xp.copysign(_tail(xp, p, least, most), from_half), out)


def _tail(xp: Any, p: Any, least: float, most: float) -> Any:
    """The size of the quantiles of probabilities that are far from a half."""
    size = xp.sqrt(-xp.log(xp.maximum(xp.minimum(p, 1 - p), 5e-324)))
    ratio = _polynomial(xp, size - 1.6, TAIL)
    tail = ratio[0] / ratio[1]
    if min(least, 1 - most) < math.exp(-25):
        ratio = _polynomial(xp, size - 5, FAR_TAIL)
        tail = xp.where(size > 5, ratio[0] / ratio[1], tail)
    return tail
