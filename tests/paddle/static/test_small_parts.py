"""Small parts of ``paddle.static``: areas under curves, compiled programs, weight norms, devices, files of values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, LabelError, ModeError, UsageError

static = paddle.static

pytestmark = pytest.mark.usefixtures("fresh_names")

BATCHES = [
    ([0.55, 0.72, 0.6, 0.54, 0.42, 0.65], [0, 1, 0, 0, 0, 0], 1.0, 1.0),
    ([0.38, 0.79, 0.53, 0.57, 0.93, 0.07], [1, 0, 1, 0, 1, 1], 0.4428571428571429, 0.4428571428571429),
    ([0.78, 0.87, 0.98, 0.8, 0.46, 0.78], [0, 1, 0, 1, 1, 1], 0.4938271604938272, 0.296875),
    ([0.94, 0.52, 0.41, 0.26, 0.77, 0.46], [0, 0, 0, 0, 1, 1], 0.5279720279720279, 0.513888888888889),
]
"""Probabilities, labels, and the areas over all batches and over the last two that Paddle 3.1.1 computed."""


def test_areas_are_paddles() -> None:
    p, y = static.data("p", [-1, 2]), static.data("y", [-1, 1], "int64")
    of_all, of_last, counts = static.auc(p, y, num_thresholds=9, slide_steps=2)
    assert (of_all.name, of_last.name) == ("auc_0.tmp_0", "auc_0.tmp_1")
    assert [v.name for v in counts] == [f"_generated_var_{i}" for i in range(4)]
    executor = static.Executor()
    executor.run(static.default_startup_program())
    for shares, labels, *expected in BATCHES:
        second = np.asarray(shares, "float32")
        feed = {"p": np.stack([1 - second, second], 1), "y": np.asarray(labels)[:, None]}
        *areas, everything = executor.run(feed=feed, fetch_list=[of_all, of_last, counts[0]])
        assert [float(a) for a in areas] == pytest.approx(expected)
    assert everything.tolist() == [
        0,
        0,
        0,
        0,
        1,
        0,
        0,
        3,
        0,
        0,
        0,
        0,
        0,
        0,
        1,
        0,
        1,
        0,
        0,
        0,
        0,
        0,
        0,
        0,
        2,
        0,
        1,
        3,
        0,
        0,
        4,
    ]


def test_what_is_no_probability_has_no_area() -> None:
    p, y = static.data("p", [-1, 2]), static.data("y", [-1, 1], "int64")
    area, _, _ = static.auc(p, y, num_thresholds=9)
    executor = static.Executor()
    executor.run(static.default_startup_program())
    with pytest.raises(LabelError, match="between 0 and 1"):
        executor.run(feed={"p": np.full((1, 2), 1.5, "float32"), "y": np.ones((1, 1), "int64")}, fetch_list=[area])
    with pytest.raises(UsageError, match="ROC"):
        static.auc(p, y, curve="PR")


def test_a_compiled_program_runs_as_the_program() -> None:
    y = paddle.scale(static.data("x", [2]), 2.0)
    strategy = static.BuildStrategy()
    strategy.fuse_bn_act_ops = True
    strategy.reduce_strategy = static.BuildStrategy.ReduceStrategy.Reduce
    compiled = static.CompiledProgram(static.default_main_program(), build_strategy=strategy)
    executor = static.Executor()
    for program in (compiled, compiled.with_data_parallel(loss_name=y.name, exec_strategy=static.ExecutionStrategy())):
        (out,) = executor.run(program, feed={"x": np.ones(2, "float32")}, fetch_list=[y])
        assert out.tolist() == [2.0, 2.0]
    with pytest.raises(TypeError, match="expected Graph or Program"):
        static.CompiledProgram(3)
    with pytest.raises(AttributeError, match="has no attribute 'fuse_bn'"):
        strategy.fuse_bn = True
    with pytest.raises(ArgumentTypeError, match=r"fuse_bn_act_ops must be bool"):
        strategy.fuse_bn_act_ops = "yes"
    with pytest.raises(UsageError, match="2 places"):
        compiled.with_data_parallel(places=[paddle.CPUPlace()] * 2)


@pytest.mark.parametrize("dim", [None, 0, 1, 2])
def test_a_weight_norm_has_the_gradients_of_its_formula(dim: int | None) -> None:
    attr = static.WeightNormParamAttr(dim=dim, name="wn")
    w = paddle.static.nn.create_parameter([3, 2, 4], "float64", attr=attr)
    out = paddle.sum(w * w * w)
    pairs = static.append_backward(out)
    assert [p.name for p, _ in pairs] == ["wn_g", "wn_v"]
    executor = static.Executor()
    executor.run(static.default_startup_program())
    fetched, *found = executor.run(fetch_list=[w, *[g for _, g in pairs]])
    g, v = (np.array(p.get_value()) for p, _ in pairs)
    np.testing.assert_allclose(fetched, v, rtol=1e-12)  # it begins as v
    paddle.disable_static()
    g, v = paddle.to_tensor(g, stop_gradient=False), paddle.to_tensor(v, stop_gradient=False)
    axes = [i for i in range(3) if i != dim]
    weight = g * v / paddle.sqrt(paddle.sum(v * v, axis=axes, keepdim=True))
    paddle.sum(weight * weight * weight).backward()
    for t, gradient in zip((g, v), found, strict=True):
        np.testing.assert_allclose(gradient, t.grad.numpy().reshape(gradient.shape), rtol=1e-9, atol=1e-12)


def test_a_weight_norm_needs_static_mode_and_a_dimension() -> None:
    with pytest.raises(UsageError, match="dim is 2"):
        static.nn.fc(static.data("x", [4, 3]), 2, weight_attr=static.WeightNormParamAttr(dim=2))
    paddle.disable_static()
    with pytest.raises(ModeError, match=r"nn\.utils\.weight_norm"):
        paddle.nn.Linear(2, 3, weight_attr=static.WeightNormParamAttr(dim=0))


def test_devices_are_checked_and_change_nothing() -> None:
    x = static.data("x", [2])
    for device in ("cpu", "gpu", "gpu:1", "xpu", "", None):
        with static.device_guard(device):
            paddle.tanh(x)
    assert {op.attr("op_device") for op in static.default_main_program().global_block().ops} == {""}
    for device, words in (("cpu:1", "device id for cpu"), ("npu", "should be 'cpu'")):
        with pytest.raises(ValueError, match=words), static.device_guard(device):
            pass


def test_values_go_to_files_and_come_back(tmp_path: Path) -> None:
    w: Any = static.create_parameter([2], "float32")
    executor = static.Executor()
    executor.run(static.default_startup_program())
    before = np.array(w.get_value())
    static.save_vars(executor, str(tmp_path), predicate=static.is_persistable, filename="v")
    w.set_value(np.zeros(2, "float32"))
    static.load_vars(executor, str(tmp_path), vars=[w], filename="v")
    assert np.array(w.get_value()).tolist() == before.tolist()
    assert isinstance(w, static.Parameter)
    assert isinstance(paddle.tanh(w).op, static.Operator)
    assert not static.is_persistable(paddle.tanh(w))


def test_arrays_are_lists_in_dynamic_mode() -> None:
    arrays = paddle.tensor
    paddle.disable_static()
    x, zero = paddle.ones([2]), paddle.to_tensor([0])
    x.stop_gradient = False
    array = arrays.array_write(x * 2, zero)
    array = arrays.array_write(x * 3, paddle.to_tensor([1]), array=array)
    array = arrays.array_write(x * 5, zero, array)
    assert arrays.array_length(array) == 2
    paddle.sum(arrays.array_read(array, zero)).backward()
    assert x.grad.tolist() == [5.0, 5.0]
    assert arrays.create_array("float32", (x,))[0] is x
    for call, words in (
        (lambda: arrays.array_write(x, paddle.to_tensor([3]), array), "greater than the length"),
        (lambda: arrays.array_write(x, 0), "must be Variable"),
        (lambda: arrays.array_write(x, paddle.to_tensor([0, 1])), r"should be \[1\]"),
        (lambda: arrays.array_length(x), "must be a list"),
        (lambda: arrays.array_read(x, zero), "must be list"),
    ):
        with pytest.raises(AssertionError, match=words):
            call()
    with pytest.raises(IndexError, match="place 5 of an array of 2"):
        arrays.array_read(array, paddle.to_tensor([5]))
    with pytest.raises(TypeError, match="list/tuple"):
        arrays.create_array("float32", 3)


def test_devices_answer_as_a_cpu_does() -> None:
    paddle.disable_static()
    device = paddle.device
    assert (device.current_device(), device.is_available(), device.is_bf16_supported()) == (0, False, True)
    assert device.device_to_place("cpu") == paddle.CPUPlace()
    device.manual_seed(3)
    before = device.get_rng_state()
    drawn = paddle.rand([3]).tolist()
    device.set_rng_state(before)
    assert paddle.rand([3]).tolist() == drawn
    with pytest.raises(AttributeError, match="about devices"):
        device.synchronize()
    assert device.FloatTensor([1, 2]).dtype is paddle.float32
