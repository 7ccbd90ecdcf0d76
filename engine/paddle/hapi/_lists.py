"""Lists as ``paddle.hapi.model`` makes them of what it is given, and a tensor of all processes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def to_list(value: Any) -> list[Any] | None:
    """Return a list of one value, or of those in a list or tuple; None for None."""
    if value is None:
        return None
    return list(value) if isinstance(value, (list, tuple)) else [value]


def to_numpy(var: Any) -> np.ndarray[Any, Any]:
    """Return the values of a tensor; of a variable, those that the global scope has."""
    from gradtool.engine.core.value import AnyTensor
    from gradtool.engine.eager.tensor import Tensor
    from gradtool.engine.executor.scope import global_scope

    assert isinstance(var, AnyTensor), "not a variable"
    held: Any = var if isinstance(var, Tensor) else global_scope().find_var(var.name)
    return np.array(held if held is var else held.get_tensor())


def flatten_list(l: list[list[Any]]) -> tuple[list[Any], list[int]]:  # noqa: E741  # Paddle's name of it
    """Return the entries of lists in one list, and how many each of them had.

    >>> flatten_list([[1, 2], [3]])
    ([1, 2, 3], [2, 1])
    """
    assert isinstance(l, list), "not a list"
    assert all(isinstance(part, list) for part in l), "sub content not a list"
    return [entry for part in l for entry in part], [len(part) for part in l]


def restore_flatten_list(l: Sequence[Any], splits: Sequence[int]) -> list[Any]:  # noqa: E741  # Paddle's name of it
    """Return the lists that :func:`flatten_list` made one of."""
    parts = []
    for count in splits:
        assert len(l) >= count, "list length invalid"
        parts.append(l[:count])
        l = l[count:]  # noqa: E741
    return parts


def extract_args(func: Callable[..., Any]) -> list[str]:
    """Return the names of the arguments of a function."""
    return inspect.getfullargspec(func).args


def _all_gather(x: Any) -> Any:
    """Return *x* as all processes have it, one behind another: of one process, a copy."""
    from gradtool.paddle._manipulation import concat

    return concat([x], axis=0)
