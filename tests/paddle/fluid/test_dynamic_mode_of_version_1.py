"""``fluid.dygraph``: the layers and functions that only version 1 had under these arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle import fluid
from gradtool.paddle.fluid import dygraph

IMAGE = np.arange(32, dtype="float32").reshape(1, 2, 4, 4)


def test_layers_end_with_their_activation() -> None:
    with dygraph.guard():
        linear = dygraph.Linear(3, 2, act="relu", param_attr=paddle.nn.initializer.Constant(-1.0))
        x = dygraph.to_variable(np.ones((1, 3), "float32"))
        assert linear(x).tolist() == [[0.0, 0.0]]
        linear = dygraph.Linear(3, 2, paddle.nn.initializer.Constant(1.0), False)
        assert linear(x).tolist() == [[3.0, 3.0]]
        assert len(linear.parameters()) == 1


@pytest.mark.parametrize(
    ("layer", "today"),
    [
        (lambda: dygraph.Pool2D(2, "max", 2), lambda x: paddle.nn.functional.max_pool2d(x, 2, 2)),
        (lambda: dygraph.Pool2D(pool_type="avg", global_pooling=True), lambda x: x.mean([2, 3], keepdim=True)),
        (lambda: dygraph.Conv2D(2, 3, 2, 1, 1, act="relu"), None),
        (lambda: dygraph.Dropout(0.5), lambda x: x * 0.5),
    ],
)
def test_layers_of_images(layer: Any, today: Any) -> None:
    with dygraph.guard():
        made, x = layer(), paddle.to_tensor(IMAGE)
        made.eval()
        if today is None:
            conv = paddle.nn.functional.conv2d(x, made.weight, made.bias, 1, 1)
            today = lambda x: paddle.nn.functional.relu(conv)  # noqa: E731
        np.testing.assert_allclose(made(x).numpy(), today(x).numpy(), rtol=1e-6)


def test_embeddings_take_one_size() -> None:
    with dygraph.guard():
        table = dygraph.Embedding([5, 2], padding_idx=0)
        assert table(paddle.to_tensor([0, 3])).numpy()[0].tolist() == [0, 0]


def test_functions_are_decorated_without_brackets() -> None:
    with dygraph.guard():
        w = paddle.ones([2])
        w.stop_gradient = False
        assert dygraph.no_grad(lambda: w * 2)().stop_gradient
        with dygraph.no_grad():
            assert (w * 2).stop_gradient


def test_states_go_to_files_and_come_back(tmp_path: Path) -> None:
    stem = str(tmp_path / "net")
    with dygraph.guard():
        net = dygraph.Linear(2, 2)
        adam = fluid.optimizer.AdamOptimizer(0.1, parameter_list=net.parameters())
        loss = fluid.layers.mean(net(paddle.ones([1, 2])))
        loss.backward()
        adam.minimize(loss)
        fluid.save_dygraph(net.state_dict(), stem)
        assert fluid.load_dygraph(stem)[1] is None
        fluid.save_dygraph(adam.state_dict(), stem)
        layer, optimizer = fluid.load_dygraph(f"{stem}.pdparams")
        np.testing.assert_array_equal(layer["weight"].numpy(), net.weight.numpy())
        assert set(optimizer) == set(adam.state_dict())
        with pytest.raises(ValueError, match="is there"):
            fluid.load_dygraph(str(tmp_path / "other"))
        with pytest.raises(ValueError, match="nothing to save"):
            fluid.save_dygraph({}, stem)


def test_rows_become_columns_by_name() -> None:
    x, y = fluid.data("x", [None, 2, 2]), fluid.layers.data("y", [1], dtype="int64")
    fed = fluid.DataFeeder(["x", y], fluid.CPUPlace()).feed([([1, 2, 3, 4], 5), (np.ones((2, 2)), [6])])
    assert (fed["x"].shape, fed["x"].dtype, fed["y"].tolist()) == ((2, 2, 2), np.float32, [[5], [6]])
    with pytest.raises(ValueError, match="number of fields"):
        fluid.DataFeeder([x, y]).feed([(1,)])
    with pytest.raises(ValueError, match="expects examples of shape"):
        fluid.DataFeeder([x]).feed([([1, 2, 3],)])
