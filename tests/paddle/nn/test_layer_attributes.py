"""Layers have the attributes that Paddle's have, which layers of users read and set.

``record_attributes.py`` wrote them down.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ModeError
from gradtool.paddle.nn._table import TableLayer, _second_inputs
from tests.paddle.nn.record_attributes import ARGUMENTS, OUT, attributes

nn = paddle.nn
CALLED: dict[str, Any] = json.loads(ARGUMENTS.read_text(encoding="utf-8"))
RECORDED: dict[str, dict[str, Any]] = json.loads(OUT.read_text(encoding="utf-8"))

CUDNN = "one tensor of all weights, as cuDNN wants it; here weights stay apart"
OPTIONAL = "a cell has it where its author gives it; Paddle's raises NotImplementedError"
FLAGS = "hooks hold their flags themselves"
EXPORT = "what Paddle records while it exports a model"
PARTS = "parts of methods, split as Paddle's own construction wants it"
ABSENT = {
    **dict.fromkeys(
        [f"{net}.{name}" for net in ("GRU", "LSTM", "SimpleRNN") for name in ("_cudnn_impl", "_flat_weight")], CUDNN
    ),
    **dict.fromkeys([f"{net}._dropout_state" for net in ("GRU", "LSTM", "SimpleRNN")], CUDNN),
    **dict.fromkeys(
        [f"{cell}.state_dtype" for cell in ("GRUCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell")], OPTIONAL
    ),
    "Layer._forward_post_hooks_always_called": FLAGS,
    "Layer._forward_post_hooks_with_kwargs_flag": FLAGS,
    "Layer._forward_pre_hooks_with_kwargs_flag": FLAGS,
    "Layer._customized_attrs": EXPORT,
    "Layer._op_recorder": EXPORT,
    "Layer._set_op_attrs": EXPORT,
    "Layer._original_funcs": EXPORT,
    "Layer._loaddict_holder": "a state that is loaded goes to parameters that exist",
    "Layer.__setstate__": "Python's own does it",
    "Layer._apply": PARTS,
    "Layer._dygraph_call_func": PARTS,
    "Layer._obtain_parameters_buffers": PARTS,
    "Layer._startup_program": PARTS,
    "Layer._state_dict_impl": PARTS,
    "Layer._to_impl": PARTS,
    "Layer._transform": PARTS,
    "Layer.full": "of several devices",
    "Layer.sharded_state_dict": "of several devices",
    "Layer.xpu": "of another device",
}
"""What layers do not have, and why."""

OTHER = {"LPPool2D.stride": "stays None where none is given, which the function takes as the size"}
"""Attributes of another value, and why."""


@pytest.fixture(autouse=True)
def _dynamic() -> Iterator[None]:
    paddle.disable_static()
    yield
    paddle.enable_static()


@pytest.fixture(scope="module")
def ours() -> dict[str, dict[str, Any]]:
    paddle.disable_static()
    table = attributes(paddle)
    paddle.enable_static()
    return table


def test_no_attribute_is_lacking(ours: dict[str, dict[str, Any]]) -> None:
    lacking = {f"{kind}.{name}" for kind, row in RECORDED.items() for name in row if name not in ours[kind]}
    assert lacking == set(ABSENT)


def told(value: Any) -> bool:
    return "<" not in json.dumps(value)


def test_plain_values_are_the_same(ours: dict[str, dict[str, Any]]) -> None:
    different = {
        f"{kind}.{name}"
        for kind, row in RECORDED.items()
        for name, value in row.items()
        if name in ours[kind] and told(value) and told(ours[kind][name]) and value != ours[kind][name]
    }
    assert different == set(OTHER)


def takes(layer: type[Any], name: str) -> bool:
    """Whether calls of the layer take an argument of that name."""
    if not issubclass(layer, TableLayer):
        method: Any = layer.forward
        return name in inspect.signature(method).parameters or name in _second(method)
    function = getattr(nn.functional, layer.function)
    return name in inspect.signature(function).parameters or name in _second_inputs(function)


def _second(method: Any) -> dict[str, str]:
    cells = inspect.getclosurevars(method).nonlocals if hasattr(method, "__wrapped__") else {}
    return dict(cells.get("second", {}))


def test_calls_take_their_arguments_by_paddle_s_names() -> None:
    refused = {
        f"{kind}({name}=)"
        for kind, (first, second, _) in CALLED.items()
        for name in (*first, *second)
        if not takes(getattr(nn, kind), name)
    }
    assert not refused


def test_layers_are_made_by_second_names_as_well() -> None:
    made = {kind: names for kind, (_, _, names) in CALLED.items() if names}
    assert set(made) == {
        "AdaptiveMaxPool1D",
        "AdaptiveMaxPool2D",
        "AdaptiveMaxPool3D",
        "CosineSimilarity",
        "Fold",
        "GLU",
        "GroupNorm",
        "Hardshrink",
        "LayerNorm",
        "PairwiseDistance",
        "Softshrink",
    }
    for kind, names in made.items():
        layer = getattr(nn, kind)
        known = layer.second_settings if issubclass(layer, TableLayer) else _second(layer.__init__)
        assert names.items() <= known.items()
    assert nn.GLU(dim=1)._axis == 1
    assert nn.LayerNorm(4, eps=0.1)._epsilon == 0.1
    x = paddle.to_tensor(IMAGE)
    np.testing.assert_array_equal(nn.MaxPool2D(2)(input=x).numpy(), nn.MaxPool2D(2)(x).numpy())
    assert nn.Conv2D(2, 1, 1)(input=x).shape == [1, 1, 6, 6]
    with pytest.raises(TypeError, match="input"):
        nn.Conv2D(2, 1, 1)(x=x, input=x)


IMAGE = np.random.default_rng(5).normal(size=(1, 2, 6, 6)).astype("float32")


def _set(layer: Any, **settings: Any) -> Any:
    for name, value in settings.items():
        setattr(layer, name, value)
    return layer


CHANGED: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "pooling": (lambda: _set(nn.MaxPool2D(4), stride=2, ceil_mode=True), lambda: nn.MaxPool2D(4, 2, ceil_mode=True)),
    "mean": (
        lambda: _set(nn.AvgPool2D(3, padding=1), exclusive=False),
        lambda: nn.AvgPool2D(3, None, 1, exclusive=False),
    ),
    "adaptive": (lambda: _set(nn.AdaptiveAvgPool2D(1), output_size=3), lambda: nn.AdaptiveAvgPool2D(3)),
    "activation": (lambda: _set(nn.LeakyReLU(), _negative_slope=0.5), lambda: nn.LeakyReLU(0.5)),
    "gate": (lambda: _set(nn.GLU(), dim=1), lambda: nn.GLU(1)),
    "border": (lambda: _set(nn.Pad2D(1), padding=[2, 0, 1, 0], value=7.0), lambda: nn.Pad2D([2, 0, 1, 0], value=7.0)),
    "resizing": (lambda: _set(nn.Upsample(scale_factor=3), scale_factor=2), lambda: nn.Upsample(scale_factor=2)),
    "shuffle": (lambda: _set(nn.ChannelShuffle(1), _groups=2), lambda: nn.ChannelShuffle(2)),
}


@pytest.mark.parametrize("name", CHANGED)
def test_attributes_that_are_set_are_heard(name: str) -> None:
    changed, made = CHANGED[name]
    x = paddle.to_tensor(IMAGE)
    np.testing.assert_array_equal(changed()(x).numpy(), made()(x).numpy())


def test_losses_hear_of_their_settings() -> None:
    logits, labels = paddle.to_tensor([[1.0, 2.0], [0.5, -1.0]]), paddle.to_tensor([0, 1])
    ignoring = _set(nn.CrossEntropyLoss(), ignore_index=1, reduction="sum")
    assert (
        ignoring(logits, labels).item() == nn.CrossEntropyLoss(ignore_index=1, reduction="sum")(logits, labels).item()
    )
    ranking = _set(nn.MarginRankingLoss(), margin=0.5)
    a, b = logits[0], logits[1]
    sign = paddle.to_tensor([1.0, 1.0])
    expected = nn.MarginRankingLoss(margin=0.5)(a, other=b, label=sign).item()
    assert ranking(input=a, other=b, label=sign).item() == expected


def test_a_convolution_of_ones_own_may_be_built_from_the_attributes() -> None:
    class Own(nn.Conv2D):
        def forward(self, x: Any) -> Any:
            if self._padding_mode != "zeros":
                x = nn.functional.pad(x, self._reversed_padding_repeated_twice, mode=self._padding_mode)
            out = nn.functional.conv2d(
                x,
                self.weight,
                self.bias,
                self._stride,
                self._updated_padding,
                self._dilation,
                self._groups,
                self._data_format,
            )
            return self._helper.append_activation(out, act="relu")

    x = paddle.to_tensor(IMAGE)
    for settings in ({"padding": 1}, {"padding": [1, 2]}, {"padding": 2, "padding_mode": "reflect"}):
        layer = Own(2, 3, 3, **settings)
        np.testing.assert_array_equal(layer(x).numpy(), nn.functional.relu(nn.Conv2D.forward(layer, x)).numpy())
    layer = nn.Conv2D(2, 3, 3)
    layer._updated_padding, layer._dilation = [2, 2], [2, 2]
    assert layer(x).shape == [1, 3, 6, 6]


def test_a_dropout_may_write_to_its_input() -> None:
    for layer in (nn.Dropout(0.5, inplace=True), nn.Dropout(0.5, True)):
        x = paddle.ones([64])
        assert layer(x) is x
        assert set(x.tolist()) == {0.0, 2.0}
    x = paddle.to_tensor([1.0, -1.0])
    y = x.clone()
    assert nn.Silu(True)(y) is y
    np.testing.assert_array_equal(y.numpy(), nn.functional.silu(x).numpy())


def test_lists_of_layers_give_up_and_take_in() -> None:
    layers = nn.LayerList([nn.ReLU(), nn.Tanh(), nn.Sigmoid()])
    assert type(layers.pop(-2)) is nn.Tanh
    assert [type(v).__name__ for v in layers] == ["ReLU", "Sigmoid"]
    assert layers._get_abs_string_index(-1) == "1"
    with pytest.raises(IndexError, match=r"index 2 is out of range, should be an integer in range \[-2, 2\)"):
        layers._get_abs_idx(2)
    model = nn.Sequential(nn.ReLU(), nn.Tanh()).insert(1, nn.Sigmoid())
    assert [type(v).__name__ for v in model] == ["ReLU", "Sigmoid", "Tanh"]
    with pytest.raises(IndexError, match="out of range"):
        model.insert(4, nn.ReLU())


class TestHelper:
    """``Layer._helper`` and ``LayerHelper``."""

    def test_in_dynamic_mode(self) -> None:
        layer = nn.Linear(2, 3)
        helper = layer._helper
        x = paddle.to_tensor([[1.0, -2.0]])
        assert helper.append_activation(x, "relu").tolist() == [[1.0, 0.0]]
        assert helper.append_activation(x) is x
        assert helper.create_parameter(paddle.ParamAttr(), [2, 3], "float32").name.startswith(layer.full_name() + ".w_")
        assert helper.input_dtype([x, x]) is paddle.float32
        assert helper.get_default_dtype() == "float32"
        with pytest.raises(AttributeError, match="'nope' of linear_"):
            helper.append_activation(x, "nope")
        with pytest.raises(TypeError, match="3 should be unicode or str in linear_"):
            helper.append_activation(x, 3)
        with pytest.raises(ModeError, match="appended to programs"):
            helper.append_op(type="relu", inputs={"X": [x]}, outputs={"Out": [x]})

    def test_in_a_program(self) -> None:
        paddle.enable_static()
        from gradtool.paddle.base.layer_helper import LayerHelper

        def dense(input: Any, size: int, param_attr: Any = None, bias_attr: Any = None, act: Any = None) -> Any:
            helper = LayerHelper("dense", **locals())
            dtype = helper.input_dtype()
            w = helper.create_parameter(helper.param_attr, [input.shape[-1], size], dtype)
            out = helper.create_variable_for_type_inference(dtype)
            helper.append_op(type="mul", inputs={"X": [input], "Y": [w]}, outputs={"Out": [out]})
            return helper.append_activation(helper.append_bias_op(out))

        with paddle.static.program_guard(paddle.static.Program()) as _, paddle.utils.unique_name.guard():
            x = paddle.static.data("x", [None, 4])
            y = dense(x, 3, act="tanh")
            loss = paddle.mean(y)
            pairs = paddle.static.append_backward(loss)
            assert [p.name for p, _ in pairs] == ["dense_0.w_0", "dense_0.b_0"]
            block = paddle.static.default_main_program().global_block()
            assert [op.type for op in block.ops][:3] == ["mul", "elementwise_add", "tanh"]
            assert y.shape == (-1, 3)
            layer = nn.Linear(4, 2)
            assert layer._helper.append_activation(layer(x), act="relu").name.startswith(layer.full_name())

    def test_what_goes_wrong_is_told(self) -> None:
        paddle.enable_static()
        from gradtool.paddle.base.layer_helper import LayerHelper

        with paddle.static.program_guard(paddle.static.Program()):
            x, n = paddle.static.data("x", [2]), paddle.static.data("n", [2], "int64")
            helper = LayerHelper("own", input=[x, n], name="mine")
            assert helper.name == "mine"
            with pytest.raises(ValueError, match="Data Type mismatch: float32 to int64 in mine"):
                helper.input_dtype()
            with pytest.raises(ValueError, match="own layer only takes one input"):
                helper.input()
            with pytest.raises(ValueError, match="no Parameter name x found in mine"):
                helper.get_parameter("x")
            made, new = helper.create_or_get_global_variable("kept", shape=[1], dtype="float32", persistable=True)
            assert (made.name, new) == ("kept", True)
            assert helper.create_or_get_global_variable("kept") == (made, False)
            helper.set_variable_initializer(made, nn.initializer.Constant(2.0))
            with pytest.raises(TypeError, match="expected type is 'ndarray' or 'Variable'"):
                helper.to_variable([1.0])
