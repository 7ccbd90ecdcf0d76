"""Nodes of a part of a graph, numbered anew from zero."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import DtypeError, ModeError, ShapeError, UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._arguments import INTEGERS, tensor
from gradtool.paddle._remembered import read_value

Array = np.ndarray[Any, Any]


def reindex_graph(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Number the nodes of a sampled graph anew: first *x*, then its neighbours as they come.

    Args:
        x: ``[nodes]``, int32 or int64. A node that occurs twice goes by its last place (as in Paddle).
        neighbors: those of the first node, then those of the second, …, of the type of *x*.
        count: ``[nodes]``, int32: how many neighbours each node has.
        value_buffer, index_buffer: accepted for compatibility: room that graphics cards need.

    Returns:
        The new number of each neighbour, that of the node whose neighbour it is, and the old number of each new one.

    Raises:
        ShapeError: *count* does not say where the neighbours belong (a ValueError).
        DtypeError: other types (a ValueError).

    >>> from gradtool import paddle
    >>> x, count = paddle.to_tensor([0, 1]), paddle.to_tensor([2, 1], dtype="int32")
    >>> [t.tolist() for t in paddle.geometric.reindex_graph(x, paddle.to_tensor([8, 1, 8]), count)]
    [[2, 1, 2], [0, 0, 1], [0, 1, 8]]
    """
    return _reindexed(x, [neighbors], [count], "paddle.geometric.reindex_graph")


def reindex_heter_graph(
    x: Any,
    neighbors: Sequence[Any],
    count: Sequence[Any],
    value_buffer: Any = None,
    index_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """As :func:`reindex_graph`, of a graph with several kinds of edges: a list of neighbours and counts for each."""
    where = "paddle.geometric.reindex_heter_graph"
    for what, value in (("neighbors", neighbors), ("count", count)):
        if not isinstance(value, (list, tuple)) or not value:
            raise UsageError(f"{where}: '{what}' must be a list of tensors, one for each kind of edges.")
    if len(neighbors) != len(count):
        raise UsageError(f"{where}: there are {len(neighbors)} neighbors and {len(count)} counts; they go together.")
    return _reindexed(x, neighbors, count, where)


def numbers(value: Any, what: str, where: str, dtype: str | None = None) -> Array:
    """The whole numbers of a tensor of dynamic mode, as a vector.

    Raises:
        ModeError: static mode is on.
        DtypeError: they are of another type (a ValueError).
        ShapeError: it is no vector and no column (a ValueError).
    """
    if state.in_static_mode() or not isinstance(value, Tensor):
        checked = tensor(value, what, where)
        raise ModeError(
            f"{where} reads the numbers in '{checked.name}', and a static program has none yet.",
            hint="sample the graph in dynamic mode, and feed what comes",
        )
    array = value.array
    allowed = INTEGERS if dtype is None else (dtype,)
    if value.dtype.name not in allowed:
        raise DtypeError(f"{where}: '{what}' must be {' or '.join(allowed)}, but is {value.dtype.name}.")
    if array.ndim != 1 and not (array.ndim == 2 and array.shape[1] == 1):
        raise ShapeError(f"{where}: '{what}' must be a vector or a column, but has the shape {list(array.shape)}.")
    read_value()
    return array.reshape(-1)  # type: ignore[no-any-return]


def renumbered(nodes: Array, others: Array) -> tuple[Array, Array]:
    """The new number of each of *others*, and the old number of each new one: first *nodes*, then others as they come.

    One that occurs several times in *nodes* goes by its last place.
    """
    old, back = np.unique(np.concatenate([nodes, others]), return_inverse=True)
    back = back.reshape(-1)
    new = np.full(len(old), -1, nodes.dtype)
    new[back[: len(nodes)]] = np.arange(len(nodes))
    unseen = back[len(nodes) :][new[back[len(nodes) :]] < 0]
    met, first = np.unique(unseen, return_index=True)
    met = met[np.argsort(first, kind="stable")]
    new[met] = np.arange(len(nodes), len(nodes) + len(met))
    return new[back[len(nodes) :]], np.concatenate([nodes, old[met]])


def _reindexed(x: Any, neighbors: Sequence[Any], count: Sequence[Any], where: str) -> tuple[Tensor, Tensor, Tensor]:
    nodes = numbers(x, "x", where)
    targets: list[Array] = []
    lists: list[Array] = []
    for several, counts in zip(neighbors, count, strict=True):
        others = numbers(several, "neighbors", where, str(x.dtype.name))
        of_each = numbers(counts, "count", where, "int32")
        if len(of_each) != len(nodes) or of_each.sum() != len(others) or (of_each < 0).any():
            raise ShapeError(
                f"{where}: count must say of each of the {len(nodes)} nodes how many of the {len(others)} neighbors it "
                f"has, but is {of_each.tolist()}."
            )
        lists.append(others)
        targets.append(np.repeat(renumbered(nodes, nodes)[0], of_each))
    sources, old = renumbered(nodes, np.concatenate(lists))
    return Tensor(sources), Tensor(np.concatenate(targets)), Tensor(old)
