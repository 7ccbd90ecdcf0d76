"""Graphs: neighbours drawn, nodes numbered anew, messages in programs.

Values of Paddle are in `tests/paddle/sparse`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ModeError

G = paddle.geometric

ROW = [3, 7, 0, 9, 1, 4, 2, 9, 3, 9, 1, 9, 7]
COLPTR = [0, 2, 4, 5, 6, 7, 9, 11, 11, 13, 13]


def graph(dtype: str = "int64") -> list[Any]:
    return [paddle.to_tensor(v, dtype=dtype) for v in (ROW, COLPTR, [0, 8, 1, 2])]


def numbers(tensors: Any) -> list[Any]:
    return [t.tolist() for t in tensors]


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("size", [-1, 2, 9])
def test_all_neighbours_come_in_their_order(dtype: str, size: int) -> None:
    row, colptr, nodes = graph(dtype)
    eids = paddle.arange(13).astype(dtype)
    near, count, edges = G.sample_neighbors(row, colptr, nodes, size, eids, True)
    assert (near.dtype, count.dtype) == (row.dtype, paddle.int32)
    assert numbers((near, count, edges)) == [[3, 7, 9, 7, 0, 9, 1], [2, 2, 2, 1], [0, 1, 11, 12, 2, 3, 4]]
    assert numbers(G.sample_neighbors(row, colptr, paddle.to_tensor([7, 9], dtype=dtype))) == [[], [0, 0]]
    assert numbers(G.sample_neighbors(row, colptr, nodes, 0)) == [[], [0, 0, 0, 0]]


@pytest.mark.usefixtures("dynamic")
def test_neighbours_are_drawn_evenly_or_by_weight() -> None:
    row, colptr = paddle.arange(4), paddle.to_tensor([0, 4])
    nodes = paddle.zeros([1], "int64")
    weight = paddle.to_tensor([0.0, 1.0, 3.0, 0.0])
    paddle.seed(1)
    even, weighted = Counter[int](), Counter[int]()
    for _ in range(400):
        drawn = G.sample_neighbors(row, colptr, nodes, 2)[0].tolist()
        assert len({*drawn}) == 2
        even.update(drawn)
        weighted.update(G.weighted_sample_neighbors(row, colptr, weight, nodes, 1)[0].tolist())
    assert all(150 < even[i] < 250 for i in range(4))
    assert {*weighted} == {1, 2}
    assert 250 < weighted[2] < 350
    three = {*G.weighted_sample_neighbors(row, colptr, weight, nodes, 3)[0].tolist()}
    assert {1, 2} < three
    paddle.seed(1)
    assert G.sample_neighbors(row, colptr, nodes, 2)[0].tolist() == _first_draw(row, colptr, nodes)


def _first_draw(row: Any, colptr: Any, nodes: Any) -> Any:
    paddle.seed(1)
    return G.sample_neighbors(row, colptr, nodes, 2)[0].tolist()


@pytest.mark.usefixtures("dynamic")
def test_hops() -> None:
    row, colptr, nodes = graph()
    sources, targets, old, new, eids = paddle.incubate.graph_khop_sampler(
        row, colptr, nodes, [9, 9], paddle.arange(13), True
    )
    assert old.tolist() == [0, 8, 1, 2, 3, 7, 9, 4]
    assert new.tolist() == [0, 1, 2, 3]
    assert sources.shape == targets.shape == [8, 1]
    edges = [
        (old.tolist()[s], old.tolist()[t]) for s, t in zip(sources[:, 0].tolist(), targets[:, 0].tolist(), strict=True)
    ]
    assert edges == [(3, 0), (7, 0), (9, 8), (7, 8), (0, 1), (9, 1), (1, 2), (4, 3)]
    assert [ROW[e] for e in eids.tolist()] == [source for source, _ in edges]
    older = paddle.incubate.graph_sample_neighbors(row, colptr, nodes, sample_size=9)
    assert numbers(older) == numbers(G.sample_neighbors(row, colptr, nodes))


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda r, c, n: G.sample_neighbors(r, c, n + 9), "node 17 is not there: colptr has 10 nodes"),
        (lambda r, c, n: G.sample_neighbors(r, n, n), "colptr must rise from 0 to the 13 edges"),
        (lambda r, c, n: G.sample_neighbors(r, c, n.astype("int32")), "'input_nodes' must be int64"),
        (lambda r, c, n: G.sample_neighbors(r, c, n, eids=n, return_eids=True), "4 eids for 13 edges"),
        (lambda r, c, n: G.weighted_sample_neighbors(r, c, r, n), "must be a float32 Tensor"),
        (lambda r, c, n: G.weighted_sample_neighbors(r, c, -r.astype("float32"), n), "must not be negative"),
        (lambda r, c, n: G.reindex_graph(n, r, n.astype("int32")), "count must say of each of the 4 nodes"),
        (lambda r, c, n: G.reindex_heter_graph(n, [r], []), "must be a list of tensors"),
        (lambda r, c, n: G.reindex_heter_graph(n, [r], [n, n]), "they go together"),
        (lambda r, c, n: paddle.incubate.graph_khop_sampler(r, c, paddle.concat([n, n]), [1]), "holds a node twice"),
        (lambda r, c, n: paddle.incubate.graph_khop_sampler(r, c, n, [1], None, True), "should not be None"),
        (lambda r, c, n: G.send_uv(r, n.astype("float32"), n, n), "must be of one type"),
        (lambda r, c, n: G.send_u_recv(r, n, n, out_size=n), "out_size must be a number"),
    ],
)
def test_wrong_arguments(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call(*graph())


def test_messages_in_programs() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [3, 2])
    x.stop_gradient = False
    ends = [paddle.static.data(name, [4], "int64") for name in ("src", "dst")]
    weight = paddle.static.data("weight", [4, 1])
    size = paddle.static.data("size", [1], "int32")
    received = G.send_ue_recv(x, weight, *ends, "div", "mean", out_size=size)
    loss = paddle.sum(
        G.segment_sum(G.send_uv(received, received, *ends, "sub"), ends[0]) + G.send_u_recv(received, *ends)
    )
    (gradient,) = paddle.static.gradients(loss, x)
    feed = {
        "x": np.array([[1.0, 2.5], [3.0, 4.0], [0.5, 6.0]], "float32"),
        "src": np.array([0, 0, 1, 2]),
        "dst": np.array([1, 2, 1, 0]),
        "weight": np.array([[1.0], [2.0], [4.0], [8.0]], "float32"),
        "size": np.array([3], "int32"),
    }
    given = paddle.static.Executor().run(feed=feed, fetch_list=[loss, gradient])
    paddle.disable_static()
    arrays = {name: paddle.to_tensor(value) for name, value in feed.items()}
    arrays["x"].stop_gradient = False
    at = arrays["src"], arrays["dst"]
    received = G.send_ue_recv(arrays["x"], arrays["weight"], *at, "div", "mean", out_size=3)
    total = G.segment_sum(G.send_uv(received, received, *at, "sub"), at[0]) + G.send_u_recv(received, *at)
    total.sum().backward()
    np.testing.assert_allclose(given[0], total.sum().item(), rtol=1e-6)
    np.testing.assert_allclose(given[1], arrays["x"].grad.numpy(), rtol=1e-6)


def test_numbers_of_nodes_are_no_part_of_programs() -> None:
    paddle.enable_static()
    nodes = paddle.static.data("nodes", [4], "int64")
    with pytest.raises(ModeError, match="a static program has none yet"):
        G.reindex_graph(nodes, nodes, nodes)
    with pytest.raises(ModeError, match="sample the graph in dynamic mode"):
        G.sample_neighbors(nodes, nodes, nodes)
