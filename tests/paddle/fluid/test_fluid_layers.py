"""``paddle.fluid.layers``: old argument names, old result shapes, the values of NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import fluid
from gradtool.paddle.fluid import layers
from gradtool.paddle.fluid.layers._rows import OperatorLayer
from gradtool.paddle.fluid.layers._table import ROWS

RNG = np.random.default_rng(3)
X = RNG.uniform(0.2, 0.8, (2, 3)).astype("float32")
Y = RNG.uniform(0.2, 0.8, (2, 3)).astype("float32")
CUBE = RNG.normal(size=(2, 3, 4)).astype("float32")
IDS = np.array([[2], [0]], "int64")
LABEL = np.array([[2], [1]], "int64")
MASK = np.array([[True, False, True], [False, False, True]])
IMAGE = RNG.normal(size=(2, 3, 4, 4)).astype("float32")


def run(build: Callable[..., Any], *arrays: np.ndarray) -> list[np.ndarray]:
    """What *build* makes of data variables holding *arrays*."""
    names = [f"in{i}" for i in range(len(arrays))]
    declared = [paddle.static.data(n, a.shape, a.dtype) for n, a in zip(names, arrays, strict=True)]
    outs = build(*declared)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    fetched = outs if isinstance(outs, (list, tuple)) else [outs]
    results = exe.run(feed=dict(zip(names, arrays, strict=True)), fetch_list=list(fetched))
    for variable, array in zip(fetched, results, strict=True):
        assert (variable.shape, variable.dtype.name) == (array.shape, str(array.dtype))
    return results


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


ONE: dict[str, tuple[Callable[[Variable], Any], Callable[[np.ndarray], np.ndarray]]] = {
    "abs": (layers.abs, np.abs),
    "acos": (layers.acos, np.arccos),
    "asin": (layers.asin, np.arcsin),
    "atan": (layers.atan, np.arctan),
    "ceil": (layers.ceil, np.ceil),
    "cos": (layers.cos, np.cos),
    "cosh": (layers.cosh, np.cosh),
    "exp": (layers.exp, np.exp),
    "floor": (layers.floor, np.floor),
    "log": (layers.log, np.log),
    "logsigmoid": (layers.logsigmoid, lambda x: np.log(sigmoid(x))),
    "reciprocal": (layers.reciprocal, lambda x: 1 / x),
    "relu": (layers.relu, lambda x: np.maximum(x, 0)),
    "relu6": (layers.relu6, lambda x: np.clip(x, 0, 6)),
    "round": (layers.round, np.round),
    "rsqrt": (layers.rsqrt, lambda x: 1 / np.sqrt(x)),
    "sigmoid": (layers.sigmoid, sigmoid),
    "sign": (layers.sign, np.sign),
    "sin": (layers.sin, np.sin),
    "sinh": (layers.sinh, np.sinh),
    "softplus": (layers.softplus, lambda x: np.log1p(np.exp(x))),
    "softsign": (layers.softsign, lambda x: x / (1 + np.abs(x))),
    "sqrt": (layers.sqrt, np.sqrt),
    "square": (layers.square, np.square),
    "swish": (layers.swish, lambda x: x * sigmoid(x)),
    "tanh": (layers.tanh, np.tanh),
    "tanh_shrink": (layers.tanh_shrink, lambda x: x - np.tanh(x)),
    "brelu": (lambda x: layers.brelu(x, 0.3, 0.5), lambda x: np.clip(x, 0.3, 0.5)),
    "clip": (lambda x: layers.clip(x, min=0.3, max=0.5), lambda x: np.clip(x, 0.3, 0.5)),
    "elu": (lambda x: layers.elu(layers.scale(x, -1.0), alpha=2.0), lambda x: 2 * (np.exp(-x) - 1)),
    "hard_sigmoid": (lambda x: layers.hard_sigmoid(x, slope=0.5), lambda x: np.clip(0.5 * x + 0.5, 0, 1)),
    "hard_swish": (layers.hard_swish, lambda x: x * (x + 3) / 6),
    "leaky_relu": (lambda x: layers.leaky_relu(layers.scale(x, -1.0)), lambda x: -0.02 * x),
    "pow": (lambda x: layers.pow(x, factor=2.0), np.square),
    "softmax": (lambda x: layers.softmax(x, use_cudnn=True), softmax),
    "softmax_axis": (lambda x: layers.softmax(x, axis=0), lambda x: softmax(x.T).T),
    "thresholded_relu": (lambda x: layers.thresholded_relu(x, 0.5), lambda x: np.where(x > 0.5, x, 0)),
    "gelu": (
        lambda x: layers.gelu(x, approximate=True),
        lambda x: 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3))),
    ),
    "scale": (lambda x: layers.scale(x, 2.0, 1.0, act="relu"), lambda x: 2 * x + 1),
    "scale_first": (lambda x: layers.scale(x, scale=2.0, bias=1.0, bias_after_scale=False), lambda x: 2 * (x + 1)),
    "concat": (lambda x: layers.concat([x, x], axis=1), lambda x: np.concatenate([x, x], 1)),
    "concat_one": (lambda x: layers.concat(x), lambda x: x),
    "expand": (lambda x: layers.expand(x, expand_times=[2, 1]), lambda x: np.tile(x, (2, 1))),
    "stack": (lambda x: layers.stack([x, x], axis=1), lambda x: np.stack([x, x], 1)),
    "sums": (lambda x: layers.sums([x, x, x]), lambda x: 3 * x),
    "sum": (lambda x: layers.sum([x, x]), lambda x: 2 * x),
    "transpose": (lambda x: layers.transpose(x, perm=[1, 0]), np.transpose),
    "unsqueeze": (lambda x: layers.unsqueeze(x, axes=[1]), lambda x: x[:, None]),
    "squeeze": (lambda x: layers.squeeze(layers.unsqueeze(x, axes=[1]), axes=[1]), lambda x: x),
    "reverse": (lambda x: layers.reverse(x, axis=[1]), lambda x: x[:, ::-1]),
    "shape": (layers.shape, lambda x: np.array(x.shape, "int32")),
    "slice": (lambda x: layers.slice(x, axes=[1], starts=[1], ends=[3]), lambda x: x[:, 1:3]),
    "argmax": (lambda x: layers.argmax(x, axis=1), lambda x: x.argmax(1)),
    "argmin": (lambda x: layers.argmin(x, axis=1), lambda x: x.argmin(1)),
    "cast": (lambda x: layers.cast(x, "float64"), lambda x: x.astype("float64")),
    "assign": (layers.assign, lambda x: x),
    "ones_like": (layers.ones_like, np.ones_like),
    "zeros_like": (layers.zeros_like, np.zeros_like),
    "mean": (layers.mean, lambda x: x.mean(keepdims=True).reshape(1)),
    "reduce_sum": (layers.reduce_sum, lambda x: x.sum().reshape(1)),
    "reduce_mean": (layers.reduce_mean, lambda x: x.mean().reshape(1)),
    "reduce_max": (layers.reduce_max, lambda x: x.max().reshape(1)),
    "reduce_min": (layers.reduce_min, lambda x: x.min().reshape(1)),
    "reduce_prod": (layers.reduce_prod, lambda x: x.prod().reshape(1)),
    "reduce_dim": (lambda x: layers.reduce_sum(x, dim=1), lambda x: x.sum(1)),
    "reduce_keep": (lambda x: layers.reduce_sum(x, dim=[-1], keep_dim=True), lambda x: x.sum(1, keepdims=True)),
    "reduce_both": (lambda x: layers.reduce_mean(x, dim=[0, -1]), lambda x: x.mean().reshape(1)),
    "reduce_all_keep": (lambda x: layers.reduce_max(x, keep_dim=True), lambda x: x.max(keepdims=True)),
    "flatten": (lambda x: layers.flatten(layers.unsqueeze(x, axes=[0]), axis=2), lambda x: x),
    "flatten_rows": (lambda x: layers.flatten(x, axis=0), lambda x: x.reshape(1, 6)),
    "reshape": (lambda x: layers.reshape(x, shape=[-1, 2], inplace=True), lambda x: x.reshape(3, 2)),
    "reshape_act": (lambda x: layers.reshape(x, [3, 2], act="tanh"), lambda x: np.tanh(x.reshape(3, 2))),
    "dropout_test": (lambda x: layers.dropout(x, 0.25, is_test=True), lambda x: 0.75 * x),
    "dropout_upscale_test": (
        lambda x: layers.dropout(x, 0.25, is_test=True, dropout_implementation="upscale_in_train"),
        lambda x: x,
    ),
}

TWO: dict[str, tuple[Callable[..., Any], Callable[..., np.ndarray]]] = {
    "add": (layers.elementwise_add, np.add),
    "sub": (layers.elementwise_sub, np.subtract),
    "mul": (layers.elementwise_mul, np.multiply),
    "div": (layers.elementwise_div, np.divide),
    "max": (layers.elementwise_max, np.maximum),
    "min": (layers.elementwise_min, np.minimum),
    "pow": (layers.elementwise_pow, np.power),
    "act": (lambda x, y: layers.elementwise_sub(x, y, act="relu"), lambda x, y: np.maximum(x - y, 0)),
    "equal": (layers.equal, np.equal),
    "not_equal": (layers.not_equal, np.not_equal),
    "less_than": (layers.less_than, np.less),
    "less_equal": (layers.less_equal, np.less_equal),
    "greater_than": (layers.greater_than, np.greater),
    "greater_equal": (layers.greater_equal, np.greater_equal),
    "square_error_cost": (layers.square_error_cost, lambda x, y: (x - y) ** 2),
    "matmul": (lambda x, y: layers.matmul(x, y, transpose_y=True, alpha=2.0), lambda x, y: 2 * x @ y.T),
    "matmul_left": (lambda x, y: layers.matmul(x, y, transpose_x=True), lambda x, y: x.T @ y),
    "sigmoid_cross_entropy_with_logits": (
        layers.sigmoid_cross_entropy_with_logits,
        lambda x, y: np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x))),
    ),
    "soft_cross_entropy": (
        lambda x, y: layers.cross_entropy(x, y, soft_label=True),
        lambda x, y: -(y * np.log(x)).sum(1, keepdims=True),
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_a_layer_of_one_tensor(name: str) -> None:
    layer, expected = ONE[name]
    (result,) = run(layer, X)
    wanted = expected(X)
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TWO)
def test_a_layer_of_two_tensors(name: str) -> None:
    layer, expected = TWO[name]
    (result,) = run(layer, X, Y)
    wanted = expected(X, Y)
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=1e-5, atol=1e-6)


def test_integer_arithmetic() -> None:
    a, b = np.array([7, 8], "int64"), np.array([2, 3], "int64")
    mod, floordiv = run(lambda x, y: [layers.elementwise_mod(x, y), layers.elementwise_floordiv(x, y)], a, b)
    assert (mod.tolist(), floordiv.tolist()) == ([1, 2], [3, 2])


def test_an_axis_places_the_second_operand() -> None:
    (result,) = run(lambda x, y: layers.elementwise_add(x, y, axis=0), CUBE, X[:, 0].copy())
    np.testing.assert_allclose(result, CUBE + X[:, 0][:, None, None], rtol=1e-6)


def test_mul_flattens_both_sides() -> None:
    (result,) = run(lambda x, y: layers.mul(x, y, x_num_col_dims=2), CUBE, np.eye(4, 5, dtype="float32"))
    np.testing.assert_allclose(result, CUBE @ np.eye(4, 5), rtol=1e-6)


def test_logic() -> None:
    both, either, one, negated = run(
        lambda x, y: [
            layers.logical_and(x, y),
            layers.logical_or(x, y),
            layers.logical_xor(x, y),
            layers.logical_not(x),
        ],
        MASK,
        ~MASK[::-1],
    )
    other = ~MASK[::-1]
    for result, wanted in zip(
        (both, either, one, negated), (MASK & other, MASK | other, MASK ^ other, ~MASK), strict=True
    ):
        np.testing.assert_array_equal(result, wanted)


def test_a_comparison_may_write_a_given_variable() -> None:
    x = layers.data("x", [3])
    cond = layers.create_tensor("bool")
    assert layers.less_than(x, x, cond=cond) is cond
    assert layers.less_than(x, x, force_cpu=True).op.attr("force_cpu") is True


def test_split_and_unstack() -> None:
    parts = run(lambda x: layers.split(x, num_or_sections=[1, 3], dim=-1), CUBE)
    for part, wanted in zip(parts, np.split(CUBE, [1], -1), strict=True):
        np.testing.assert_array_equal(part, wanted)
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        for part, wanted in zip(run(lambda x: layers.unstack(x, axis=1), CUBE), CUBE.transpose(1, 0, 2), strict=True):
            np.testing.assert_array_equal(part, wanted)


def test_topk_and_argsort() -> None:
    values, places = run(lambda x: layers.topk(x, k=2), CUBE)
    np.testing.assert_array_equal(values, -np.sort(-CUBE, -1)[..., :2])
    np.testing.assert_array_equal(np.take_along_axis(CUBE, places, -1), values)
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        values, places = run(lambda x: layers.argsort(x, axis=1, descending=True), CUBE)
        np.testing.assert_array_equal(values, -np.sort(-CUBE, 1))
        np.testing.assert_array_equal(np.take_along_axis(CUBE, places, 1), values)


def test_gather_and_scatter() -> None:
    rows = np.array([1, 1, 0], "int64")
    (result,) = run(lambda x, i: layers.gather(x, i), X, rows)
    np.testing.assert_array_equal(result, X[rows])
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        (result,) = run(lambda x, i: layers.gather_nd(x, i), X, np.array([[1, 2], [0, 0]], "int64"))
        np.testing.assert_array_equal(result, [X[1, 2], X[0, 0]])
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        (result,) = run(lambda x, i, u: layers.scatter(x, i, u), X, np.array([1], "int64"), Y[:1])
        np.testing.assert_array_equal(result, [X[0], Y[0]])


def test_new_tensors() -> None:
    arrays = run(
        lambda: [
            layers.fill_constant([2, 3], "float32", 0.5),
            layers.zeros([2], "int64"),
            layers.ones(shape=[2], dtype="float32", force_cpu=True),
            layers.assign(np.array([[1.5, 2.5]], "float32")),
            layers.linspace(0.0, 1.0, 3, "float32"),
            layers.range(1, 7, 2, "int64"),
        ]
    )
    assert [m.tolist() for m in arrays] == [[[0.5] * 3] * 2, [0, 0], [1, 1], [[1.5, 2.5]], [0, 0.5, 1], [1, 3, 5]]
    assert layers.fill_constant([1], "int64", 3).stop_gradient


def test_fill_constant_writes_a_given_variable() -> None:
    out = layers.create_tensor("float32")
    assert layers.fill_constant([2], "float32", 1.0, out=out) is out
    assert out.shape == (2,)


def test_reshape_by_a_tensor() -> None:
    wanted = np.array([3, 2], "int32")
    x = paddle.static.data("x", [2, 3])
    shape = paddle.static.data("shape", [2], "int32")
    out = layers.reshape(x, [-1, 2], actual_shape=shape)
    (value,) = fluid.Executor().run(feed={"x": X, "shape": wanted}, fetch_list=[out])
    np.testing.assert_array_equal(value, X.reshape(3, 2))


# -- layers with parameters, and losses -----------------------------------------------------------------------------


def test_fc_takes_the_old_names() -> None:
    x = layers.data("x", [3, 2])
    out = layers.fc(
        input=[x, x], size=4, num_flatten_dims=2, param_attr=fluid.ParamAttr(name="w"), bias_attr=False, act="tanh"
    )
    assert out.shape == (-1, 3, 4)
    assert [p.name for p in fluid.default_main_program().all_parameters()] == ["w"]


def test_embedding_drops_the_last_dimension_of_the_ids() -> None:
    (result,) = run(lambda i: layers.embedding(i, size=[5, 4], param_attr="table", padding_idx=0), IDS)
    table = np.array(fluid.global_scope().find_var("table").get_tensor())
    np.testing.assert_array_equal(result, [table[2], np.zeros(4)])
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        ids = fluid.data("ids", [None, 7], "int64")
        assert layers.embedding(ids, [5, 4]).shape == (-1, 7, 4)
        assert fluid.embedding(fluid.data("more", [None, 1], "int64"), [5, 4]).shape == (-1, 1, 4)


def test_one_hot() -> None:
    (result,) = run(lambda i: layers.one_hot(i, depth=3), IDS)
    np.testing.assert_array_equal(result, np.eye(3)[[2, 0]])


def test_pool2d() -> None:
    windows = IMAGE.reshape(2, 3, 2, 2, 2, 2)
    largest, average, everywhere = run(
        lambda x: [
            layers.pool2d(input=x, pool_size=2, pool_type="max", pool_stride=2),
            layers.pool2d(x, 2, "avg", 2),
            layers.pool2d(x, pool_type="avg", global_pooling=True),
        ],
        IMAGE,
    )
    np.testing.assert_allclose(largest, windows.max((3, 5)), rtol=1e-6)
    np.testing.assert_allclose(average, windows.mean((3, 5)), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(everywhere, IMAGE.mean((2, 3), keepdims=True), rtol=1e-4, atol=1e-6)


def test_images() -> None:
    x = layers.data("x", [3, 8, 8])
    h = layers.conv2d(input=x, num_filters=4, filter_size=3, padding=1, act="relu")
    h = layers.batch_norm(input=h, act="relu")
    h = layers.layer_norm(layers.pool2d(h, 2, "max", 2), begin_norm_axis=1)
    assert h.shape == (-1, 4, 4, 4)
    loss = layers.mean(layers.fc(h, 2))
    names = [p.name for p, _ in fluid.backward.append_backward(loss)]
    assert names == [p.name for p in fluid.default_main_program().all_parameters() if p.trainable]


def test_dropout_scales_down_when_testing_by_default() -> None:
    x = layers.data("x", [100])
    out = layers.dropout(x, dropout_prob=0.5, seed=3)
    op = out.op
    assert (op.attr("dropout_implementation"), op.attr("seed"), op.attr("fix_seed")) == ("downgrade_in_infer", 3, True)
    first, second = (
        fluid.Executor().run(feed={"x": np.ones((2, 100), "float32")}, fetch_list=[out])[0] for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)
    assert set(np.unique(first)) == {0.0, 1.0}


def test_cross_entropy_of_probabilities() -> None:
    probabilities = softmax(X)
    (result,) = run(layers.cross_entropy, probabilities, LABEL)
    np.testing.assert_allclose(result, -np.log(np.take_along_axis(probabilities, LABEL, 1)), rtol=1e-5)
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        (result,) = run(lambda p, i: layers.cross_entropy(p, i, ignore_index=1), probabilities, LABEL)
        assert result[1] == 0


def test_softmax_with_cross_entropy() -> None:
    loss, probabilities = run(
        lambda x, i: layers.softmax_with_cross_entropy(logits=x, label=i, return_softmax=True), X, LABEL
    )
    np.testing.assert_allclose(probabilities, softmax(X), rtol=1e-5)
    np.testing.assert_allclose(loss, -np.log(np.take_along_axis(softmax(X), LABEL, 1)), rtol=1e-5)
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        (alone,) = run(lambda x, i: layers.softmax_with_cross_entropy(x, i), X, LABEL)
        np.testing.assert_array_equal(alone, loss)


def test_prelu() -> None:
    (result,) = run(lambda x: layers.prelu(layers.scale(x, -1.0), mode="all"), X)
    np.testing.assert_allclose(result, -0.25 * X, rtol=1e-6)


@pytest.mark.parametrize(
    "loss",
    [layers.mean, layers.reduce_mean, layers.reduce_sum],
    ids=["mean", "reduce_mean", "reduce_sum"],
)
def test_a_loss_of_one_element_has_gradients(loss: Callable[[Variable], Variable]) -> None:
    x = layers.data("x", [3])
    x.stop_gradient = False
    total = loss(layers.square(x))
    assert total.shape == (1,)
    fluid.backward.append_backward(total)
    value, slope = fluid.Executor().run(feed={"x": X}, fetch_list=[total, "x@GRAD"])
    scale = X.size if loss is not layers.reduce_sum else 1
    np.testing.assert_allclose(value, [(X**2).sum() / scale], rtol=1e-5)
    np.testing.assert_allclose(slope, 2 * X / scale, rtol=1e-5)


def test_mean_is_the_operator_of_that_name() -> None:
    x = layers.data("x", [3], stop_gradient=False)
    loss = layers.mean(layers.square(x))
    assert (loss.name, loss.op.type) == ("mean_0.tmp_0", "mean")
    fluid.backward.append_backward(loss)
    assert [o.type for o in loss.block.ops] == ["square", "mean", "fill_constant", "mean_grad", "square_grad"]


# -- data and names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ({"shape": [13]}, (-1, 13)),
        ({"shape": []}, (-1,)),
        ({"shape": [3, 4], "append_batch_size": False}, (3, 4)),
        ({"shape": [-1, 4]}, (-1, 4)),
        ({"shape": [None, 4]}, (-1, 4)),
        ({"shape": [4, -1]}, (4, -1)),
    ],
)
def test_data_puts_a_batch_dimension_in_front(arguments: dict[str, Any], shape: tuple[int, ...]) -> None:
    x = layers.data(name="x", dtype="float32", **arguments)
    assert (x.shape, x.is_data, x.stop_gradient) == (shape, True, True)
    assert not layers.data(name="y", stop_gradient=False, **arguments).stop_gradient


def test_fluid_data_does_not() -> None:
    assert fluid.data("x", [None, 13]).shape == (-1, 13)
    assert fluid.data("y", [13]).shape == (13,)


def test_results_are_named_after_their_layer() -> None:
    x = layers.data("x", [3])
    assert layers.relu(x).name == "relu_0.tmp_0"
    assert layers.relu(x, name="mine").name == "mine.tmp_0"
    assert layers.elementwise_add(x, x).name == "elementwise_add_0.tmp_0"
    assert layers.elementwise_add(x, x, name="sum_of_two").name == "sum_of_two"
    assert layers.elementwise_add(x, x, act="relu").name == "elementwise_add_1.tmp_1"
    assert layers.transpose(x, [1, 0]).name == "transpose_0.tmp_0"
    assert layers.reduce_sum(x, dim=1).name == "reduce_sum_0.tmp_0"
    assert layers.reduce_sum(x).name == "reduce_sum_1.tmp_0"
    assert layers.concat([x, x]).name == "concat_0.tmp_0"
    assert layers.topk(x, 1)[0].name == "top_k_0.tmp_0"


@pytest.mark.parametrize(
    ("call", "about"),
    [
        (lambda x: layers.relu(x, None, 3), "at most 2 arguments"),
        (lambda x: layers.relu(x, x=x), "received 'x' twice"),
        (lambda x: layers.relu(x, axis=1), "has no argument 'axis'"),
        (lambda x: layers.relu(), "misses the argument 'x'"),
        (lambda x: layers.relu(X), "must be a Variable"),
        (lambda x: layers.mean("x"), "must be a Variable, but received str"),
        (lambda x: layers.leaky_relu(x, alfa=1.0), "did you mean 'alpha'"),
        (lambda x: layers.leaky_relu(x, alpha="a"), "must be float"),
    ],
)
def test_wrong_arguments(call: Callable[[Variable], Any], about: str) -> None:
    x = layers.data("x", [3])
    with pytest.raises(TypeError, match=about):
        call(x)


@pytest.mark.parametrize(
    ("call", "about"),
    [
        (lambda x: layers.pool2d(x, 2, "sum"), "'max' or 'avg'"),
        (lambda x: layers.pool2d(x), "pool_size must be given"),
        (lambda x: layers.dropout(x, 1.5), "between 0 and 1"),
        (lambda x: layers.dropout(x, 0.5, dropout_implementation="none"), "'none'"),
        (lambda x: layers.flatten(x, 9), "axis must be between"),
        (lambda x: layers.flatten(fluid.data("u", [None, None, None]), 1), "neither side"),
    ],
)
def test_impossible_arguments(call: Callable[[Variable], Any], about: str) -> None:
    x = layers.data("x", [3, 4, 4])
    with pytest.raises(ValueError, match=about):
        call(x)


def test_layers_compute_at_once_in_dynamic_mode() -> None:
    x = layers.data("x", [3])
    with fluid.dygraph.guard():
        w = paddle.to_tensor([[0.5, -2.0]], stop_gradient=False)
        loss = layers.mean(layers.relu(w) + layers.fill_constant([1], "float32", 1))
        loss.backward()
        assert (loss.shape, loss.item(), w.grad.tolist()) == ([1], 1.25, [[0.5, 0.0]])
        for call in (lambda: layers.relu(x), lambda: layers.mean(x), lambda: layers.fc(x, 2)):
            with pytest.raises(AssertionError, match="dynamic mode"):
                call()
    assert layers.relu(x).shape == (-1, 3)


def test_every_row_of_the_table_stands() -> None:
    for name, row in ROWS.items():
        layer = getattr(layers, name)
        assert layer.__name__ == name
        assert layer.__doc__.startswith(f"{name}(")
        if isinstance(row, OperatorLayer):
            assert registry.find(row.type) is not None
    assert set(ROWS) < set(dir(layers))


def test_a_layer_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match=r"paddle\.fluid\.layers\.leaky_rellu is not implemented.*\n.*leaky_relu"):
        _ = layers.leaky_rellu
