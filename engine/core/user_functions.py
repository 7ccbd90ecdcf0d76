"""The user's own functions that programs call, by number.

A program holds the number, never the function: reading a program from a file runs no code, and a number means something
only in the process that registered it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import ArgumentTypeError, ExecutionError

_functions: list[Callable[..., Any]] = []


def register(function: Callable[..., Any]) -> int:
    """The number under which programs call *function* from now on.

    Raises:
        ArgumentTypeError: it is not callable (a TypeError).
    """
    if not callable(function):
        raise ArgumentTypeError("func must be a Python function")
    _functions.append(function)
    return len(_functions) - 1


def call(number: int, operands: Sequence[Any]) -> list[Any]:
    """Return the result of function *number* for arrays that it may read and not change.

    Returns:
        Arrays, and None where the function returns None.

    Raises:
        ExecutionError: there is no such function.
    """
    if not 0 <= number < len(_functions):
        raise ExecutionError(
            f"py_func calls function {number}, and there are {len(_functions)} in this process",
            hint="functions are not stored with a program: build it again by running the code that made it",
        )
    result = _functions[number](*map(_view, operands))
    results = result if isinstance(result, (list, tuple)) else (result,)
    return [None if r is None else np.asarray(r) for r in results]


def _view(array: Any) -> Any:
    if array is None:
        return None
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
