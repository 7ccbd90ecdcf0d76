"""Rows added up in tables: whole rows at a time, not element by element."""

from __future__ import annotations

from typing import Any

from jax import numpy

from ..backend import Kernel, override


@override("add_rows", "jax")
def add_rows(attrs: Any, specs: Any) -> Kernel:
    """The gradient of an embedding."""
    skipped = attrs["padding_idx"]

    def kernel(ids: Any, x: Any, like: Any) -> Any:
        flat, rows = ids.reshape(-1), x.reshape((ids.size, *like.shape[1:]))
        if skipped != -1:
            rows = numpy.where((flat != skipped)[:, None], rows, numpy.zeros((), x.dtype))
        return numpy.zeros(like.shape, x.dtype).at[flat].add(rows)

    return kernel
