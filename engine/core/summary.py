"""Facts about an array that stays where it was computed, and about arrays that a watcher does not need in full."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .records import dataclass
from .tensor_array import TensorArray
from .watch import Entered, Exited

Told = tuple[int, Any, tuple[Any, ...], tuple[Any, ...]]
"""The index of an instruction, its operator, and what that read and gave."""


class Uneventful:
    """Operators in a row that gave nothing of what a watcher looks for, told in one event.

    Attributes:
        told: of each of them, with :class:`ArraySummary` in place of arrays; and where runs of blocks begin and end
            between them (``Entered`` and ``Exited`` of ``watch.py``).
        digest: for a watcher to keep what it makes of that: each run of a plan tells the same object.
    """

    __slots__ = ("digest", "told")

    def __init__(self, told: Sequence[Any]) -> None:
        self.told = tuple(told)
        self.digest: Any = None


class ArraySummary:
    """Stands for an array in what watchers are told.

    Attributes:
        shape, dtype: of the array.
        told: what was asked, by name; empty where all that is known is that nothing is wrong with it.
    """

    __slots__ = ("__weakref__", "dtype", "shape", "told")

    def __init__(self, shape: tuple[int, ...], dtype: Any, told: Mapping[str, Any] | None = None) -> None:
        self.shape = shape
        self.dtype = dtype
        self.told = told or {}

    @classmethod
    def describe(cls, value: Any) -> ArraySummary | None:
        """Return a summary of *value* without its numbers; None for something that is no array."""
        if not hasattr(value, "dtype") or isinstance(value, TensorArray):
            return None
        return cls(tuple(value.shape), np.dtype(value.dtype))

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes that the array takes."""
        return self.size * int(self.dtype.itemsize)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError("the values of this array have stayed where they were computed; only numbers of it are known")


@dataclass(frozen=True, slots=True)
class InOrder:
    """Asks whether anything is wrong with the numbers that operators give.

    A watcher says so by its attribute ``summary_needs``. A backend that computes whole plans tells it of operators in a
    row that gave nothing wrong in one event (``Uneventful``), and arrays around those that did.

    Attributes:
        largest: the largest size that is in order; None where all finite numbers are.
    """

    largest: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Asks for numbers of what operators give: a watcher is told :class:`ArraySummary` in place of arrays.

    Attributes:
        of: whether the results of an operator are measured; the same function means the same question.
    """

    of: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Staying:
    """Asks for arrays where they were computed; a watcher is told them as they are there.

    Of other results it is told :class:`ArraySummary`, and of each result the same object whoever reads it.

    Attributes:
        of: from an operator and those that read one of its results, whether that stays at hand; the same function means
            the same question.
        in_blocks: whether those of runs of blocks may be told as parts of a buffer, which know their shape and type;
            else steps of a plan with blocks are told with arrays as without a device.
    """

    of: Callable[[Any, Sequence[Any]], bool]
    in_blocks: bool = False


@dataclass(frozen=True, slots=True)
class Timed:
    """Asks what operators take where they are computed: a watcher is told :class:`Took`, by its method ``took``."""


class Spent(NamedTuple):
    """Time and memory of an operator in a run of a compiled plan, in one round of the loops around it or in all.

    Attributes:
        op: the operator of a program, or the entry of a recorded run.
        around: the branches and loops that it stands in, the outermost first.
        seconds: its time on the device.
        nbytes: what it gives, in one round; 0 where that is not known.
        rounds: which round of each of those around it, from 0; None where that is not known, and for branches.
    """

    op: Any
    around: tuple[Any, ...]
    seconds: float
    nbytes: int
    rounds: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Took:
    """Time and memory of a run of a compiled plan, measured where it was computed.

    Attributes:
        operators: in the order of the run.
        beside: seconds that belong to no operator, by name.
        elapsed: seconds from the beginning of the run to its end.
        shared: seconds of what several operators became, which each of them has a share of.
        device: where it was computed.
    """

    operators: tuple[Spent, ...]
    beside: Mapping[str, float]
    elapsed: float
    shared: float
    device: str


Heard = Told | Uneventful | Took | Entered | Exited
"""What a watcher is told of a plan that answers as a whole."""

Asked = InOrder | Measured | Staying | Timed
"""What a watcher needs of steps in place of arrays; its attribute ``summary_needs``, None for arrays."""
