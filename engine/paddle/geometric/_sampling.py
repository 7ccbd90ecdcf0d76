"""Neighbours of nodes, all of them or some at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import DtypeError, LabelError, ShapeError, UsageError
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._arguments import integer

from ._reindexing import Array, numbers


def sample_neighbors(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    sample_size: int = -1,
    eids: Any = None,
    return_eids: bool = False,
    perm_buffer: Any = None,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Of each of some nodes up to *sample_size* neighbours, drawn evenly and each at most once.

    Args:
        row: ``[edges]``, int32 or int64: the neighbours of node 0, then those of node 1, …
        colptr: ``[nodes + 1]``, of the type of *row*: where the neighbours of each node begin, and the last ones end.
        input_nodes: the nodes whose neighbours are asked for, of the type of *row*.
        sample_size: all neighbours when -1; who has no more than that gives all of them, in their order.
        eids: ``[edges]``, a number for each edge.
        return_eids: whether the numbers of the edges are returned as well.
        perm_buffer: accepted for compatibility: room that graphics cards need.

    Returns:
        The neighbours of the first node, then those of the second, …; how many each has (int32); with *return_eids*
        the numbers of the edges.

    Raises:
        UsageError: *return_eids* without *eids* (a ValueError).
        LabelError: a node that *colptr* does not have (an IndexError).
        ShapeError: *colptr* and *row* do not fit (a ValueError).

    >>> from gradtool import paddle
    >>> row, colptr = paddle.to_tensor([3, 7, 0, 9, 1]), paddle.to_tensor([0, 2, 4, 5])
    >>> near, count = paddle.geometric.sample_neighbors(row, colptr, paddle.to_tensor([2, 0]), 2)
    >>> near.tolist(), count.tolist()
    ([1, 3, 7], [1, 2])
    """
    where = "paddle.geometric.sample_neighbors"
    return _sampled(row, colptr, None, input_nodes, sample_size, eids, return_eids, where)


def weighted_sample_neighbors(
    row: Any,
    colptr: Any,
    edge_weight: Any,
    input_nodes: Any,
    sample_size: int = -1,
    eids: Any = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """As :func:`sample_neighbors`, drawn with chances in proportion to the weights of the edges.

    Args:
        edge_weight: ``[edges]``, float32, not negative. Edges of weight zero come when no others are left.
    """
    where = "paddle.geometric.weighted_sample_neighbors"
    if not isinstance(edge_weight, Tensor) or edge_weight.dtype.name != "float32":
        what = edge_weight.dtype.name if isinstance(edge_weight, Tensor) else type(edge_weight).__name__
        raise DtypeError(f"{where}: 'edge_weight' must be a float32 Tensor, but is {what}.")
    weights = edge_weight.array.reshape(-1)
    if (weights < 0).any() or np.isnan(weights).any():
        raise UsageError(f"{where}: weights of edges must not be negative.")
    return _sampled(row, colptr, weights, input_nodes, sample_size, eids, return_eids, where)


def chosen(starts: Array, ends: Array, size: int, weights: Array | None) -> tuple[Array, Array]:
    """Return the edges that are taken for each node, one node after the other, and how many.

    Args:
        starts, ends: the edges of each node.
        size: the most that are taken of one node; all when -1.
        weights: of the edges; evenly when None.
    """
    picked: list[Array] = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        edges = np.arange(start, end)
        if 0 <= size < len(edges):
            edges = edges[_drawn(len(edges), size, None if weights is None else weights[start:end])]
        picked.append(edges)
    counts = np.array([len(p) for p in picked], np.int32)
    return np.concatenate([*picked, np.zeros(0, np.int64)]).astype(np.int64), counts


def _drawn(count: int, size: int, weights: Array | None) -> Array:
    """*size* different places of *count*."""
    numbers_ = state.random.stream.random(count)
    if weights is None:
        return np.argsort(numbers_, kind="stable")[:size]
    # The largest of u^(1/w) are a draw in proportion to w; their logarithms do not run out of digits.
    with np.errstate(divide="ignore"):
        keys = np.where(weights > 0, np.log(numbers_) / np.where(weights > 0, weights, 1), -np.inf)
    return np.lexsort((-numbers_, -keys))[:size]


def of_graph(row: Any, colptr: Any, input_nodes: Any, where: str) -> tuple[Array, Array, Array]:
    """Neighbours, where those of each node begin, and the nodes that are asked for, all checked."""
    neighbours = numbers(row, "row", where)
    kind = str(row.dtype.name)
    begins, nodes = numbers(colptr, "colptr", where, kind), numbers(input_nodes, "input_nodes", where, kind)
    if not len(begins) or begins[0] != 0 or (np.diff(begins) < 0).any() or begins[-1] > len(neighbours):
        raise ShapeError(
            f"{where}: colptr must rise from 0 to the {len(neighbours)} edges of row at most, but is "
            f"{begins[:8].tolist()}{' …' if len(begins) > 8 else ''}."
        )
    if len(nodes) and (nodes.min() < 0 or nodes.max() >= len(begins) - 1):
        bad = nodes.min() if nodes.min() < 0 else nodes.max()
        raise LabelError(f"{where}: node {bad} is not there: colptr has {len(begins) - 1} nodes.")
    return neighbours, begins, nodes


def _sampled(
    row: Any,
    colptr: Any,
    weights: Array | None,
    input_nodes: Any,
    sample_size: Any,
    eids: Any,
    return_eids: bool,
    where: str,
) -> tuple[Tensor, ...]:
    if return_eids and eids is None:
        raise UsageError("`eids` should not be None if `return_eids` is True.")
    neighbours, begins, nodes = of_graph(row, colptr, input_nodes, where)
    if weights is not None and len(weights) != len(neighbours):
        raise ShapeError(f"{where}: there are {len(weights)} weights for {len(neighbours)} edges.")
    size = integer(sample_size, "sample_size", where)
    edges, counts = chosen(begins[nodes], begins[nodes + 1], size, weights)
    results = [Tensor(neighbours[edges]), Tensor(counts)]
    if return_eids:
        names = numbers(eids, "eids", where, str(row.dtype.name))
        if len(names) != len(neighbours):
            raise ShapeError(f"{where}: there are {len(names)} eids for {len(neighbours)} edges.")
        results.append(Tensor(names[edges]))
    return tuple(results)
