"""Layers that make their own parameters, in ``static.nn`` and as ``nn.Layer``: names, initial values, structure."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError

nn = paddle.nn
layers = paddle.static.nn
init = paddle.nn.initializer


pytestmark = pytest.mark.usefixtures("fresh_names")


def image(*shape: int | None) -> Any:
    return paddle.static.data("x", list(shape) or [2, 4, 6, 6])


def ops(program: Any = None) -> list[str]:
    return [o.type for o in (program or paddle.static.default_main_program()).global_block().ops]


def parameters() -> list[str]:
    return [p.name for p in paddle.static.default_main_program().all_parameters()]


# Names as Paddle 3.1.1 gives them; of the parameters the part before the dot, and the parts after it.
NAMES = [
    (lambda x: layers.conv2d(x, 6, 3, act="relu"), "conv2d_0.tmp_2", "conv2d_0", "w_0 b_0"),
    (lambda x: layers.conv2d(x, 6, 3, bias_attr=False, name="c"), "c.tmp_0", "c", "w_0"),
    (
        lambda x: layers.conv2d(x, 4, 3, groups=4, use_cudnn=False),
        "depthwise_conv2d_0.tmp_1",
        "depthwise_conv2d_0",
        "w_0 b_0",
    ),
    (
        lambda x: layers.conv2d_transpose(x, 3, filter_size=3),
        "conv2d_transpose_0.tmp_1",
        "conv2d_transpose_0",
        "w_0 b_0",
    ),
    (lambda x: layers.batch_norm(x), "batch_norm_0.tmp_3", "batch_norm_0", "w_0 b_0 w_1 w_2"),
    (lambda x: layers.batch_norm(x, is_test=True), "batch_norm_0.tmp_2", "batch_norm_0", "w_0 b_0 w_1 w_2"),
    (lambda x: layers.layer_norm(x, act="relu"), "layer_norm_0.tmp_3", "layer_norm_0", "w_0 b_0"),
    (lambda x: layers.layer_norm(x, scale=False), "layer_norm_0.tmp_2", "layer_norm_0", "b_0"),
    (lambda x: layers.group_norm(x, 2), "_generated_var_2", "", ""),
    (lambda x: layers.group_norm(x, 2, param_attr=True, act="relu"), "group_norm_0.tmp_0", "group_norm_0", "w_0"),
    (lambda x: layers.instance_norm(x), "instance_norm_0.tmp_2", "", ""),
    (
        lambda x: layers.instance_norm(x, param_attr=True, bias_attr=True),
        "instance_norm_0.tmp_2",
        "instance_norm_0",
        "w_0 b_0",
    ),
    (lambda x: nn.BatchNorm2D(4)(x), "batch_norm_0.tmp_2", "batch_norm2d_0", "w_0 b_0 w_1 w_2"),
    (lambda x: nn.Conv2D(4, 6, 3)(x), "conv2d_0.tmp_1", "conv2d_0", "w_0 b_0"),
    (lambda x: nn.LayerNorm([6, 6])(x), "layer_norm_0.tmp_2", "layer_norm_0", "w_0 b_0"),
    (lambda x: nn.Linear(6, 3, bias_attr=False)(x), "linear_0.tmp_0", "linear_0", "w_0"),
    (lambda x: nn.Linear(6, 3, name="q")(x), "q.tmp_1", "linear_0", "w_0 b_0"),
    (lambda x: nn.MaxPool2D(2)(x), "pool2d_0.tmp_0", "", ""),
    (lambda x: nn.AvgPool2D(2)(x), "pool2d_0.tmp_0", "", ""),
    (lambda x: nn.AdaptiveAvgPool2D((2, None))(x), "pool2d_0.tmp_0", "", ""),
    (lambda x: nn.MaxPool2D(2, return_mask=True)(x)[1], "max_pool2d_with_index_0.tmp_1", "", ""),
    (lambda x: nn.Dropout(0.2)(x), "dropout_0.tmp_0", "", ""),
    (lambda x: nn.ReLU()(x), "relu_0.tmp_0", "", ""),
    (lambda x: layers.prelu(x, "channel"), "prelu_0.tmp_0", "prelu_0", "w_0"),
    (lambda x: layers.spectral_norm(x), "_generated_var_0", "spectral_norm_0", "w_0 w_1"),
    (
        lambda x: layers.deform_conv2d(x, paddle.zeros([2, 18, 4, 4]), None, 6, 3),
        "deformable_conv_0.tmp_1",
        "deformable_conv_0",
        "w_0 b_0",
    ),
]


@pytest.mark.parametrize(("make", "result", "layer", "names"), NAMES)
def test_results_and_parameters_are_named_as_in_paddle(make: Any, result: str, layer: str, names: str) -> None:
    assert make(image()).name == result
    assert parameters() == [f"{layer}.{part}" for part in names.split()]


def test_saved_statistics_stop_gradients() -> None:
    y = layers.batch_norm(image())
    program = paddle.static.default_main_program().global_block()
    assert all(program.var(f"batch_norm_0.tmp_{i}").stop_gradient for i in range(3))
    assert not y.stop_gradient
    assert [p.name for p, _ in paddle.static.append_backward(paddle.mean(y))] == [
        "batch_norm_0.w_0",
        "batch_norm_0.b_0",
    ]


@pytest.mark.parametrize(("mode", "shape"), [("all", [1]), ("channel", [1, 4, 1, 1]), ("element", [1, 4, 6, 6])])
def test_prelu_has_a_slope_for_what_its_mode_says(mode: str, shape: list[int]) -> None:
    layers.prelu(image(), mode)
    (op,) = paddle.static.default_startup_program().global_block().ops
    assert (op.attr("shape"), op.attr("value")) == (shape, 0.25)


def test_a_filter_size_can_follow_from_the_output_size() -> None:
    y = layers.conv2d_transpose(image(), 4, output_size=[12, 13], stride=2, groups=2)
    w = paddle.static.default_main_program().global_block().var("conv2d_transpose_0.w_0")
    assert (y.shape, w.shape) == ((2, 4, 12, 13), (4, 2, 2, 3))


# What the startup program does for a parameter, with Paddle 3.1.1's numbers.
STARTS = [
    (init.Constant(2), "fill_constant", {"value": 2.0, "str_value": "2.0"}),
    (init.Uniform(-2, 3), "uniform_random", {"min": -2.0, "max": 3.0}),
    (init.Normal(1, 2), "gaussian_random", {"mean": 1.0, "std": 2.0}),
    (init.TruncatedNormal(), "truncated_gaussian_random", {"mean": 0.0, "std": 1.0, "a": -2.0, "b": 2.0}),
    (init.XavierUniform(), "uniform_random", {"min": -1.0954451, "max": 1.0954451}),
    (init.XavierNormal(), "gaussian_random", {"std": 0.6324555}),
    (init.XavierNormal(fan_in=4, fan_out=4, gain=2), "gaussian_random", {"std": 1.0}),
    (init.KaimingUniform(), "uniform_random", {"min": -1.7320508, "max": 1.7320508}),
    (init.KaimingNormal(negative_slope=0.3, nonlinearity="leaky_relu"), "gaussian_random", {"std": 0.9578263}),
    (init.KaimingNormal(fan_in=3, nonlinearity="tanh"), "gaussian_random", {"std": 0.9622505}),
    (init.KaimingNormal(mode="fan_out"), "gaussian_random", {"std": math.sqrt(2 / 3)}),
    (init.Assign(np.arange(6).reshape(2, 3)), "assign_value", {"values": (0, 1, 2, 3, 4, 5)}),
    (init.Assign([[1, 2, 3], [4, 5, 6.5]]), "assign_value", {"values": (1.0, 2.0, 3.0, 4.0, 5.0, 6.5)}),
]


@pytest.mark.parametrize(("initializer", "type_", "attrs"), STARTS)
def test_initializers_become_startup_operators(initializer: Any, type_: str, attrs: dict[str, Any]) -> None:
    p = paddle.static.create_parameter([2, 3], "float64", default_initializer=initializer)
    (op,) = paddle.static.default_startup_program().global_block().ops
    assert op.type == type_
    assert op.output("Out") == [p.name]
    assert (op.attr("shape"), op.attr("dtype")) == ([2, 3], 6)
    for name, value in attrs.items():
        assert op.attr(name) == (pytest.approx(value, rel=1e-6) if not isinstance(value, str) else value)
    paddle.static.Executor().run(paddle.static.default_startup_program())
    value = np.array(paddle.static.global_scope().find_var(p.name).get_tensor())
    assert (value.shape, value.dtype) == ((2, 3), np.dtype("float64"))


def test_an_initializer_may_be_called_with_a_variable() -> None:
    block = paddle.static.default_startup_program().global_block()
    w = block.create_var("w", [2, 2], "float32", persistable=True)
    assert init.Constant(3.0)(w, block).type == "fill_constant"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: init.Assign(3), TypeError),
        (lambda: init.KaimingNormal(mode="x"), UsageError),
        (lambda: init.KaimingNormal(fan_in=3, mode="fan_out"), UsageError),
        (lambda: init.calculate_gain("softmax"), UsageError),
    ],
)
def test_initializers_that_do_not_fit_are_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("make", "start", "std"),
    [
        (lambda x: layers.conv2d(x, 4, 3, groups=4), "gaussian_random", math.sqrt(2 / 36)),
        (lambda x: layers.conv2d(x, 6, [3, 2]), "gaussian_random", math.sqrt(2 / 24)),
        (lambda x: nn.Conv2D(4, 6, 3)(x), "gaussian_random", math.sqrt(2 / 36)),
        (lambda x: layers.conv2d_transpose(x, 3, filter_size=3), "uniform_random", None),
        (lambda x: nn.Linear(6, 3)(x), "uniform_random", None),
    ],
)
def test_weights_start_as_in_paddle(make: Any, start: str, std: float | None) -> None:
    make(image())
    op = paddle.static.default_startup_program().global_block().ops[0]
    assert op.type == start
    if std is not None:
        assert op.attr("std") == pytest.approx(std)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda x: layers.conv2d(x, 3, 3, param_attr=False), AssertionError),
        (lambda x: layers.conv2d(x, 3, 3, groups=3), ValueError),
        (lambda x: layers.conv2d(x, 3, 3, groups=0), ValueError),
        (lambda x: layers.conv2d(x, 3, 3, data_format="N"), ValueError),
        (lambda x: layers.conv2d(3, 3, 3), TypeError),
        (lambda x: layers.conv2d(paddle.static.data("i", [1, 1, 4, 4], "int64"), 3, 3), TypeError),
        (lambda x: layers.conv2d(paddle.static.data("i", [1, None, 4, 4]), 3, 3), ValueError),
        (lambda x: layers.conv2d(paddle.static.data("i", [1, 4]), 3, 3), ValueError),
        (lambda x: layers.conv2d_transpose(x, 3), ValueError),
        (lambda x: layers.conv2d_transpose(x, 0, filter_size=2), ValueError),
        (lambda x: layers.batch_norm(x, bias_attr=False), AssertionError),
        (lambda x: layers.batch_norm(paddle.static.data("i", [4])), ValueError),
        (lambda x: layers.layer_norm(paddle.static.data("i", [2, None])), ValueError),
        (lambda x: layers.instance_norm(x, param_attr=False), AssertionError),
        (lambda x: layers.prelu(x, "some"), ValueError),
        (lambda x: layers.embedding(x, [3, 4]), TypeError),
        (lambda x: nn.functional.embedding(x, x), TypeError),
        (lambda x: nn.functional.embedding(paddle.static.data("i", [2], "int64"), x, padding_idx=2), ValueError),
        (lambda x: nn.functional.embedding(paddle.static.data("i", [2], "int64"), x, max_norm=1.0), UnsupportedError),
    ],
)
def test_layers_refuse_what_does_not_fit(make: Any, error: type[Exception]) -> None:
    x = image()
    with pytest.raises(error):
        make(x)
    assert not ops()
    assert not parameters()


# -- nn.Layer ---------------------------------------------------------------------------------------------------------


class Model(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2D(4, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.Dropout())
        self.heads = nn.LayerList([nn.Linear(4, 3), nn.Linear(4, 2)])
        self.scale = self.create_parameter([4])
        self.named = nn.Sequential(("first", nn.Linear(4, 4)), ("then", nn.Tanh()))

    def forward(self, x: Any) -> Any:
        return self.heads[0](self.body(x) * self.scale)


PATHS = {
    "scale": "model_0.w_0",
    "body.0.weight": "conv2d_0.w_0",
    "body.0.bias": "conv2d_0.b_0",
    "body.1.weight": "batch_norm2d_0.w_0",
    "body.1.bias": "batch_norm2d_0.b_0",
    "body.1._mean": "batch_norm2d_0.w_1",
    "body.1._variance": "batch_norm2d_0.w_2",
    "heads.0.weight": "linear_0.w_0",
    "heads.0.bias": "linear_0.b_0",
    "heads.1.weight": "linear_1.w_0",
    "heads.1.bias": "linear_1.b_0",
    "named.first.weight": "linear_2.w_0",
    "named.first.bias": "linear_2.b_0",
}


def test_parameters_come_own_first_then_layer_by_layer() -> None:
    model = Model()
    assert {path: p.name for path, p in model.named_parameters()} == PATHS
    assert [path for path, _ in model.named_parameters()] == list(PATHS)
    assert list(model.state_dict()) == list(PATHS)
    assert [p.name for p in model.parameters(include_sublayers=False)] == ["model_0.w_0"]
    assert [path for path, p in model.named_parameters() if p.stop_gradient] == ["body.1._mean", "body.1._variance"]


def test_parameters_know_their_place_in_the_model() -> None:
    model = Model()
    assert [p.layer_path for p in model.parameters()] == list(PATHS)
    assert len(model.body[0:2]) == 2
    assert model.body[0].weight.layer_path == "body.0.weight"
    outer = nn.Sequential(model)
    assert outer[0].scale.layer_path == "0.scale"
    model.late = nn.Linear(2, 2)
    assert model.late.weight.layer_path == "0.late.weight"


def test_layers_are_found_by_path_and_name() -> None:
    model = Model()
    names = {path: layer.full_name() for path, layer in model.named_sublayers()}
    assert names["body.2"] == "re_lu_0"
    assert names["heads"] == "layer_list_0"
    assert names["named.then"] == "tanh_0"
    assert [name for name, _ in model.named_children()] == ["body", "heads", "named"]
    assert model.sublayers(include_self=True)[0] is model
    assert Model().full_name() == "model_1"


def test_train_and_eval_reach_every_layer() -> None:
    model = Model()
    model.eval()
    assert not any(layer.training for layer in model.sublayers(include_self=True))
    y = model(image(2, 4, 6, 6))
    attrs = {o.type: o.attr("is_test") for o in y.block.ops if o.has_attr("is_test")}
    assert attrs == {"batch_norm": True, "dropout": True}
    model.train()
    assert model.body[3].training


def test_a_model_has_gradients_for_what_it_used() -> None:
    model = Model()
    loss = paddle.mean(model(image(2, 4, 6, 6)))
    paths = {p.layer_path for p, _ in paddle.static.append_backward(loss)}
    assert paths == {
        "scale", "body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias", "heads.0.weight", "heads.0.bias"
    }  # fmt: skip


def test_text_shows_the_structure() -> None:
    text = repr(nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.ReLU(), nn.Dropout(0.25))))
    assert text == (
        "Sequential(\n"
        "  (0): Linear(in_features=3, out_features=4, dtype=float32)\n"
        "  (1): Sequential(\n"
        "    (0): ReLU()\n"
        "    (1): Dropout(p=0.25, axis=None, mode=upscale_in_train, inplace=False)\n"
        "  )\n"
        ")"
    )
    assert repr(nn.Conv2D(4, 8, 3, stride=2, padding=1, groups=2)) == (
        "Conv2D(4, 8, kernel_size=[3, 3], stride=[2, 2], padding=1, groups=2, data_format=NCHW)"
    )


def test_lists_of_layers_are_lists() -> None:
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    held = nn.LayerList([a])
    held.extend([b]).append(c)
    held.insert(0, c)
    assert list(held) == [c, a, b, c]
    assert (held[-1], list(held[1:3])) == (c, [a, b])
    del held[0]
    held[0] = b
    assert list(held) == [b, b, c]
    assert [name for name, _ in held.named_children()] == ["0", "2"]


def test_attributes_keep_their_kind() -> None:
    model = Model()
    with pytest.raises(TypeError, match="sublayer 'named' should be of type Layer or None"):
        model.named = 3
    with pytest.raises(TypeError, match="parameter 'scale' should be of type Parameter or None"):
        model.scale = 3
    model.scale = None
    assert model.scale is None
    assert "scale" not in dict(model.named_parameters())
    with pytest.raises(AttributeError, match="no attribute 'boddy'") as caught:
        model.boddy  # noqa: B018
    assert "'body'" in str(caught.value)
    del model.body
    assert "body" in PATHS["body.0.weight"] or not hasattr(model, "body")


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda m: m.add_parameter(3, None), TypeError),
        (lambda m: m.add_parameter("a.b", None), KeyError),
        (lambda m: m.add_parameter("body", None), KeyError),
        (lambda m: m.add_parameter("new", 3), ArgumentTypeError),
        (lambda m: m.add_sublayer("new", 3), AssertionError),
        (lambda m: m.register_buffer("new", 3), TypeError),
        (lambda m: nn.LayerList([3]), AssertionError),
        (lambda m: nn.Layer()(1), NotImplementedError),
        (lambda m: nn.Conv2D(4, 6, 3, weight_attr=False), AssertionError),
        (lambda m: nn.Conv2D(4, 6, 3, groups=3), ValueError),
        (lambda m: nn.Conv2D(4, 6, 3, padding_mode="x"), ValueError),
        (lambda m: nn.Embedding(0, 3), ValueError),
        (lambda m: nn.Embedding(3, 3, padding_idx=7), ValueError),
        (lambda m: nn.LayerNorm("a"), ValueError),
        (lambda m: nn.BatchNorm2D(4, data_format="NCL"), ValueError),
        (lambda m: nn.BatchNorm2D(4)(image(2, 4)), ValueError),
        (lambda m: nn.MSELoss("x"), ValueError),
        (lambda m: nn.L1Loss("x"), ValueError),
        (lambda m: nn.BCEWithLogitsLoss(reduction="x"), ValueError),
    ],
)
def test_layers_refuse_wrong_arguments(make: Any, error: type[Exception]) -> None:
    model = Model()
    with pytest.raises(error):
        make(model)


def test_a_layer_that_forgets_its_base_says_so() -> None:
    class Forgetful(nn.Layer):
        def __init__(self) -> None:
            self.part = nn.ReLU()

    with pytest.raises(UsageError, match="super"):
        Forgetful()


def test_padding_counts_from_the_end_of_a_table_only_if_its_rows_are_known() -> None:
    """A table of an unknown number of rows and ``padding_idx=-1``: -1 in a program stands for no padding at all."""
    ids, table = paddle.static.data("ids", [3], "int64"), paddle.static.data("table", [-1, 2])
    with pytest.raises(ValueError, match="padding_idx -1 counts from the end of the table, whose number of rows"):
        nn.functional.embedding(ids, table, padding_idx=-1)
    table.stop_gradient = False
    padded = nn.functional.embedding(ids, table, padding_idx=2)
    last = nn.functional.embedding(ids, paddle.static.data("known", [3, 2]), padding_idx=-1)
    (g,) = paddle.static.gradients(paddle.sum(padded), table)
    values = np.arange(1, 7, dtype="float32").reshape(3, 2)
    feed = {"ids": np.array([0, 2, 2]), "table": values, "known": values}
    for rows in paddle.static.Executor().run(feed=feed, fetch_list=[padded, last]):
        np.testing.assert_array_equal(rows, [[1, 2], [0, 0], [0, 0]])
    np.testing.assert_array_equal(paddle.static.Executor().run(feed=feed, fetch_list=[g])[0], [[1, 1], [0, 0], [0, 0]])
