"""Layers in another dtype, what they remember, and hooks on calls and on their state."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import gradtool as paddle
from gradtool.engine.core.errors import BackendError

nn = paddle.nn


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    paddle.disable_static()
    with paddle.utils.unique_name.guard():
        yield
    paddle.enable_static()


def model() -> Any:
    made = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1D(3))
    made.register_buffer("scale", paddle.ones([2]))
    made.register_buffer("count", paddle.to_tensor([1], dtype="int64"))
    return made


def dtypes(layer: Any) -> list[str]:
    return [v.dtype.name for v in [*layer.parameters(), *layer.buffers()]]


def test_a_layer_changes_dtype_with_all_it_holds() -> None:
    made = model()
    assert made.to(dtype="float64") is made
    assert dtypes(made) == ["float64"] * 7 + ["int64"]
    assert made[0]._dtype.name == "float64"
    assert made(paddle.ones([4, 2], dtype="float64")).dtype.name == "float64"
    assert dtypes(made.astype("float32")) == ["float32"] * 7 + ["int64"]
    assert dtypes(made.to("cpu")) == ["float32"] * 7 + ["int64"]


def test_some_layers_may_be_left_as_they_are() -> None:
    made = model()
    made.float16(excluded_layers=nn.BatchNorm1D)
    assert {p.dtype.name for p in made[0].parameters()} == {"float16"}
    assert {p.dtype.name for p in made[1].parameters()} == {"float32"}
    assert dtypes(made.float()) == ["float32"] * 7 + ["int64"]
    with pytest.raises(ValueError, match="must be classes of layers"):
        made.float(excluded_layers=made[1])


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
        (lambda m: m.to("gpu:0"), BackendError, "computes on the CPU"),
        (lambda m: m.backward(), ValueError, "shouldn't implement backward"),
    ],
)
def test_what_a_layer_cannot_become(call: Any, error: type[Exception], message: str) -> None:
    made = model()
    before = dtypes(made)
    with pytest.raises(error, match=message):
        call(made)
    assert dtypes(made) == before


def test_layers_of_a_static_program_keep_their_dtype() -> None:
    paddle.enable_static()
    layer = nn.Linear(2, 3)
    with pytest.raises(AssertionError, match="part of a static program"):
        layer.to(dtype="float64")
    assert layer.weight.dtype.name == "float32"


def test_train_and_eval_return_the_layer() -> None:
    made = model()
    assert made.eval() is made
    assert not made[1].training
    assert made.train() is made
    assert made[1].training


def test_the_state_may_go_into_a_given_dict() -> None:
    made = nn.Linear(2, 3)
    given: dict[str, Any] = {"other": 1}
    assert made.state_dict(destination=given) is given
    assert list(given) == ["other", "weight", "bias"]
    assert given["weight"] is made.weight
    kept = made.state_dict(keep_vars=False)
    assert all(v.stop_gradient for v in kept.values())
    assert not made.weight.stop_gradient


def test_buffers_that_do_not_persist_are_in_the_static_state_only() -> None:
    made = nn.Linear(2, 3)
    made.register_buffer("passing", paddle.ones([1]), persistable=False)
    assert list(made.state_dict()) == ["weight", "bias"]
    assert list(made.to_static_state_dict()) == ["weight", "bias", "passing"]


def test_hooks_change_the_state() -> None:
    made = nn.Sequential(nn.Linear(2, 3))
    handle = made[0].register_state_dict_hook(lambda state: state.update(extra=1))
    assert list(made.state_dict()) == ["0.weight", "0.bias", "extra"]
    assert list(made.state_dict(use_hook=False)) == ["0.weight", "0.bias"]
    assert made.set_state_dict({"0.weight": np.ones((2, 3), "float32")}) == (["0.bias"], [])
    handle.remove()
    assert list(made.state_dict()) == ["0.weight", "0.bias"]


def test_a_value_of_another_shape_is_missing_and_unexpected() -> None:
    made = nn.Linear(2, 3)
    with pytest.warns(UserWarning, match="Skip loading for weight"):
        found = made.set_state_dict({"weight": np.ones((3, 3), "float32"), "other": 1})
    assert found == (["weight", "bias"], ["weight", "other"])


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
    made = nn.Sequential(shared, shared)
    assert [n for n, _ in made.named_parameters()] == ["0.weight", "0.bias"]
    every = [n for n, _ in made.named_parameters(remove_duplicate=False)]
    assert every == ["0.weight", "0.bias", "1.weight", "1.bias"]
    assert [n for n, _ in made.named_sublayers(remove_duplicate=False)] == ["0", "1"]
    assert [n for n, _ in made.named_sublayers(layers_set={shared})] == []
    assert [n for n, _ in made.named_parameters(prefix="m", include_sublayers=False)] == []
