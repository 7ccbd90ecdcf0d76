"""What every layer can do: hooks of every kind, paths, states, modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.kernels.backend import DeviceWarning

nn = paddle.nn

pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


class TestHooks:
    def test_they_are_called_in_order_and_those_that_are_prepended_first(self) -> None:
        layer, calls = nn.Linear(2, 2), []
        layer.register_forward_pre_hook(lambda s, i: calls.append("before"))
        layer.register_forward_pre_hook(lambda s, i: calls.append("before that"), prepend=True)
        layer.register_forward_hook(lambda s, i, o: calls.append("after"))
        layer.register_forward_post_hook(lambda s, i, o: calls.append("first after"), prepend=True)
        layer(paddle.ones([1, 2]))
        assert calls == ["before that", "before", "first after", "after"]

    def test_they_may_see_and_change_arguments_by_name(self) -> None:
        class Scaled(nn.Layer):
            def forward(self, x: Any, by: float = 1.0) -> Any:
                return x * by

        layer, seen = Scaled(), []
        layer.register_forward_pre_hook(lambda s, i, k: (i, {"by": k["by"] + 1}), with_kwargs=True)
        layer.register_forward_post_hook(lambda s, i, k, o: seen.append(k) or o + 1, with_kwargs=True)
        assert layer(paddle.ones([1]), by=2.0).numpy().tolist() == [4.0]
        assert seen == [{"by": 3.0}]
        layer.register_forward_pre_hook(lambda s, i, k: 3, with_kwargs=True)
        with pytest.raises(RuntimeError, match="must return None or a tuple"):
            layer(paddle.ones([1]), by=2.0)

    def test_some_are_called_after_a_failure_too(self) -> None:
        layer, calls = nn.Linear(2, 2), []

        def fails(layer: Any, inputs: Any, outputs: Any) -> None:
            calls.append("fails")
            raise KeyError("mine")

        layer.register_forward_post_hook(lambda s, i, o: calls.append("never"))
        layer.register_forward_post_hook(fails, always_call=True)
        layer.register_forward_post_hook(lambda s, i, o: calls.append(o), always_call=True)
        with (
            pytest.warns(UserWarning, match="silenced as another error"),
            pytest.raises(ValueError, match="inner dimensions"),
        ):
            layer(paddle.ones([1, 3]))
        assert calls == ["fails", None]

    def test_what_is_built_at_the_first_call(self) -> None:
        class Lazy(nn.Layer):
            def _build_once(self, x: Any) -> None:
                self.weight = self.create_parameter(x.shape)

            def forward(self, x: Any) -> Any:
                return x * self.weight

        layer = Lazy()
        layer(paddle.ones([3]))
        weight = layer.weight
        layer(paddle.ones([3]))
        assert layer.weight is weight


class TestPaths:
    def test_layers_parameters_and_buffers_are_found(self) -> None:
        model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1D(3)))
        model.register_buffer("count", paddle.ones([1]))
        assert model.get_sublayer("1.0") is model.get_submodule("1.0") is model[1][0]
        assert model.get_sublayer("") is model
        assert model.get_parameter("1.0.weight") is model[1][0].weight
        assert model.get_buffer("count") is model.count
        assert [type(m).__name__ for m in model.modules()] == ["Sequential", "Linear", "Sequential", "BatchNorm1D"]
        assert [path for path, _ in model.named_modules(prefix="m")] == ["m", "m.0", "m.1", "m.1.0"]
        assert model._get_name() == "Sequential"
        assert [*model._modules] == ["0", "1"]

    @pytest.mark.parametrize(
        ("ask", "message"),
        [
            (lambda m: m.get_sublayer("2"), "Sequential has no attribute `2`"),
            (lambda m: m.get_sublayer("0.weight"), "`weight` is not an nn.Layer"),
            (lambda m: m.get_parameter("0.foo"), "Linear has no attribute `foo`"),
            (lambda m: m.get_parameter("training"), "`training` is not an nn.Parameter"),
            (lambda m: m.get_buffer("0.weight"), "`weight` is not a buffer"),
            (lambda m: m.set_sublayer("q", nn.ReLU(), strict=True), "Sequential has no attribute `q`"),
            (lambda m: m.set_sublayer("training", nn.ReLU()), "`training` is not an nn.Layer"),
        ],
    )
    def test_what_is_not_there(self, ask: Any, message: str) -> None:
        with pytest.raises(AttributeError, match=message):
            ask(nn.Sequential(nn.Linear(2, 3)))

    def test_layers_are_replaced(self) -> None:
        model, new = nn.Sequential(nn.Linear(2, 3)), nn.ReLU()
        model.set_sublayer("0", new)
        model.set_submodule("more", nn.Sequential())
        model.set_sublayer("more.inner", new)
        assert model[0] is new is model.get_sublayer("more.inner")
        with pytest.raises(ValueError, match="without a target name"):
            model.set_sublayer("", new)
        with pytest.raises(ValueError, match=r"is not an nn.Layer, found <class 'int'>"):
            model.set_sublayer("0", 3)

    def test_other_names_of_adding(self) -> None:
        layer = nn.Layer()
        layer.add_module("inner", nn.ReLU())
        layer.register_module("none", None)
        layer.register_parameter("p", layer.create_parameter([2]))
        assert [*layer.state_dict()] == ["p"]
        assert (type(layer.inner), layer.none) == (nn.ReLU, None)
        assert repr(layer) == "Layer(\n  (inner): ReLU()\n  (none): None\n)"

    def test_tensors_named_after_the_layer(self) -> None:
        layer = nn.Linear(2, 2)
        tensor = layer.create_tensor("seen", True, "float64")
        assert (tensor.name, tensor.persistable, tensor.dtype) == ("linear_0.seen", True, paddle.float64)
        assert layer.create_variable().name == "linear_0._generated_var_0"


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("a.b", True, KeyError),
        ("", True, KeyError),
        ("weight", True, KeyError),
        (3, True, TypeError),
        ("b", 3, TypeError),
    ],
)
def test_buffers_that_are_refused(name: Any, value: Any, error: type[Exception]) -> None:
    layer = nn.Linear(2, 2)
    with pytest.raises(error):
        layer.register_buffer(name, paddle.ones([1]) if value is True else value)


def test_states_are_loaded_whole_unless_said_otherwise() -> None:
    a, b = nn.Linear(2, 2), nn.Linear(2, 2)
    assert a.load_state_dict(b.state_dict()) == ([], [])
    np.testing.assert_array_equal(a.weight.numpy(), b.weight.numpy())
    part = {"weight": b.weight, "more": b.bias}
    with pytest.raises(RuntimeError, match=r'(?s)loading state_dict for Linear:.*Missing.*"bias".*Unexpected.*"more"'):
        a.load_state_dict(part)
    keys = a.load_state_dict(part, strict=False)
    assert (keys.missing_keys, keys.unexpected_keys) == (["bias"], ["more"])
    with pytest.raises(RuntimeError, match="never be called"):
        a.get_extra_state()


def test_modes() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    assert model.train(False) is model
    assert not model[0].training
    assert model.train()[0].training
    with pytest.raises(ValueError, match="expected to be boolean"):
        model.train("a")  # type: ignore[arg-type]
    assert model.requires_grad_(False)[0].weight.stop_gradient
    model.requires_grad_()
    model(paddle.ones([1, 2])).sum().backward()
    model.zero_grad(set_to_none=False)
    assert model[0].weight.grad.numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    model.zero_grad()
    assert model[0].weight.grad is None
    with pytest.warns(DeviceWarning, match=r"Layer\.(cuda|to)\(.* computed on the CPU") as told:
        assert model.cuda() is model.to("gpu:0")
    assert [w.filename for w in told] == [__file__] * 2
