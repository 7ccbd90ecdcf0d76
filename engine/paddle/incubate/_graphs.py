"""``paddle.incubate.graph_*``: functions of ``paddle.geometric`` under their older names, and sampling in hops."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import geometric
from gradtool.paddle._arguments import integers
from gradtool.paddle.geometric._reindexing import numbers, renumbered
from gradtool.paddle.geometric._sampling import chosen, of_graph


def graph_send_recv(
    x: Any, src_index: Any, dst_index: Any, pool_type: str = "sum", out_size: Any = None, name: str | None = None
) -> AnyTensor:
    """:func:`gradtool.paddle.geometric.send_u_recv`, with *pool_type* for its ``reduce_op``."""
    return geometric.send_u_recv(x, src_index, dst_index, pool_type, out_size, name)  # type: ignore[no-any-return]


def graph_reindex(
    x: Any,
    neighbors: Any,
    count: Any,
    value_buffer: Any = None,
    index_buffer: Any = None,
    flag_buffer_hashtable: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """:func:`gradtool.paddle.geometric.reindex_graph`.

    Args:
        flag_buffer_hashtable: accepted for compatibility, as the buffers are: graphics cards need them.
    """
    return geometric.reindex_graph(x, neighbors, count)  # type: ignore[no-any-return]


def graph_sample_neighbors(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    eids: Any = None,
    perm_buffer: Any = None,
    sample_size: int = -1,
    return_eids: bool = False,
    flag_perm_buffer: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """:func:`gradtool.paddle.geometric.sample_neighbors`, with its arguments in another order.

    Args:
        flag_perm_buffer: accepted for compatibility, as the buffer is: graphics cards need them.
    """
    return geometric.sample_neighbors(row, colptr, input_nodes, sample_size, eids, return_eids)  # type: ignore[no-any-return]


def graph_khop_sampler(
    row: Any,
    colptr: Any,
    input_nodes: Any,
    sample_sizes: Any,
    sorted_eids: Any = None,
    return_eids: bool = False,
    name: str | None = None,
) -> tuple[Tensor, ...]:
    """Neighbours of nodes, neighbours of those that are new among them, and so on, numbered anew.

    Args:
        row, colptr: as in :func:`gradtool.paddle.geometric.sample_neighbors`.
        input_nodes: each node once.
        sample_sizes: the most neighbours of a node, for each hop; all when -1.
        sorted_eids: ``[edges]``, a number for each edge.

    Returns:
        Of each edge, the new numbers of the neighbour and of the node whose neighbour it is, both ``[edges, 1]``; the
        old number of each new one; the new numbers of *input_nodes*; with *return_eids* the numbers of the edges.

    Raises:
        UsageError: *return_eids* without *sorted_eids*, or a node twice (a ValueError).
        LabelError: a node that *colptr* does not have (an IndexError).
    """
    where = "paddle.incubate.graph_khop_sampler"
    if return_eids and sorted_eids is None:
        raise UsageError("`sorted_eid` should not be None if return_eids is True.")
    neighbours, begins, nodes = of_graph(row, colptr, input_nodes, where)
    if len(np.unique(nodes)) < len(nodes):
        raise UsageError(f"{where}: 'input_nodes' holds a node twice.")
    edges, targets = [np.zeros(0, np.int64)], [np.zeros(0, nodes.dtype)]
    seen, newest = nodes, nodes
    for size in integers(sample_sizes, "sample_sizes", where):
        taken, counts = chosen(begins[newest], begins[newest + 1], size, None)
        edges.append(taken)
        targets.append(np.repeat(newest, counts))
        _, old = renumbered(seen, neighbours[taken])
        seen, newest = old, old[len(seen) :]
    every = np.concatenate(edges)
    sources, _ = renumbered(seen, neighbours[every])
    ends, _ = renumbered(seen, np.concatenate(targets))
    starts = np.arange(len(nodes), dtype=nodes.dtype)
    results = [Tensor(sources.reshape(-1, 1)), Tensor(ends.reshape(-1, 1)), Tensor(seen), Tensor(starts)]
    if return_eids:
        results.append(Tensor(numbers(sorted_eids, "sorted_eids", where, str(row.dtype.name))[every]))
    return tuple(results)
