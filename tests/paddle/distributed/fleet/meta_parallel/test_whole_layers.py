"""Layers that would be divided among processes are whole in one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle.distributed.fleet import meta_parallel as mp

pytestmark = pytest.mark.usefixtures("dynamic")


def test_layers_that_would_be_divided_are_whole() -> None:
    paddle.seed(1)
    x = paddle.randn([2, 4])
    column, row = mp.ColumnParallelLinear(4, 6, has_bias=True), mp.RowParallelLinear(6, 3)
    assert [p.name.split("_")[0] for p in column.parameters()] == ["linear", "linear"]
    assert mp.ColumnParallelLinear(4, 6).bias is None
    np.testing.assert_allclose(column(x).numpy(), x.numpy() @ column.weight.numpy() + column.bias.numpy(), rtol=1e-5)
    assert row(column(x)).shape == [2, 3]
    table = mp.VocabParallelEmbedding(5, 4)
    assert table(paddle.to_tensor([[1, 4]])).shape == [1, 2, 4]
    loss = mp.ParallelCrossEntropy()(row(column(x)), paddle.to_tensor([[1], [2]]))
    assert loss.shape == [2, 1]
    loss.mean().backward()
    assert column.weight.grad is not None


def test_a_pipeline_of_one_stage_shares_weights() -> None:
    class Table(paddle.nn.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weight = self.create_parameter([4, 4])

        def forward(self, x: Any) -> Any:
            return paddle.matmul(x, self.weight)

    row = mp.PipelineLayer(
        [
            mp.SharedLayerDesc("table", Table),
            paddle.tanh,
            mp.LayerDesc(paddle.nn.Linear, 4, 4),
            mp.SharedLayerDesc("table", Table, lambda layer, x: paddle.matmul(x, layer.weight, transpose_y=True)),
        ],
        num_stages=1,
    )
    assert [*row.state_dict()] == ["table.weight", "2.weight", "2.bias"]
    row(paddle.ones([2, 4])).sum().backward()
    assert all(p.grad is not None for p in row.parameters())


def test_streams_of_random_numbers_have_names() -> None:
    tracker = mp.RNGStatesTracker()
    tracker.add("here", 3)
    paddle.seed(5)
    before = paddle.rand([2]).tolist()
    with tracker.rng_state("here"):
        first = paddle.rand([2]).tolist()
    after = paddle.rand([2]).tolist()
    paddle.seed(3)
    assert first == paddle.rand([2]).tolist()
    with tracker.rng_state("here"):
        assert paddle.rand([2]).tolist() != first
    paddle.seed(5)
    assert [paddle.rand([2]).tolist(), paddle.rand([2]).tolist()] == [before, after]
    with pytest.raises(ValueError, match="already exists"):
        tracker.add("here", 4)
    with pytest.raises(ValueError, match="does not exist"), tracker.rng_state("there"):
        pass
