"""Kernels of operators that need to know their variables: what they print, check or call is told by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import user_functions
from ..core.errors import KernelError
from ..core.spec import UNKNOWN
from ..ir.operator import Operator, each
from ..ir.variable import Variable
from ..kernels.backend import Kernel
from ..ops.library.effects import check, prints, shown


def kernel(op: Operator) -> Kernel | None:
    """The kernel of *op*, if it is one of these."""
    make = _MAKERS.get(op.type)
    return make(op) if make is not None else None


def _print(op: Operator) -> Kernel:
    attrs = dict(op.attrs)
    first, phase, forward = attrs.pop("first_n"), attrs.pop("print_phase"), attrs.pop("is_forward")
    name = next(each(op.inputs)).name
    counts = op.block.program.printed

    def run(x: Any) -> Any:
        if prints(phase, forward):
            counts[op] = counts.get(op, 0) + 1
            if first <= 0 or counts[op] <= first:
                print(shown(x, name, **attrs))
        return x

    return run


def _assert(op: Operator) -> Kernel:
    cond, *data = each(op.inputs)
    summarize = op.attrs["summarize"]

    def run(condition: Any, values: Any) -> tuple[()]:
        check(condition, values, [v.name for v in data], cond.name, summarize)
        return ()

    return run


def _py_func(op: Operator) -> Kernel:
    number = op.attrs["forward_callable_id"]
    outs: list[Variable | None] = [v for value in op.outputs if isinstance(value, tuple) for v in value]

    def run(values: Any = ()) -> list[Any]:
        results = user_functions.call(number, values or ())
        if not outs:
            return []
        if len(results) != len(outs):
            raise KernelError(f"the function returns {len(results)} results, but there are {len(outs)} outputs")
        return [None if v is None or r is None else _fit(r, v) for r, v in zip(results, outs, strict=True)]

    return run


def _fit(value: np.ndarray[Any, Any], v: Variable) -> np.ndarray[Any, Any]:
    """A function's result as a value of *v*."""
    wanted = v.dtype.numpy
    fits = value.ndim == v.ndim and all(m in (n, UNKNOWN) for m, n in zip(v.shape, value.shape, strict=True))
    if not fits or wanted is None or not np.can_cast(value.dtype, wanted, casting="same_kind"):
        raise KernelError(
            f"the function returns {value.dtype}{list(value.shape)} for '{v.name}', which is declared as {v.spec}"
        )
    return value.astype(wanted, copy=False)


_MAKERS: dict[str, Callable[[Operator], Kernel]] = {"print": _print, "assert": _assert, "py_func": _py_func}
