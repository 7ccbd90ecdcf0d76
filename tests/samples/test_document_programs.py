"""The programs of the documents run as written and give what their comments say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

Load = Callable[[str], ModuleType]

EMBEDDING = ("embedding_0.w_0", "embedding_0.w_0@GRAD")
WEIGHT = ("my_fc.w_0", "my_fc.w_0@GRAD")
BIAS = ("my_fc.b_0", "my_fc.b_0@GRAD")


def named(pairs: Any) -> list[tuple[str, str]]:
    return [(p.name, g.name) for p, g in pairs]


@pytest.mark.parametrize("name", ["append_backward", "append_backward_cn"])
def test_the_six_calls_of_append_backward_give_the_documented_lists(sample: Load, name: str) -> None:
    program = sample(f"documents/{name}")
    assert named(program.p_g_list1) == [EMBEDDING, WEIGHT, BIAS]
    assert named(program.p_g_list2) == [EMBEDDING, WEIGHT]
    assert named(program.p_g_list3) == [EMBEDDING, WEIGHT]
    assert named(program.p_g_list4) == [WEIGHT, BIAS]
    assert named(program.p_g_list5) == [EMBEDDING, WEIGHT]
    assert program.p_g_list6 == []


def test_the_gradients_of_append_backward_are_those_of_the_formula(sample: Load) -> None:
    program = sample("documents/append_backward")
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    rng = np.random.default_rng(0)
    feed = {"x": rng.integers(0, 100, (5, 13)), "y": rng.normal(size=(5, 1)).astype("float32")}
    fetches = [program.x_emb, program.y_predict, *program.p_g_list1]
    rows, predicted, _, by_table, weight, by_weight, _, by_bias = exe.run(feed=feed, fetch_list=fetches)

    slope = 2 * (predicted - feed["y"]) / 5
    np.testing.assert_allclose(by_bias, slope.sum(0), rtol=1e-5)
    np.testing.assert_allclose(by_weight, rows.reshape(5, -1).T @ slope, rtol=1e-4, atol=1e-6)
    expected = np.zeros_like(by_table)
    np.add.at(expected, feed["x"], (slope @ weight.T).reshape(5, 13, 256))
    np.testing.assert_allclose(by_table, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", ["fluid_append_backward", "fluid_calc_gradient"])
def test_fluid_append_backward_gives_weight_and_bias(sample: Load, name: str) -> None:
    program = sample(f"documents/{name}")
    assert program.x.shape == (-1, 13)
    assert named(program.param_grad_list) == [("fc_0.w_0", "fc_0.w_0@GRAD"), ("fc_0.b_0", "fc_0.b_0@GRAD")]


def test_fluid_gradients_of_two_convolutions(sample: Load, capsys: pytest.CaptureFixture[str]) -> None:
    program = sample("documents/fluid_gradients")
    assert [g.name for g in program.z] == ["x@GRAD"]
    assert "x@GRAD" in capsys.readouterr().out

    # 1×1 filters: the gradient of the sum is the two matrices, with the dead units of either relu switched off.
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    names = ["conv2d_0.w_0", "conv2d_1.w_0", "relu_0.tmp_0", "relu_1.tmp_0", "x@GRAD"]
    x = np.random.default_rng(0).normal(size=(3, 2, 8, 8)).astype("float32")
    first, second, inner, outer, gradient = exe.run(feed={"x": x}, fetch_list=names)
    at_inner = np.einsum("nohw,oi->nihw", (outer > 0).astype("float32"), second[:, :, 0, 0]) * (inner > 0)
    np.testing.assert_allclose(gradient, np.einsum("nohw,oi->nihw", at_inner, first[:, :, 0, 0]), rtol=1e-4, atol=1e-6)


def test_autograd_backward_prints_what_is_documented(sample: Load, capsys: pytest.CaptureFixture[str]) -> None:
    paddle.disable_static()
    program = sample("documents/autograd_backward")
    source = Path(str(program.__file__)).read_text().splitlines()
    documented = [line.removeprefix("# ") for line in source if line.startswith("# ")]
    assert capsys.readouterr().out.splitlines() == documented
    assert documented[6:] == [
        "Tensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=False,",
        "       [[10., 14.],",
        "        [10., 14.]])",
    ]
    with pytest.raises(SystemError, match="retain_graph"):
        paddle.autograd.backward([program.z1])
