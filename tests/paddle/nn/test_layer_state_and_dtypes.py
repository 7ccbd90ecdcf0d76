"""Layers in another dtype, what they remember, and hooks on calls and on their state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import BackendError

nn = paddle.nn


pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


def model() -> Any:
    layers = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3))
    layers.register_buffer("scale", paddle.ones([2]))
    layers.register_buffer("count", paddle.to_tensor([1], dtype="int64"))
    return layers


def dtypes(layer: Any) -> list[str]:
    return [v.dtype.name for v in [*layer.parameters(), *layer.buffers()]]


def test_a_layer_changes_dtype_with_all_it_holds() -> None:
    layers = model()
    assert layers.astype("float64") is layers
    assert dtypes(layers) == ["float64"] * 7 + ["int64"]
    assert layers[0]._dtype == "float64"
    assert layers(paddle.ones([4, 2], dtype="float64")).dtype.name == "float64"
    assert dtypes(layers.float()) == ["float32"] * 7 + ["int64"]
    assert dtypes(layers.to("cpu")) == ["float32"] * 7 + ["int64"]


@pytest.mark.parametrize(
    ("change", "dtype"),
    [
        (lambda v: v.to(dtype="float64"), "float64"),
        (lambda v: v.double(), "float64"),
        (lambda v: v.half(), "float16"),
        (lambda v: v.type("int32"), "int32"),
        (lambda v: v.cpu(), None),
    ],
)
def test_some_methods_change_whole_numbers_too(change: Any, dtype: str | None) -> None:
    layers = model()
    assert change(layers) is layers
    assert dtypes(layers) == (["float32"] * 7 + ["int64"] if dtype is None else [dtype] * 8)


def test_some_layers_may_be_left_as_they_are() -> None:
    layers = model()
    layers.float16(excluded_layers=nn.BatchNorm1D)
    assert {p.dtype.name for p in layers[0].parameters()} == {"float16"}
    assert {p.dtype.name for p in layers[1].parameters()} == {"float32"}
    assert dtypes(layers.float()) == ["float32"] * 7 + ["int64"]
    with pytest.raises(ValueError, match="must be classes of layers"):
        layers.float(excluded_layers=layers[1])


def test_a_gradient_changes_dtype_with_its_parameter() -> None:
    layer = nn.Linear(2, 1)
    layer(paddle.ones([3, 2])).sum().backward()
    layer.to(dtype="float64")
    assert layer.weight.grad.dtype.name == "float64"
    layer(paddle.ones([3, 2], dtype="float64")).sum().backward()
    np.testing.assert_array_equal(layer.weight.grad.numpy(), [[6.0], [6.0]])


def test_a_graph_from_before_is_gone() -> None:
    layer = nn.Linear(1, 1, bias_attr=False)
    y = layer(paddle.to_tensor([[2.0]], stop_gradient=False))
    layer.to(dtype="float64")
    with pytest.raises(RuntimeError, match="astype"):
        y.backward()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.astype("foo"), ValueError, "dtype value error"),
        (lambda m: m.astype(None), ValueError, "dtype value error"),
        (lambda m: m.to(dtype="int64"), TypeError, "cannot compute in int64"),
        (lambda m: m.to("npu:0"), BackendError, "computes on the CPU"),
        (lambda m: m.backward(), ValueError, "shouldn't implement backward"),
    ],
)
def test_what_a_layer_cannot_become(call: Any, error: type[Exception], message: str) -> None:
    layers = model()
    before = dtypes(layers)
    with pytest.raises(error, match=message):
        call(layers)
    assert dtypes(layers) == before


def test_layers_of_a_static_program_keep_their_dtype() -> None:
    paddle.enable_static()
    layer = nn.Linear(2, 3)
    with pytest.raises(AssertionError, match="part of a static program"):
        layer.to(dtype="float64")
    assert layer.weight.dtype.name == "float32"


def test_train_and_eval_return_the_layer() -> None:
    layers = model()
    assert layers.eval() is layers
    assert not layers[1].training
    assert layers.train() is layers
    assert layers[1].training


def test_the_state_may_go_into_a_given_dict() -> None:
    layer = nn.Linear(2, 3)
    target: dict[str, Any] = {"other": 1}
    assert layer.state_dict(destination=target) is target
    assert list(target) == ["other", "weight", "bias"]
    assert target["weight"] is layer.weight
    state = layer.state_dict(keep_vars=False)
    assert all(v.stop_gradient for v in state.values())
    assert not layer.weight.stop_gradient


def test_buffers_that_do_not_persist_are_in_the_static_state_only() -> None:
    layer = nn.Linear(2, 3)
    layer.register_buffer("passing", paddle.ones([1]), persistable=False)
    assert list(layer.state_dict()) == ["weight", "bias"]
    assert list(layer.to_static_state_dict()) == ["weight", "bias", "passing"]


def test_hooks_change_the_state() -> None:
    layer = nn.Sequential(nn.Linear(2, 3))
    handle = layer[0].register_state_dict_hook(lambda state: state.update(extra=1))
    assert list(layer.state_dict()) == ["0.weight", "0.bias", "extra"]
    assert list(layer.state_dict(use_hook=False)) == ["0.weight", "0.bias"]
    assert layer.set_state_dict({"0.weight": np.ones((2, 3), "float32")}) == (["0.bias"], [])
    handle.remove()
    assert list(layer.state_dict()) == ["0.weight", "0.bias"]


def test_a_value_of_another_shape_is_missing_and_unexpected() -> None:
    layer = nn.Linear(2, 3)
    with pytest.warns(UserWarning, match="Skip loading for weight"):
        answer = layer.set_state_dict({"weight": np.ones((3, 3), "float32"), "other": 1})
    assert answer == (["weight", "bias"], ["weight", "other"])


def test_a_hook_before_the_call_may_take_keyword_arguments() -> None:
    class Scaled(nn.Layer):
        def forward(self, x: Any, factor: float = 1.0) -> Any:
            return x * factor

    layer = Scaled()
    handle = layer.register_forward_pre_hook(
        lambda _, inputs, kwargs: (inputs, {"factor": kwargs["factor"] + 1}), with_kwargs=True
    )
    assert layer(paddle.ones([1]), factor=2.0).item() == 3.0
    handle.remove()
    watching = layer.register_forward_pre_hook(lambda _, inputs, kwargs: None, with_kwargs=True)
    assert layer(paddle.ones([1]), factor=2.0).item() == 2.0
    watching.remove()


def test_shared_parts_come_once_or_in_every_place() -> None:
    shared = nn.Linear(2, 2)
    layer = nn.Sequential(shared, shared)
    assert [n for n, _ in layer.named_parameters()] == ["0.weight", "0.bias"]
    every = [n for n, _ in layer.named_parameters(remove_duplicate=False)]
    assert every == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [n for n, _ in layer.named_sublayers(remove_duplicate=False)] == ["0", "1"]
    assert [n for n, _ in layer.named_sublayers(layers_set={shared})] == []
    assert [n for n, _ in layer.named_parameters(prefix="m", include_sublayers=False)] == []
