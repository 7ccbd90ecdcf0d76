"""Layers in dynamic mode: parameters with values at once, calls that compute, buffers, state dicts and hooks."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import DtypeError
from gradtool.engine.eager import backward as sweep
from gradtool.paddle import nn
from gradtool.paddle.nn import functional as F

pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


def backward(loss: Any) -> None:
    sweep.backward([loss], [None], retain_graph=False)


class Net(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2D(1, 2, 3, padding=1)
        self.norm = nn.BatchNorm2D(2)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(8, 3))
        self.scale = self.create_parameter([3], default_initializer=nn.initializer.Constant(2.0))
        self.register_buffer("steps", paddle.zeros([1]))

    def forward(self, x: Any) -> Any:
        return self.head(F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)) * self.scale


# -- parameters -------------------------------------------------------------------------------------------------------


def test_a_parameter_of_a_layer_has_the_default_dtype_and_not_the_layers() -> None:
    assert nn.Layer(dtype="float64").create_parameter([2]).dtype is paddle.float32
    paddle.set_default_dtype("float64")
    assert nn.Layer().create_parameter([2]).dtype is paddle.float64
    assert nn.Layer().create_parameter([2], dtype="float32").dtype is paddle.float32


def test_a_parameter_is_a_leaf_that_needs_gradients() -> None:
    p = paddle.create_parameter([2, 2], "float32", default_initializer=nn.initializer.Constant(0.5))
    assert (p.stop_gradient, p.trainable, p.persistable, p.is_leaf, p.name) == (
        False,
        True,
        True,
        True,
        "create_parameter_0.w_0",
    )
    assert str(p) == (
        "Parameter containing:\nTensor(shape=[2, 2], dtype=float32, place=Place(cpu), stop_gradient=False,\n"
        "       [[0.50000000, 0.50000000],\n        [0.50000000, 0.50000000]])"
    )
    p.trainable = False
    assert p.stop_gradient
    p.stop_gradient = False
    assert p.trainable


def test_parameters_made_under_no_grad_need_gradients_all_the_same() -> None:
    with paddle.no_grad():
        assert not nn.Linear(2, 2).weight.stop_gradient


@pytest.mark.parametrize(
    ("attr", "name", "trainable", "values"),
    [
        (paddle.ParamAttr(name="own", trainable=False), "own", False, None),
        ("named", "named", True, None),
        (nn.initializer.Constant(3.0), "create_parameter_0.w_0", True, [3.0, 3.0]),
        (nn.initializer.Assign([1.0, 2.0]), "create_parameter_0.w_0", True, [1.0, 2.0]),
    ],
)
def test_attributes_of_parameters(attr: Any, name: str, trainable: bool, values: Any) -> None:
    p = paddle.create_parameter([2], "float32", attr=attr)
    assert (p.name, p.trainable) == (name, trainable)
    if values is not None:
        assert p.tolist() == values


def test_settings_for_optimizers_are_kept() -> None:
    p = nn.Linear(2, 3, weight_attr=paddle.ParamAttr(learning_rate=0.5, need_clip=False)).weight
    assert (p.optimize_attr, p.need_clip, p.regularizer) == ({"learning_rate": 0.5}, False, None)


def test_an_integer_parameter_needs_an_initializer() -> None:
    with pytest.raises(DtypeError, match="initializer"):
        paddle.create_parameter([2], "int64")


def test_initializers_fill_parameters_again() -> None:
    layer = nn.Linear(3, 2)
    nn.initializer.Constant(1.5)(layer.weight)
    assert layer.weight.numpy().min() == layer.weight.numpy().max() == 1.5


def test_weights_are_drawn_within_the_limits_of_their_initializer() -> None:
    weight = nn.Linear(30, 20).weight.numpy()
    limit = np.sqrt(6 / 50)
    assert limit * 0.9 < np.abs(weight).max() <= limit


# -- layers -----------------------------------------------------------------------------------------------------------


def test_names_and_paths() -> None:
    net = Net()
    assert [n for n, _ in net.named_parameters()] == [
        "scale",
        "conv.weight",
        "conv.bias",
        "norm.weight",
        "norm.bias",
        "norm._mean",
        "norm._variance",
        "head.1.weight",
        "head.1.bias",
    ]
    assert [p.name for p in net.head.parameters()] == ["linear_0.w_0", "linear_0.b_0"]
    assert (net.full_name(), net.conv.full_name()) == ("net_0", "conv2d_0")
    assert net.head[1].weight.layer_path == "head.1.weight"
    assert [n for n, _ in net.named_buffers()] == ["steps"]


def test_a_network_computes_and_gets_gradients() -> None:
    net = Net()
    x = paddle.rand([4, 1, 4, 4])
    out = net(x)
    assert out.shape == [4, 3]
    backward(F.cross_entropy(out, paddle.to_tensor([0, 1, 2, 0])))
    assert [n for n, p in net.named_parameters() if p.grad is None] == ["norm._mean", "norm._variance"]
    assert float(net.head[1].weight.grad.abs().sum()) > 0
    net.clear_gradients()
    assert float(net.head[1].weight.grad.abs().sum()) == 0
    net.clear_gradients(set_to_zero=False)
    assert net.scale.grad is None


def test_training_moves_the_statistics_of_batch_norm_and_testing_uses_them() -> None:
    norm = nn.BatchNorm2D(2, momentum=0.75)
    values = np.random.default_rng(0).normal(3.0, 2.0, (8, 2, 4, 4)).astype("float32")
    x = paddle.to_tensor(values, stop_gradient=False)
    y = norm(x)
    mean, variance = values.mean((0, 2, 3)), values.var((0, 2, 3))
    np.testing.assert_allclose(norm._mean.numpy(), 0.25 * mean, rtol=1e-4)
    np.testing.assert_allclose(norm._variance.numpy(), 0.75 + 0.25 * variance, rtol=1e-2)
    np.testing.assert_allclose(y.numpy().mean((0, 2, 3)), [0, 0], atol=1e-5)
    backward((y * y).sum())
    np.testing.assert_allclose(x.grad.numpy(), np.zeros_like(values), atol=1e-2)
    norm.eval()
    moved = norm._mean.numpy()
    tested = norm(x)
    np.testing.assert_array_equal(norm._mean.numpy(), moved)
    scaled = (values - norm._mean.numpy()[:, None, None]) / np.sqrt(norm._variance.numpy()[:, None, None] + 1e-5)
    np.testing.assert_allclose(tested.numpy(), scaled, rtol=1e-4, atol=1e-5)


def test_dropout_works_in_training_only() -> None:
    dropout = nn.Dropout(0.5)
    x = paddle.ones([100])
    dropped = dropout(x).numpy()
    assert set(dropped.tolist()) == {0.0, 2.0}
    dropout.eval()
    np.testing.assert_array_equal(dropout(x).numpy(), x.numpy())


def test_layers_compute_what_static_programs_compute() -> None:
    values = np.random.default_rng(1).normal(size=(2, 5)).astype("float32")

    def build() -> Any:
        constant = nn.initializer.Assign(np.linspace(-1, 1, 15).reshape(5, 3).astype("float32"))
        return nn.Sequential(nn.Linear(5, 3, weight_attr=constant), nn.LayerNorm(3), nn.GELU(), nn.Softmax())

    eager = build()(paddle.to_tensor(values))
    paddle.enable_static()
    out = build()(paddle.static.data("x", [2, 5]))
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    (static,) = exe.run(feed={"x": values}, fetch_list=[out])
    np.testing.assert_allclose(eager.numpy(), static, rtol=1e-6)


@pytest.mark.parametrize(
    ("layer", "shape", "result"),
    [
        (lambda: nn.Embedding(7, 3), None, [2, 2, 3]),
        (lambda: nn.LayerNorm([3, 4]), [2, 3, 4], [2, 3, 4]),
        (lambda: nn.MaxPool2D(2), [1, 1, 4, 4], [1, 1, 2, 2]),
        (lambda: nn.AvgPool2D(2), [1, 1, 4, 4], [1, 1, 2, 2]),
        (lambda: nn.AdaptiveAvgPool2D(1), [1, 2, 4, 4], [1, 2, 1, 1]),
        (lambda: nn.LayerList([nn.Tanh()])[0], [2], [2]),
        (nn.ReLU, [2], [2]),
        (nn.Sigmoid, [2], [2]),
    ],
)
def test_calls(layer: Any, shape: Any, result: list[int]) -> None:
    x = paddle.to_tensor([[1, 2], [3, 4]]) if shape is None else paddle.rand(shape)
    assert layer()(x).shape == result


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (nn.MSELoss, 2.5),
        (nn.L1Loss, 1.5),
        (lambda: nn.MSELoss(reduction="none"), [1.0, 4.0]),
    ],
)
def test_losses(loss: Any, expected: Any) -> None:
    assert loss()(paddle.to_tensor([1.0, 2.0]), paddle.zeros([2])).tolist() == expected


# -- state ------------------------------------------------------------------------------------------------------------


def test_state_dicts_carry_values_from_one_network_to_another() -> None:
    one, other = Net(), Net()
    values = {k: v.numpy() for k, v in one.state_dict().items()}
    assert list(values) == ["scale", "steps", *[n for n, _ in one.named_parameters()][1:]]
    assert other.set_state_dict(one.state_dict()) == ([], [])
    for key, value in other.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), values[key])
    assert other.conv.weight is not one.conv.weight
    x = paddle.rand([2, 1, 4, 4])
    np.testing.assert_array_equal(one(x).numpy(), other(x).numpy())


def test_what_a_state_dict_lacks_or_has_too_much_is_returned() -> None:
    layer = nn.Linear(2, 3)
    assert layer.set_state_dict({"weight": np.ones((2, 3)), "more": np.ones(1)}) == (["bias"], ["more"])
    assert layer.weight.numpy().sum() == 6
    assert layer.load_dict({layer.bias.name: np.ones(3)}, use_structured_name=False) == ([layer.weight.name], [])
    assert layer.bias.tolist() == [1, 1, 1]
    with pytest.warns(UserWarning, match=r"weight receives a shape \[3, 2\]"):
        layer.set_state_dict({"weight": np.ones((3, 2)), "bias": np.zeros(3)})
    assert layer.bias.tolist() == [0, 0, 0]


def test_tensors_assigned_to_attributes_are_buffers_that_are_not_saved() -> None:
    layer = nn.Layer()
    layer.mask = paddle.ones([2])
    layer.register_buffer("kept", paddle.zeros([1]))
    layer.register_buffer("passing", paddle.zeros([1]), persistable=False)
    assert [n for n, _ in layer.named_buffers()] == ["mask", "kept", "passing"]
    assert list(layer.state_dict()) == ["kept"]
    layer.kept = paddle.ones([1])
    assert layer.state_dict()["kept"].tolist() == [1.0]
    layer.mask = None
    assert layer.mask is None


def test_parameters_are_replaced_by_parameters_in_their_place() -> None:
    layer, other = nn.Linear(2, 3), nn.Linear(2, 3)
    layer.weight = other.weight
    assert [p.name for p in layer.parameters()] == ["linear_1.w_0", "linear_0.b_0"]
    with pytest.raises(TypeError, match="should be of type Parameter"):
        layer.weight = paddle.ones([2, 3])


def test_hooks_see_and_replace_inputs_and_outputs() -> None:
    layer = nn.ReLU()
    before = layer.register_forward_pre_hook(lambda layer, inputs: (inputs[0] - 1,))
    after = layer.register_forward_post_hook(lambda layer, inputs, outputs: outputs * 10)
    x = paddle.to_tensor([0.5, 3.0])
    assert layer(x).tolist() == [0.0, 20.0]
    assert before.remove()
    assert layer(x).tolist() == [5.0, 30.0]
    assert after.remove()
    assert not after.remove()
    assert layer(x).tolist() == [0.5, 3.0]


def test_weights_change_by_hand() -> None:
    layer = nn.Linear(2, 1, bias_attr=False)
    x = paddle.to_tensor([[1.0, 2.0]])
    before = float((layer(x) ** 2).mean())
    for _ in range(20):
        backward((layer(x) ** 2).mean())
        with paddle.no_grad():
            layer.weight.subtract_(layer.weight.grad * 0.05)
        layer.clear_gradients()
    assert float((layer(x) ** 2).mean()) < before * 1e-3


def test_deep_copies_are_networks_of_their_own() -> None:
    net = nn.Linear(2, 3)
    backward(net(paddle.ones([1, 2])).sum())
    other = copy.deepcopy(net)
    assert (other.weight.name, other.weight.trainable, other.weight.layer_path) == (
        "linear_0.w_0_deepcopy_0",
        True,
        net.weight.layer_path,
    )
    np.testing.assert_array_equal(other.weight.numpy(), net.weight.numpy())
    assert other.weight.grad.tolist() == net.weight.grad.tolist()
    nn.initializer.Constant(0.0)(other.weight)
    assert float(net.weight.abs().sum()) > 0
    computed = copy.deepcopy(net.weight * 2)
    assert computed.is_leaf
    assert not computed.stop_gradient


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (lambda: nn.BatchNorm1D(3), [5, 3]),
        (lambda: nn.BatchNorm1D(3), [5, 3, 2]),
        (lambda: nn.BatchNorm1D(3, data_format="NLC"), [5, 2, 3]),
        (lambda: nn.BatchNorm2D(3, data_format="NHWC"), [2, 2, 2, 3]),
        (lambda: nn.BatchNorm3D(3), [2, 3, 2, 2, 2]),
    ],
)
def test_batch_norm_of_every_rank(layer: Any, shape: list[int]) -> None:
    norm = layer()
    x = paddle.rand(shape)
    y = norm(x).numpy()
    channel = shape.index(3)
    others = tuple(i for i in range(len(shape)) if i != channel)
    np.testing.assert_allclose(y.mean(others), np.zeros(3), atol=1e-5)
    np.testing.assert_allclose(y.std(others), np.ones(3), atol=1e-2)
    with pytest.raises(ValueError, match="expected"):
        norm(paddle.rand([2, 3, 2, 2, 2, 2]))
    with pytest.raises(ValueError, match="data_format"):
        type(norm)(3, data_format="CN")


# -- containers -------------------------------------------------------------------------------------------------------


def test_layers_under_names() -> None:
    held = nn.LayerDict({"a": nn.Linear(1, 2), "b": nn.ReLU()})
    held["c"] = nn.Tanh()
    held.update([["d", nn.Sigmoid()]])
    assert (list(held), len(held), "a" in held, "x" in held) == (["a", "b", "c", "d"], 4, True, False)
    assert [n for n, _ in held.named_parameters()] == ["a.weight", "a.bias"]
    assert held["a"].weight.layer_path == "a.weight"
    del held["d"]
    assert isinstance(held.pop("c"), nn.Tanh)
    assert [type(v).__name__ for v in held.values()] == ["Linear", "ReLU"]
    assert [k for k, _ in nn.LayerDict(held).items()] == list(held.keys())
    assert str(nn.LayerDict({"b": nn.ReLU()})) == "LayerDict(\n  (b): ReLU()\n)"
    held.clear()
    assert len(held) == 0
    for wrong in (3, [["a"]]):
        with pytest.raises(TypeError, match="pairs"):
            held.update(wrong)
    with pytest.raises(KeyError):
        held["gone"]


def test_parameters_in_a_list() -> None:
    parameters = [paddle.create_parameter([2], "float32") for _ in range(3)]
    held = nn.ParameterList(parameters[:2])
    assert held.append(parameters[2]) is held
    assert [n for n, _ in held.named_parameters()] == ["0", "1", "2"]
    assert held[-1] is parameters[2]
    held[0] = parameters[1]
    assert [p is q for p, q in zip(held, [parameters[1], *parameters[1:]], strict=True)] == [True] * 3
    with pytest.raises(IndexError):
        held[3] = parameters[0]
    with pytest.raises(TypeError):
        held.append(paddle.ones([2]))
