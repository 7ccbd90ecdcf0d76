"""What is known of an array that stays where it was computed: numbers of it, in place of its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

FINITE: Final = "finite"
"""Whether all elements are finite."""
LARGEST: Final = "largest"
"""The largest size of a finite element, in double precision."""


class Summary:
    """Stands for an array in what watchers are told.

    Attributes:
        shape, dtype: of the array.
        told: what was asked, by name (:data:`FINITE`, …); empty where nothing was, and for whole numbers.
    """

    __slots__ = ("__weakref__", "dtype", "shape", "told")

    def __init__(self, shape: tuple[int, ...], dtype: Any, told: Mapping[str, Any]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.told = told

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self.shape)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError("the values of this array have stayed where they were computed; only numbers of it are known")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a watcher needs of each step in place of arrays; its attribute ``summarised``, None for arrays.

    A backend that computes whole plans then tells it :class:`Summary` for what operators give. Where that does not do,
    the plan is carried out step by step, and arrays are told.

    Attributes:
        of: the names of what to tell of the results of an operator. The same function means the same question.
        enough: whether one of the answers will do: if all do, nobody looks at values.
    """

    of: Callable[[Any], tuple[str, ...]]
    enough: Callable[[Summary], bool]
