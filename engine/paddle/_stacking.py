"""``paddle.vstack``, ``paddle.hstack``, …: joining tensors that first get the dimensions they lack."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor

from ._arguments import tensor, tensors
from ._creation import numel
from ._manipulation import concat, reshape, unsqueeze

_NEW_AXES: dict[tuple[int, int], list[int]] = {(1, 2): [0], (1, 3): [0, 2], (2, 3): [2]}
"""Dimensions that a tensor has and needs -> where the new ones go."""


def _at_least(ndim: int, inputs: tuple[Any, ...], where: str) -> Any:
    listed = len(inputs) == 1 and isinstance(inputs[0], (list, tuple))
    outs = []
    inputs = (*inputs[0],) if listed else inputs
    for i, operand in enumerate(inputs):
        x = tensor(operand, f"inputs[{i}]", where)
        if x.ndim == 0:
            x = reshape(x, [1] * ndim)
        elif x.ndim < ndim:
            x = unsqueeze(x, _NEW_AXES[x.ndim, ndim])
        outs.append(x)
    return outs[0] if len(outs) == 1 and not listed else outs


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least one dimension: a scalar becomes ``[1]``; a list when there are several."""
    return _at_least(1, inputs, "paddle.atleast_1d")


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least two dimensions: a vector becomes a row; a list when there are several."""
    return _at_least(2, inputs, "paddle.atleast_2d")


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least three dimensions: ``[n]`` becomes ``[1, n, 1]``, ``[m, n]`` becomes ``[m, n, 1]``."""
    return _at_least(3, inputs, "paddle.atleast_3d")


def _each(x: Any, ndim: int, where: str) -> list[AnyTensor]:
    return [_at_least(ndim, (v,), where) for v in tensors(x, "x", where)]


def hstack(x: Any, name: str | None = None) -> AnyTensor:
    """The tensors in *x* side by side: along the second dimension, vectors along their only one."""
    parts = _each(x, 1, "paddle.hstack")
    return concat(parts, 0 if parts[0].ndim == 1 else 1, name=name)


def vstack(x: Any, name: str | None = None) -> AnyTensor:
    """The tensors in *x* one below the other: along the first dimension, vectors as rows."""
    return concat(_each(x, 2, "paddle.vstack"), 0, name=name)


def row_stack(x: Any, name: str | None = None) -> AnyTensor:
    """The same as ``vstack``."""
    return concat(_each(x, 2, "paddle.row_stack"), 0, name=name)


def dstack(x: Any, name: str | None = None) -> AnyTensor:
    """The tensors in *x* one behind the other: along the third dimension."""
    return concat(_each(x, 3, "paddle.dstack"), 2, name=name)


def column_stack(x: Any, name: str | None = None) -> AnyTensor:
    """The tensors in *x* side by side, vectors as columns."""
    parts = [reshape(v, [numel(v), 1]) if v.ndim < 2 else v for v in tensors(x, "x", "paddle.column_stack")]
    return hstack(parts, name)
