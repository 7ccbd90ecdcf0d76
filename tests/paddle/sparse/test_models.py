"""Models over sparse tensors of which Paddle has no kernels on the CPU: as dense ones, and asked by commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import nn, sparse
from tests.cli.conftest import Run

PLACES = [[0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 0, 2, 3]]

CONVOLUTION = """
import paddle
from paddle import nn, sparse

class Convolution(nn.Layer):
    def __init__(self, width, out):
        super().__init__()
        self.linear = nn.Linear(width, out)
        self.weight = self.create_parameter([7], default_initializer=nn.initializer.Uniform(0.2, 0.8))

    def forward(self, x):
        adjacency = ADJACENCY
        return sparse.matmul(sparse.nn.functional.softmax(adjacency), self.linear(x))

net = nn.Sequential(Convolution(5, 8), nn.ReLU(), Convolution(8, 3))
optimizer = paddle.optimizer.SGD(0.1, parameters=net.parameters())
features, mask = paddle.randn([4, 5]), paddle.sparse.sparse_coo_tensor([[0, 1], [1, 2]], [1.0, 2.0], [4, 4])
for _ in range(2):
    loss = nn.functional.cross_entropy(net(features), paddle.to_tensor([0, 1, 2, 0]))
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
"""
COO = (
    "sparse.sparse_coo_tensor([[0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 0, 2, 3]], self.weight, [4, 4], stop_gradient=False)"
)
CSR = "sparse.sparse_csr_tensor([0, 2, 4, 6, 7], [0, 1, 1, 2, 0, 2, 3], self.weight, [4, 4], stop_gradient=False)"


@pytest.mark.usefixtures("dynamic")
def test_a_graph_convolution_with_weights_that_are_learnt() -> None:
    rng = np.random.default_rng(0)
    first, second, weight, x = (
        paddle.to_tensor(rng.standard_normal(shape), stop_gradient=False) for shape in ((5, 8), (8, 3), (7,), (4, 5))
    )

    def of(product: Any) -> list[Any]:
        out = product(nn.functional.relu(product(x @ first)) @ second)
        return [out, *paddle.grad(out.square().sum(), [first, second, weight, x])]

    adjacency = sparse.sparse_coo_tensor(PLACES, weight, [4, 4], stop_gradient=False)
    shares = sparse.nn.functional.softmax(adjacency)
    mask = np.full((4, 4), -np.inf)
    mask[tuple(PLACES)] = 0
    table = paddle.scatter_nd(paddle.to_tensor(PLACES).t(), weight, [4, 4])
    dense = nn.functional.softmax(table + paddle.to_tensor(mask))
    for one, other in zip(of(lambda h: sparse.matmul(shares, h)), of(lambda h: dense @ h), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)


@pytest.mark.usefixtures("dynamic")
def test_an_mlp_over_sparse_features_learns() -> None:
    paddle.seed(1)
    dense = paddle.randn([16, 6]) * (paddle.rand([16, 6]) < 0.4).astype("float32")
    features, labels = dense.to_sparse_csr(), (dense.sum(1) > 0).astype("int64")
    weight, bias = paddle.create_parameter([6, 8], "float32"), paddle.create_parameter([16, 8], "float32", is_bias=True)
    head = nn.Linear(8, 2)
    optimizer = paddle.optimizer.Adam(0.1, parameters=[weight, bias, *head.parameters()])
    losses = []
    for _ in range(20):
        loss = nn.functional.cross_entropy(head(paddle.tanh(sparse.addmm(bias, features, weight))), labels)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 5


def test_commands_name_what_sparse_tensors_carry(gradtool: Run, tmp_path: Path) -> None:
    file = tmp_path / "convolution.py"
    file.write_text(CONVOLUTION.replace("ADJACENCY", COO), encoding="utf-8")
    assert "no findings" in gradtool("why", str(file)).out
    assert "CLEAN" in gradtool("nan", str(file)).out
    assert "6 of 6 gradients checked and right" in gradtool("gradcheck", str(file)).out
    table = gradtool("backward", str(file)).out
    assert "net.0.weight" in table
    assert "cut: stop_gradient" in table[table.index(" mask ") :]
    for words in (["stats", "--memory"], ["stats"], ["flow"], ["stats", "--time"]):
        assert gradtool(*words, str(file)).code == 0


def test_rows_that_messages_are_sent_to_are_no_samples(gradtool: Run, tmp_path: Path) -> None:
    file = tmp_path / "convolution.py"
    file.write_text(CONVOLUTION.replace("ADJACENCY", COO), encoding="utf-8")
    assert " error" not in gradtool("check", str(file)).out


def test_a_weight_that_was_frozen_by_a_default_is_found(gradtool: Run, tmp_path: Path) -> None:
    file = tmp_path / "convolution.py"
    file.write_text(CONVOLUTION.replace("ADJACENCY", COO.replace(", stop_gradient=False", "")), encoding="utf-8")
    answer = gradtool("why", "--prove", str(file)).out
    assert "net.0.weight   grad = None   verdict: STOP_GRADIENT\n" in answer
    assert "paddle.sparse.sparse_coo_tensor set stop_gradient=True, which is its default" in answer
    assert "convolution.py:12" in answer
    assert "try  pass stop_gradient=False to paddle.sparse.sparse_coo_tensor" in answer
    assert "[proved by running again]" in answer
    product = COO.replace(", stop_gradient=False", "").replace("self.weight", "self.weight * 2")
    file.write_text(CONVOLUTION.replace("ADJACENCY", product), encoding="utf-8")
    assert "net.0.weight   grad = None   verdict: DETACHED\n" in gradtool("why", str(file)).out


def test_why_names_the_line_where_compressed_rows_cut(gradtool: Run, tmp_path: Path) -> None:
    file = tmp_path / "convolution.py"
    file.write_text(CONVOLUTION.replace("ADJACENCY", CSR), encoding="utf-8")
    answer = gradtool("why", str(file))
    assert "net.0.weight   grad = None" in answer.out
    assert "its part of the graph ends at detach, convolution.py:12" in answer.out
    assert answer.out.count("grad = None") == 1
    assert "the same holds for 1 more: net.2.weight" in answer.out
