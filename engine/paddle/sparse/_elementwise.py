"""Functions of ``paddle.sparse`` that change each stored element by itself: zero stays zero."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, DtypeError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._creation import cast as cast_values
from gradtool.paddle._dispatch import made_when_used
from gradtool.paddle._math import pow as power

from ._creation import INDICES
from ._operands import passed, sparse
from ._tensor import SparseTensor

SAME = "abs asin asinh atan atanh deg2rad expm1 isnan log1p neg rad2deg sin sinh sqrt square tan tanh"
"""Functions of ``paddle`` that are there for sparse tensors under the same name."""


def _made(function: str) -> Callable[[], Callable[..., Tensor]]:
    def make() -> Callable[..., Tensor]:
        of_values = getattr(importlib.import_module("gradtool.paddle"), function)

        def call(x: Any, name: str | None = None) -> Tensor:
            x = sparse(x, "x", f"paddle.sparse.{function}")
            return x.of_values(of_values(x.carrier))  # type: ignore[no-any-return]

        call.__name__ = call.__qualname__ = function
        call.__doc__ = f"``paddle.{function}`` of each stored element of the sparse tensor *x*."
        return call

    return make


__getattr__ = made_when_used(globals(), {function: _made(function) for function in SAME.split()})


def pow(x: Any, factor: Any, name: str | None = None) -> Tensor:
    """Each stored element of *x* to the power of the number *factor*."""
    x = sparse(x, "x", "paddle.sparse.pow")
    if isinstance(factor, (bool, Tensor)) or not isinstance(factor, (int, float, np.number)):
        raise ArgumentTypeError(f"paddle.sparse.pow: 'factor' must be a number, but received {type(factor).__name__}.")
    return x.of_values(power(x.carrier, float(factor) if x.dtype.name.startswith("float") else factor))  # type: ignore[no-any-return]


def cast(x: Any, index_dtype: Any = None, value_dtype: Any = None, name: str | None = None) -> Tensor:
    """*x* with its places, its values, or both in other types.

    Raises:
        DtypeError: an *index_dtype* that is none of whole numbers (a TypeError).
    """
    where = "paddle.sparse.cast"
    x = sparse(x, "x", where)
    places, values = x.places, x.carrier
    if index_dtype is not None:
        kind = dtype_of(index_dtype)
        if kind.name not in INDICES:
            raise DtypeError(f"{where}: 'index_dtype' must be one of {', '.join(INDICES)}, but is {kind.name}.")
        places = tuple(p.astype(kind.numpy) for p in places)
    if value_dtype is not None and dtype_of(value_dtype) is not x.dtype:
        values = cast_values(values, value_dtype)
    return SparseTensor(passed(values) if values is x.carrier else values, places, tuple(x.shape), x.coalesced)
