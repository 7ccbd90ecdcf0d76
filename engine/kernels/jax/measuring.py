"""Numbers of arrays where they lie: sizes, zeros, what is not finite, and how many elements are of each power of ten.

What is counted is counted in the bits of the numbers, so that it agrees with NumPy to the last element, subnormal
numbers included: of two sizes the larger one has the larger bits. A power of ten begins at the smallest number whose
decimal logarithm NumPy rounds down to it, and one pass over the array counts what lies beyond it. Only those powers
take one that occur.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...core.rows import RowArray
from .packing import SMALL
from .pytrees import dense

Numbers = Mapping[str, Any]
"""``norm``, ``largest``, ``mean``, ``zeros``, ``nonfinite``, ``nan``, ``elements`` and ``decades``."""


class Laid(NamedTuple):
    """An array in a row with zeros behind it, of one of few lengths: what measures it is compiled once for each."""

    row: Any
    size: int


class ArrayCounts:
    """Counts of an array that was laid in a row.

    Attributes:
        counts: arrays.
        dtype: of the array.
        size, length: its elements, and those of the row.
    """

    __slots__ = ("counts", "dtype", "length", "size")

    def __init__(self, counts: Any, dtype: str, size: int, length: int) -> None:
        self.counts = counts
        self.dtype = dtype
        self.size = size
        self.length = length


def register() -> None:
    """Tell JAX; once in a process."""
    jax.tree_util.register_pytree_node(
        ArrayCounts,
        lambda v: ((v.counts,), (v.dtype, v.size, v.length)),
        lambda rest, parts: ArrayCounts(*parts, *rest),
    )


class _Bits(NamedTuple):
    """Layout of the numbers of a type in bits.

    Attributes:
        kind: unsigned integers of the same width.
        infinite: the bits of infinity.
        normal: the bits of the smallest number of full precision.
        unit: the smallest number.
        lowest: the first power of ten.
        begins: the bits of the smallest number of each power of ten.
    """

    kind: str
    infinite: int
    normal: int
    unit: float
    lowest: int
    begins: np.ndarray[Any, Any]


def lay(value: Any) -> Laid:
    """*value* to be measured, while it is traced or not; of complex numbers the sizes."""
    array = jnp.asarray(dense(value) if isinstance(value, RowArray) else value)
    if array.dtype.kind == "c":
        array = jnp.abs(array.astype("complex128"))
    length = 1 << max(array.size - 1, SMALL).bit_length()  # small arrays leave the device together
    return Laid(jnp.pad(array.reshape(-1), (0, length - array.size)), array.size)


def measure(value: Laid) -> Numbers:
    """The numbers of an array."""
    return numbers(count(value))


def count(value: Laid) -> ArrayCounts:
    """Return the counts that the numbers follow from, while a function is traced or not."""
    return ArrayCounts(_measure(value.row), np.dtype(value.row.dtype).name, value.size, value.row.size)


def numbers(value: ArrayCounts) -> Numbers:
    """The numbers of an array, from what was counted."""
    integers, floats, beyond = jax.tree_util.tree_map(np.asarray, value.counts)
    bits = _bits(value.dtype)
    behind = value.length - value.size
    zeros, nonfinite, nan, first, last = integers[:5].tolist()
    finite = value.size - nonfinite
    nothing = value.size > 0 and not finite
    largest = integers[5].astype(bits.kind).view(jnp.dtype(value.dtype))
    return {
        "norm": np.nan if nothing else float(floats[0]),
        "largest": np.nan if nothing else float(largest),
        "mean": np.nan if nothing else float(floats[1]) / max(finite, 1),
        "zeros": zeros - behind,
        "nonfinite": nonfinite,
        "nan": nan,
        "elements": value.size,
        "decades": {
            bits.lowest + n: count
            for n in range(first, last + 1)
            if (count := int(beyond[n] - beyond[n + 1])) and zeros < value.length - nonfinite
        },
    }


@jax.jit
def _measure(row: Any) -> Any:
    bits = _bits(np.dtype(row.dtype).name)
    sizes = lax.bitcast_convert_type(row, bits.kind) & bits.begins.dtype.type(~np.array(0, bits.kind) >> 1)
    finite = sizes < bits.infinite
    counted = jnp.where(finite, sizes, 0)
    largest = counted.max()
    # Sizes in terms of the largest: squares neither overflow nor vanish.
    numbers = _wide(jnp.where(finite, row, 0), counted, bits)
    unit = _wide(lax.bitcast_convert_type(largest, row.dtype), largest, bits)
    unit = jnp.where(unit > 0, unit, 1)
    norm = unit * jnp.sqrt(jnp.square(numbers / unit).sum())
    # How many elements reach each power of ten, from that of the smallest to that of the largest.
    begins = jnp.asarray(bits.begins)
    smallest = jnp.where(counted > 0, counted, largest).min()
    first = jnp.searchsorted(begins, smallest, side="right") - 1
    last = jnp.searchsorted(begins, largest, side="right") - 1
    beyond = lax.fori_loop(
        first,
        jnp.where(largest > 0, last + 1, first),
        lambda n, counts: counts.at[n].set((counted >= begins[n]).sum()),
        jnp.zeros(len(bits.begins) + 1, "int64"),
    )
    integers = [
        (sizes == 0).sum(),
        (~finite).sum(),
        (sizes > bits.infinite).sum(),
        first,
        last,
        largest,
    ]
    return jnp.stack([jnp.asarray(n).astype("int64") for n in integers]), jnp.stack([norm, numbers.sum()]), beyond


def _wide(numbers: Any, sizes: Any, bits: _Bits) -> Any:
    """*numbers* in double precision; what is subnormal in a narrower type is read from its bits, as XLA makes it 0."""
    wide = numbers.astype("float64")
    if bits.kind == "uint64":
        return wide
    signed = jnp.where(jnp.signbit(numbers), -bits.unit, bits.unit)
    return jnp.where(sizes < bits.normal, sizes.astype("float64") * signed, wide)


@functools.cache
def _bits(name: str) -> _Bits:
    dtype = jnp.dtype(name)
    kind = f"uint{8 * dtype.itemsize}"
    infinite = int(np.array(np.inf, dtype).view(kind))
    smallest, largest = np.array([1, infinite - 1], kind).view(dtype).astype("float64")
    lowest, highest = int(np.floor(np.log10(smallest))), int(np.floor(np.log10(largest)))
    begins = []
    for order in range(lowest, highest + 1):
        near = int(np.array(float(f"1e{order}")).astype(dtype).view(kind))
        candidates = np.arange(max(near - 3, 1), near + 4).astype(kind)
        reached = np.floor(np.log10(candidates.view(dtype).astype("float64"))) >= order
        begins.append(candidates[int(np.argmax(reached))])
    normal = int(np.array(jnp.finfo(dtype).smallest_normal, dtype).view(kind))
    return _Bits(kind, infinite, normal, float(smallest), lowest, np.array(begins, kind))
