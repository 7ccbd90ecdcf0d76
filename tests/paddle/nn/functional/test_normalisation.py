"""Normalisation and dropout: values, running statistics, gradients, test form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ShapeError, UsageError

F = paddle.nn.functional


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(sum(shape) + seed).standard_normal(shape)


def fed(name: str, value: np.ndarray) -> Any:
    variable = paddle.static.data(name, list(value.shape), str(value.dtype))
    variable.stop_gradient = value.dtype.kind != "f"
    return variable


def started() -> Any:
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    return executor


def value_of(name: str) -> np.ndarray:
    return np.array(paddle.static.global_scope().find_var(name).get_tensor())


def slots(op: Any) -> dict[str, list[str]]:
    return {n: op.input(n) for n in op.input_names}


def standard(x: np.ndarray, axes: tuple[int, ...], epsilon: float = 1e-5) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


# -- batch normalisation ----------------------------------------------------------------------------------------------


def test_training_moves_the_statistics_of_the_scope() -> None:
    x = normal(6, 3, 2, 2).astype("float32") * 2 + 1
    y = paddle.static.nn.batch_norm(fed("x", x), momentum=0.75)
    executor = started()
    mean, variance = np.zeros(3), np.ones(3)
    for _ in range(2):
        (result,) = executor.run(feed={"x": x}, fetch_list=[y])
        mean = 0.75 * mean + 0.25 * x.mean((0, 2, 3))
        variance = 0.75 * variance + 0.25 * x.var((0, 2, 3))
    np.testing.assert_allclose(result, standard(x, (0, 2, 3)), atol=1e-5)
    np.testing.assert_allclose(value_of("batch_norm_0.w_1"), mean, rtol=1e-5)
    np.testing.assert_allclose(value_of("batch_norm_0.w_2"), variance, rtol=1e-5)


def test_the_copy_for_tests_uses_the_moving_statistics() -> None:
    x = normal(6, 3).astype("float32") * 2 + 1
    y = paddle.static.nn.batch_norm(fed("x", x), momentum=0.5)
    copy = paddle.static.default_main_program().clone(for_test=True)
    executor = started()
    executor.run(feed={"x": x}, fetch_list=[y])
    before = value_of("batch_norm_0.w_1"), value_of("batch_norm_0.w_2")
    (result,) = executor.run(copy, feed={"x": x}, fetch_list=[y.name])
    np.testing.assert_allclose(result, (x - before[0]) / np.sqrt(before[1] + 1e-5), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(value_of("batch_norm_0.w_1"), before[0])


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({}, ["ReserveSpace"]),
        ({"is_test": True}, ["Mean", "Variance"]),
        ({"use_global_stats": True}, ["Mean", "ReserveSpace", "Variance"]),
    ],
)
def test_the_gradient_operator_lists_what_its_form_needs(settings: dict[str, Any], more: list[str]) -> None:
    y = paddle.static.nn.batch_norm(fed("x", normal(4, 3)), **settings)
    paddle.static.append_backward(paddle.mean(y))
    op = paddle.static.default_main_program().global_block().ops[-1]
    assert op.type == "batch_norm_grad"
    always = ["Bias", "MeanOut", "SavedMean", "SavedVariance", "Scale", "VarianceOut", "X", "Y@GRAD"]
    assert list(slots(op)) == sorted([*always, *more])
    assert all(len(v) == 1 for v in slots(op).values())
    assert slots(op)["MeanOut"] == ["batch_norm_0.w_1"]


def test_two_layers_may_share_their_moving_statistics() -> None:
    x = normal(5, 2)
    h = fed("x", x)
    for _ in range(2):
        h = paddle.static.nn.batch_norm(h, moving_mean_name="m", moving_variance_name="v")
    (gradient,) = paddle.static.gradients(
        paddle.mean(h * h * h), paddle.static.default_main_program().block(0).var("x")
    )
    assert not [o for o in paddle.static.default_main_program().block(0).ops if o.type == "assign"]
    (result,) = started().run(feed={"x": x}, fetch_list=[gradient])

    def loss(at: np.ndarray) -> float:
        return float((standard(standard(at, (0,)), (0,)) ** 3).mean())

    direction = normal(5, 2, seed=1)
    numeric = (loss(x + 1e-5 * direction) - loss(x - 1e-5 * direction)) / 2e-5
    assert float((result * direction).sum()) == pytest.approx(numeric, rel=1e-4, abs=1e-9)


def test_the_result_may_overwrite_the_input() -> None:
    x = normal(5, 2)
    h = fed("x", x) * 2.0
    y = paddle.static.nn.batch_norm(h, in_place=True)
    assert y is h
    (gradient,) = paddle.static.gradients(
        paddle.mean(y * y * y), paddle.static.default_main_program().block(0).var("x")
    )
    (result,) = started().run(feed={"x": x}, fetch_list=[gradient])
    direction = normal(5, 2, seed=1)
    numeric = sum(s * float((standard(2 * (x + s * 1e-5 * direction), (0,)) ** 3).mean()) for s in (1, -1)) / 2e-5
    assert float((result * direction).sum()) == pytest.approx(numeric, rel=1e-5)


def test_momentum_may_be_a_variable() -> None:
    x = normal(4, 2).astype("float32")
    y = paddle.static.nn.batch_norm(fed("x", x), momentum=fed("momentum", np.zeros(1, "float32")))
    started().run(feed={"x": x, "momentum": np.array([0.0], "float32")}, fetch_list=[y])
    np.testing.assert_allclose(value_of("batch_norm_0.w_1"), x.mean(0), rtol=1e-5)


def test_test_form_without_scale_has_a_second_derivative_of_zero() -> None:
    x, mean, variance = normal(3, 2), normal(2), np.array([1.0, 4.0])
    vx = fed("x", x)
    y = F.batch_norm(vx, fed("mean", mean), fed("variance", variance))
    (first,) = paddle.static.gradients(y, vx)
    (second,) = paddle.static.gradients(paddle.mean(paddle.square(first)), vx)
    feed = {"x": x, "mean": mean, "variance": variance}
    results = paddle.static.Executor().run(feed=feed, fetch_list=[first])
    np.testing.assert_allclose(results[0], np.broadcast_to(1 / np.sqrt(variance + 1e-5), (3, 2)))
    if second is not None:
        (value,) = paddle.static.Executor().run(feed=feed, fetch_list=[second])
        np.testing.assert_array_equal(value, np.zeros((3, 2)))


# -- the others -------------------------------------------------------------------------------------------------------


def test_layer_norm_scales_every_place() -> None:
    x, w, b = normal(2, 3, 4), normal(12), normal(12, seed=1)
    y = F.layer_norm(fed("x", x), [3, 4], fed("w", w), fed("b", b))
    (result,) = paddle.static.Executor().run(feed={"x": x, "w": w, "b": b}, fetch_list=[y])
    np.testing.assert_allclose(result, standard(x, (1, 2)) * w.reshape(3, 4) + b.reshape(3, 4), atol=1e-12)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_group_norm_without_scale_has_the_right_gradient(data_format: str) -> None:
    x, weights = normal(2, 4, 3, 4), normal(2, 4, 3, 4, seed=1)
    if data_format == "NHWC":
        x, weights = (np.ascontiguousarray(a.transpose(0, 2, 3, 1)) for a in (x, weights))
    vx = fed("x", x)
    y = F.group_norm(vx, 2, data_format=data_format)
    (gradient,) = paddle.static.gradients(paddle.mean(y * fed("weights", weights)), vx)

    def value(at: np.ndarray) -> np.ndarray:
        first = at if data_format == "NCHW" else at.transpose(0, 3, 1, 2)
        out = standard(first.reshape(2, 2, -1), (2,)).reshape(first.shape)
        return out if data_format == "NCHW" else out.transpose(0, 2, 3, 1)

    results = paddle.static.Executor().run(feed={"x": x, "weights": weights}, fetch_list=[y, gradient])
    np.testing.assert_allclose(results[0], value(x), atol=1e-12)
    direction = np.random.default_rng(5).standard_normal(x.shape)
    numeric = sum(s * (value(x + s * 1e-6 * direction) * weights).mean() for s in (1, -1)) / 2e-6
    assert float((results[1] * direction).sum()) == pytest.approx(float(numeric), rel=1e-6)


def test_instance_norm_standardises_every_channel_alone() -> None:
    x, w, b = normal(2, 3, 4, 5), normal(3), normal(3, seed=1)
    y = F.instance_norm(fed("x", x), weight=fed("w", w), bias=fed("b", b))
    (result,) = paddle.static.Executor().run(feed={"x": x, "w": w, "b": b}, fetch_list=[y])
    np.testing.assert_allclose(result, standard(x, (2, 3)) * w[:, None, None] + b[:, None, None], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda x: F.layer_norm(x, 5), r"\[\*, 5\]"),
        (lambda x: F.layer_norm(x, "4"), "normalized_shape"),
        (lambda x: paddle.static.nn.layer_norm(x, begin_norm_axis=7, scale=False, shift=False), "out of range"),
        (lambda x: F.group_norm(x, 3), "into 3 groups"),
        (lambda x: F.group_norm(x, 0), "into 0 groups"),
        (lambda x: F.instance_norm(x, weight=x), "together"),
        (lambda x: F.batch_norm(x, x, x), "channels"),
        (lambda x: F.batch_norm(x, x, x, data_format="CN"), "data_format"),
        (lambda x: paddle.static.nn.batch_norm(x, data_layout="NCL"), "NCHW"),
    ],
)
def test_arguments_of_norms_that_do_not_fit_are_refused(make: Any, said: str) -> None:
    with pytest.raises((UsageError, ShapeError), match=said):
        make(fed("x", normal(2, 4, 3, 3)))


# -- lengths and angles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "axis"), [(2, 1), (3, 0), (1, -1)])
def test_normalize_divides_by_the_norm(p: float, axis: int) -> None:
    x = normal(3, 4)
    y = F.normalize(fed("x", x), p=p, axis=axis)
    assert y.name == "elementwise_div_0"
    (result,) = paddle.static.Executor().run(feed={"x": x}, fetch_list=[y])
    norm = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    np.testing.assert_allclose(result, x / norm, rtol=1e-12)


def test_normalize_leaves_zeros() -> None:
    x = np.zeros((2, 3))
    y = F.normalize(fed("x", x))
    np.testing.assert_array_equal(paddle.static.Executor().run(feed={"x": x}, fetch_list=[y])[0], x)


@pytest.mark.parametrize("width", [4, 1])
def test_cosine_similarity_is_the_cosine(width: int) -> None:
    a, b = normal(3, 4), normal(3, width, seed=1)
    y = F.cosine_similarity(fed("a", a), fed("b", b))
    (result,) = paddle.static.Executor().run(feed={"a": a, "b": b}, fetch_list=[y])
    whole = np.broadcast_to(b, (3, 4))
    expected = (a * whole).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(whole, axis=1)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


# -- dropout ----------------------------------------------------------------------------------------------------------


def dropped(x: np.ndarray, **settings: Any) -> tuple[np.ndarray, np.ndarray]:
    """The result and its gradient for an upstream gradient of ones."""
    vx = fed("x", x)
    y = F.dropout(vx, **settings)
    (gradient,) = paddle.static.gradients(y, vx)
    out, grad = paddle.static.Executor().run(feed={"x": x}, fetch_list=[y, gradient])
    return out, grad


@pytest.mark.parametrize(("mode", "factor"), [("upscale_in_train", 1 / 0.6), ("downscale_in_infer", 1.0)])
def test_dropout_keeps_the_rest_and_its_gradient(mode: str, factor: float) -> None:
    out, gradient = dropped(np.ones((200, 50)), p=0.4, mode=mode)
    mask = out != 0
    np.testing.assert_allclose(out[mask], factor)
    np.testing.assert_array_equal(gradient, out)
    assert 0.57 < mask.mean() < 0.63


@pytest.mark.parametrize(("mode", "factor"), [("upscale_in_train", 1.0), ("downscale_in_infer", 0.6)])
def test_dropout_outside_training_is_the_expectation(mode: str, factor: float) -> None:
    x = normal(3, 4)
    out, gradient = dropped(x, p=0.4, training=False, mode=mode)
    np.testing.assert_allclose(out, x * factor)
    np.testing.assert_allclose(gradient, np.full((3, 4), factor))


def test_dropping_everything_leaves_zeros() -> None:
    out, gradient = dropped(normal(3, 4), p=1.0)
    assert not out.any()
    assert not gradient.any()


def test_dropping_nothing_adds_no_operator() -> None:
    x = fed("x", normal(3, 4))
    assert F.dropout(x, 0) is x


def test_a_seed_of_the_program_repeats_the_mask() -> None:
    x = np.ones((4, 30))
    paddle.static.default_main_program().random_seed = 7
    y = F.dropout(fed("x", x))
    executor = paddle.static.Executor()
    first, again = (executor.run(feed={"x": x}, fetch_list=[y])[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_without_a_seed_every_run_draws_anew_and_paddle_seed_repeats() -> None:
    x = np.ones((4, 30))
    y = F.dropout(fed("x", x))
    executor = paddle.static.Executor()

    def draw() -> np.ndarray:
        return executor.run(feed={"x": x}, fetch_list=[y])[0]  # type: ignore[no-any-return]

    paddle.seed(3)
    first, second = draw(), draw()
    assert (first != second).any()
    paddle.seed(3)
    np.testing.assert_array_equal(first, draw())


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"p": 1.5}, UsageError),
        ({"p": -0.1}, UsageError),
        ({"p": "a"}, TypeError),
        ({"p": 0.3, "mode": "x"}, UsageError),
        ({"p": 0.3, "axis": 7}, UsageError),
        ({"p": 0.3, "axis": "rows"}, TypeError),
    ],
)
def test_arguments_of_dropout_that_do_not_fit_are_refused(settings: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        F.dropout(fed("x", normal(2, 3)), **settings)
