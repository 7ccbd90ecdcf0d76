"""Values that an operator refuses: how a kernel says so, on arrays that are there and on arrays that are yet to come.

A kernel that looks into its operands (labels, indices) writes ::

    refuse((index < -size) | (index >= size), lambda worst: LabelError(f"index {worst} …"), worst_of(index))

Over NumPy's arrays that raises at once. Where a backend compiles, ``wrong`` has no value yet: what is refused is
collected for the compiler (:func:`collect_refusals`), whose program returns it next to its results, and the same error
is raised after the run.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from ..core.errors import ExecutionError
from ..core.scoped_variables import set_inside


class RefusalCondition(NamedTuple):
    """Condition that may turn out to be wrong.

    Attributes:
        wrong: where it is, bools of any shape.
        error: makes the error from the *values*, as NumPy arrays.
        values: what its message tells.
    """

    wrong: Any
    error: Callable[..., Exception]
    values: tuple[Any, ...]


_collected: ContextVar[list[RefusalCondition] | None] = ContextVar("refusals", default=None)


def refuse(wrong: Any, error: Callable[..., Exception], *values: Any) -> None:
    """Raise ``error(*values)`` if any element of *wrong* holds.

    Args:
        wrong: bools of any shape.
        error: makes the error. It gets the *values* as NumPy arrays, now or after the run, and reads nothing else that
            was computed.
        values: small arrays: what the message tells.
    """
    if isinstance(wrong, (bool, np.bool_, np.ndarray)):
        if wrong.any() if isinstance(wrong, np.ndarray) else wrong:
            raise error(*map(np.asarray, values))
        return
    noted = _collected.get()
    if noted is None:
        raise ExecutionError("values are refused while compiling, and nobody takes note of it")
    noted.append(RefusalCondition(wrong, error, values))


def first_of(values: Any, wrong: Any) -> Any:
    """The first of *values* where *wrong* holds; any of them where it holds nowhere."""
    return values.reshape(-1)[wrong.reshape(-1).argmax()] if values.size else values.sum()


def refuse_first(values: Any, wrong: Any, error: Callable[[Any], Exception]) -> None:
    """Raise ``error(value)`` with the first of *values* where *wrong* holds, if it holds anywhere."""
    if not isinstance(wrong, np.ndarray) or wrong.any():
        refuse(wrong, error, first_of(values, wrong))


def refuse_outside(numbers: Any, low: int, high: int, error: Callable[[Any], Exception]) -> None:
    """Raise ``error(number)`` if one of *numbers* is below *low*, or not below *high*: with the smallest or largest."""
    if not numbers.size:
        return
    least, most = numbers.min(), numbers.max()
    if not isinstance(numbers, np.ndarray):
        # Element by element, which a compiler fuses to one reduction; the extremes are computed for the message alone.
        refuse((numbers < low) | (numbers >= high), lambda a, b: error(a if a < low else b), least, most)
    elif least < low or most >= high:
        raise error(least if least < low else most)


def may_hold(condition: Any) -> bool:
    """Return whether any element of *condition* holds; where that is not known yet, that it may."""
    return bool(condition.any()) if isinstance(condition, (np.ndarray, np.bool_)) else True


def collect_refusals() -> AbstractContextManager[list[RefusalCondition]]:
    """Collect the refusals inside, in order, instead of raising them."""
    return set_inside(_collected, [])
