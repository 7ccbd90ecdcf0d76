"""The ways in which values leave tensors for Python and NumPy, where no gradient follows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import watch
from ..core.errors import UsageError


class NotOneElement(UsageError, AssertionError):
    """A number is asked of a tensor with several elements (Paddle raises AssertionError)."""


IN_PADDLE = {
    "a number of Python": "(InvalidArgument) only one element tensors can be converted to Python scalars",
    "bool": "When Variable is used as the condition of if/while , Variable can only contain one element.",
    "float": "only one element variable can be converted to float.",
    "int": "only one element variable can be converted to int.",
}
"""By what a tensor is to become, how Paddle says that it has several elements."""


class ToPython:
    """Conversions of tensors for readers that know no tensors."""

    __slots__ = ()

    array: Any

    __array_priority__ = 100

    def numpy(self, force: bool = True) -> np.ndarray[Any, Any]:
        """A copy of the values; of selected rows, the whole table.

        Args:
            force: accepted for compatibility: it is a copy in any case.

        The type of bfloat16 arrays is ``ml_dtypes.bfloat16``, where Paddle gives the bits as uint16.
        """
        if watch.noting:
            watch.note(watch.Left("numpy", self))
        return np.array(self.array)

    def tolist(self) -> Any:
        """The values as nested lists."""
        if watch.noting:
            watch.note(watch.Left("tolist", self))
        return self.array.tolist()

    def item(self, *index: int) -> Any:
        """The one value, or the one at *index*, as a number of Python."""
        if watch.noting:
            watch.note(watch.Left("item", self))
        return self.array.item(*index) if index else self._only("a number of Python")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if watch.noting:
            watch.note(watch.Left("__array__", self))
        return np.array(self.array, dtype=dtype)

    def __float__(self) -> float:
        if watch.noting:
            watch.note(watch.Left("__float__", self))
        return float(self._only("float"))

    def __int__(self) -> int:
        if watch.noting:
            watch.note(watch.Left("__int__", self))
        return int(self._only("int"))

    def __complex__(self) -> complex:
        if watch.noting:
            watch.note(watch.Left("__complex__", self))
        return complex(self._only("complex"))

    # What decides and what counts is no value that comes back.

    def __bool__(self) -> bool:
        # As Paddle says: whether the number is positive. A branch of a program must be the one that it takes there.
        self._only("bool")
        return bool(self.array.reshape(()) > 0)

    def __index__(self) -> int:
        return int(self._only("index"))

    def __len__(self) -> int:
        if not self.array.ndim:
            raise NotOneElement("len() of a 0-D tensor is wrong")
        return int(self.array.shape[0])

    def __format__(self, spec: str) -> str:
        return format(self._only("text"), spec) if spec and not self.array.ndim else format(repr(self), spec)

    def _only(self, kind: str) -> Any:
        if self.array.size != 1:
            several = NotOneElement(
                f"only a tensor of one element can be converted to {kind}, but the shape is {list(self.array.shape)}."
            )
            several.in_paddle = IN_PADDLE.get(kind, "")
            raise several
        return self.array.reshape(()).item()
