"""Values and gradients where a shortcut gives a wrong one: NaN, zeros, negative bases, no elements, a single row.

Every case runs in both modes.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.paddle._dispatch import apply
from gradtool.paddle.nn import functional as F
from tests.paddle.one_program import variables

Function = Callable[..., Any]
NAN = float("nan")


def dynamic(function: Function, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, Any]]:
    paddle.disable_static()
    tensors = {n: paddle.to_tensor(a, stop_gradient=False) for n, a in arrays.items()}
    out = function(**tensors)
    out.sum().backward()
    return out.numpy(), {n: None if t.grad is None else t.grad.numpy() for n, t in tensors.items()}


def static(function: Function, arrays: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, Any]]:
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        data = variables(arrays)
        out = function(**data)
        grads = dict(zip(data, paddle.static.gradients([out], [*data.values()]), strict=True))
        fetched = [out, *(g for g in grads.values() if g is not None)]
        value, *rest = paddle.static.Executor().run(feed=arrays, fetch_list=fetched)
    gradients = iter(rest)
    return value, {n: None if g is None else next(gradients) for n, g in grads.items()}


both_modes = pytest.mark.parametrize("run", [dynamic, static])
Run = Callable[[Function, dict[str, np.ndarray]], tuple[np.ndarray, dict[str, Any]]]


def differences(function: Function, arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    """The gradient of the sum of *function* by one of its operands, by differences."""
    paddle.disable_static()
    slopes = np.zeros_like(arrays[name])
    for at in np.ndindex(slopes.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = {n: a.copy() for n, a in arrays.items()}
            moved[name][at] += step
            ends.append(function(**{n: paddle.to_tensor(a) for n, a in moved.items()}).numpy().sum())
        slopes[at] = (ends[0] - ends[1]) / 2e-6
    return slopes


# -- layer_norm -------------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("shape", [(1, 3), (1, 1), (1, 2, 3)])
def test_layer_norm_of_one_row_has_its_own_gradient_by_the_scale(run: Run, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(1)
    x, w, b = rng.normal(size=shape), rng.normal(size=shape[-1]), rng.normal(size=shape[-1])
    weights = rng.normal(size=shape)

    def loss(x: Any, w: Any, b: Any) -> Any:
        return F.layer_norm(x, shape[-1:], w, b) * paddle.assign(weights)

    _, grads = run(loss, {"x": x, "w": w, "b": b})
    standard = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    rows = tuple(range(len(shape) - 1))
    np.testing.assert_allclose(grads["w"], (standard * weights).sum(rows), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(grads["b"], weights.sum(rows))
    np.testing.assert_allclose(grads["x"], differences(loss, {"x": x, "w": w, "b": b}, "x"), rtol=1e-4, atol=1e-7)


# -- norms ------------------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("order", [2.0, 3.0, 1.5, 0.5, -1.0, "fro"])
def test_the_gradient_of_a_norm_of_nan_is_nan_everywhere(run: Run, order: Any) -> None:
    value, grads = run(lambda x: paddle.norm(x, order), {"x": np.array([1.0, NAN, 2.0])})
    assert np.isnan(value)
    assert np.isnan(grads["x"]).all()


@both_modes
def test_the_gradient_of_a_matrix_norm_of_nan_is_nan_everywhere(run: Run) -> None:
    _, grads = run(lambda x: paddle.norm(x, "fro", axis=[0, 1]), {"x": np.array([[1.0, NAN], [2.0, 3.0]])})
    assert np.isnan(grads["x"]).all()


@both_modes
@pytest.mark.parametrize("order", [2.0, 3.0, 1.5])
def test_the_gradient_of_a_norm_of_zeros_is_zero(run: Run, order: float) -> None:
    _, grads = run(lambda x: paddle.norm(x, order), {"x": np.zeros(3)})
    np.testing.assert_array_equal(grads["x"], np.zeros(3))


@both_modes
@pytest.mark.parametrize("order", [0.5, -1.0, -0.5])
def test_a_norm_of_an_order_below_one_has_no_gradient_at_zero(run: Run, order: float) -> None:
    """The others' is that of the norm, which is 0 for a negative order."""
    x = np.array([0.0, 1.0, 2.0])
    value, grads = run(lambda x: paddle.norm(x, order), {"x": x})
    assert np.isnan(grads["x"][0])
    np.testing.assert_allclose(grads["x"][1:], value ** (1 - order) * x[1:] ** (order - 1))


@both_modes
def test_a_tensor_clipped_by_its_norm_that_is_nan_has_a_gradient_of_nan(run: Run) -> None:
    def clipped(x: Any) -> Any:
        return apply("clip_by_norm", x, attrs={"max_norm": 1.0})

    value, grads = run(clipped, {"x": np.array([0.1, NAN, 0.2])})
    assert np.isnan(value).all()
    assert np.isnan(grads["x"]).all()


# -- powers and products ----------------------------------------------------------------------------------------------


@both_modes
def test_the_gradient_of_a_power_by_its_exponent(run: Run) -> None:
    """NaN for a negative base, as ln x is; at 0 it is 0, or infinite where the power is."""
    x = np.array([-2.0, -2.0, 0.0, 0.0, 0.0, NAN, 2.0])
    y = np.array([2.0, 0.5, 2.0, 0.0, -1.0, 1.0, 3.0])
    value, grads = run(paddle.pow, {"x": x, "y": y})
    np.testing.assert_array_equal(value, [4.0, NAN, 0.0, 1.0, np.inf, NAN, 8.0])
    np.testing.assert_allclose(grads["x"], [-4.0, NAN, 0.0, 0.0, -np.inf, 1.0, 12.0])
    np.testing.assert_allclose(grads["y"], [NAN, NAN, 0.0, 0.0, -np.inf, NAN, 8 * np.log(2)])


@both_modes
@pytest.mark.parametrize("values", [(0.0, 2.0, 3.0), (0.0, 0.0, 3.0), (0.0, 0.0, 0.0), (-0.0, 2.0, 0.0)])
def test_the_gradient_of_a_product_next_to_zeros(run: Run, values: tuple[float, ...]) -> None:
    for order in sorted({*permutations(values)}):
        x = np.array([order, (1.0, 2.0, 4.0)])
        others = np.stack([np.prod(np.delete(x, i, 1), axis=1) for i in range(3)], axis=1)
        for keepdim in (False, True):
            _, grads = run(lambda x, k=keepdim: paddle.prod(x, axis=1, keepdim=k), {"x": x})
            np.testing.assert_array_equal(grads["x"], others)
        _, grads = run(lambda x: paddle.prod(x, axis=0), {"x": x.T})
        np.testing.assert_array_equal(grads["x"], others.T)
        _, grads = run(paddle.prod, {"x": x})
        total = [np.prod(np.delete(x.ravel(), i)) for i in range(6)]
        np.testing.assert_array_equal(grads["x"].ravel(), total)


@pytest.mark.parametrize("values", [(0.0, 2.0, 3.0), (0.0, 0.0, 3.0), (0.0, 0.0, 0.0)])
def test_the_second_gradient_of_a_product_next_to_zeros(values: tuple[float, ...]) -> None:
    paddle.disable_static()
    x = paddle.to_tensor(np.array(values), stop_gradient=False)
    (first,) = paddle.grad(x.prod(), x, create_graph=True)
    (second,) = paddle.grad(first.sum(), x)
    # Of a·b·c the second derivative by two of them is the third; by one of them twice it is 0.
    a, b, c = values
    np.testing.assert_array_equal(second.numpy(), [b + c, a + c, a + b])


# -- means of nothing -------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("function", [paddle.var, paddle.std])
@pytest.mark.parametrize("unbiased", [True, False])
def test_the_variance_of_nothing_is_nan(run: Run, function: Function, unbiased: bool) -> None:
    for shape, axis, left in (((0,), None, ()), ((0, 3), 0, (3,)), ((3, 0), -1, (3,)), ((0, 3), 1, (0,))):
        value, grads = run(lambda x, a=axis: function(x, axis=a, unbiased=unbiased), {"x": np.zeros(shape)})
        np.testing.assert_array_equal(value, np.full(left, NAN))
        assert grads["x"].shape == shape


# -- labels -----------------------------------------------------------------------------------------------------------

SHARES = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
SCORES = np.array([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]])


@both_modes
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("use_softmax", [True, False])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_weighted_soft_labels_get_their_whole_gradient(
    run: Run, reduction: str, use_softmax: bool, smoothing: float
) -> None:
    def loss(scores: Any, label: Any, w: Any) -> Any:
        options = {"reduction": reduction, "use_softmax": use_softmax, "label_smoothing": smoothing}
        return F.cross_entropy(scores, label, w, soft_label=True, **options)

    arrays = {"scores": SCORES, "label": SHARES, "w": np.array([0.5, 2.0, 1.0])}
    value, grads = run(loss, arrays)
    for name in arrays:
        np.testing.assert_allclose(grads[name], differences(loss, arrays, name), rtol=1e-6, atol=1e-8)

    def of_constant_labels(scores: Any, w: Any) -> Any:
        return loss(scores, paddle.assign(SHARES), w)

    del arrays["label"]
    np.testing.assert_allclose(value, run(of_constant_labels, arrays)[0], rtol=1e-14)


@both_modes
def test_soft_labels_without_weights_are_constants_as_in_paddle(run: Run) -> None:
    _, grads = run(lambda x, y: F.cross_entropy(x, y, soft_label=True), {"x": SCORES, "y": SHARES})
    assert grads["y"] is None
    assert grads["x"] is not None


@both_modes
def test_a_label_of_zero_counts_for_nothing_but_hides_no_nan(run: Run) -> None:
    def loss(x: Any, y: Any) -> Any:
        return F.cross_entropy(x, y, soft_label=True, use_softmax=False, reduction="none")

    scores = np.array([[0.0, 0.3, 0.7], [NAN, 0.3, 0.7]])
    labels = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    value, grads = run(loss, {"x": scores, "y": labels})
    np.testing.assert_allclose(value[:, 0], [-np.log(0.3), NAN])
    np.testing.assert_allclose(grads["x"], [[0, -1 / 0.3, 0], [NAN, -1 / 0.3, 0]])


@both_modes
def test_smoothed_labels_pass_their_gradient_on(run: Run) -> None:
    value, grads = run(lambda y: F.label_smooth(y, epsilon=0.1), {"y": SHARES})
    np.testing.assert_allclose(value, 0.9 * SHARES + 0.1 / 3)
    np.testing.assert_allclose(grads["y"], np.full((2, 3), 0.9))


@both_modes
def test_the_divergence_from_a_target_that_is_nan_is_nan(run: Run) -> None:
    arrays = {"x": np.array([1.0, NAN, 1.0]), "y": np.array([NAN, 1.0, -1.0])}
    value, grads = run(lambda x, y: F.kl_div(x, y, reduction="none"), arrays)
    np.testing.assert_array_equal(value, [NAN, NAN, 0.0])
    np.testing.assert_array_equal(grads["x"], [NAN, -1.0, 0.0])


# -- extremes ---------------------------------------------------------------------------------------------------------


@both_modes
@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("adaptive", [False, True])
def test_the_maximum_of_a_window_with_nan_is_nan_and_its_gradient_goes_there(
    run: Run, with_mask: bool, adaptive: bool
) -> None:
    def pooled(x: Any) -> Any:
        if adaptive:
            out = F.adaptive_max_pool2d(x, 2, return_mask=with_mask)
        else:
            out = F.max_pool2d(x, 2, 1, return_mask=with_mask)
        return out[0] if with_mask else out

    image = np.array([[1.0, 2.0, NAN], [NAN, -np.inf, 3.0], [4.0, 5.0, 6.0]])
    value, grads = run(pooled, {"x": image[None, None]})
    np.testing.assert_array_equal(value[0, 0], [[NAN, NAN], [NAN, 6.0]])
    np.testing.assert_array_equal(grads["x"][0, 0], [[0, 0, 1], [2, 0, 0], [0, 0, 1]])


@both_modes
def test_the_larger_of_nan_and_a_number_is_nan_and_neither_gets_a_gradient(run: Run) -> None:
    for function in (paddle.maximum, paddle.minimum):
        value, grads = run(function, {"x": np.array([NAN, 1.0, 2.0]), "y": np.array([1.0, NAN, 2.0])})
        np.testing.assert_array_equal(value, [NAN, NAN, 2.0])
        for name in ("x", "y"):
            np.testing.assert_array_equal(grads[name], [0.0, 0.0, 0.5])


@both_modes
@pytest.mark.parametrize("function", [F.hardshrink, F.thresholded_relu, F.relu, F.leaky_relu, F.hardswish])
def test_an_activation_of_nan_is_nan(run: Run, function: Function) -> None:
    value, _ = run(function, {"x": np.array([NAN])})
    assert np.isnan(value).all()


@both_modes
def test_the_slope_of_hardswish_at_nan_is_nan(run: Run) -> None:
    _, grads = run(F.hardswish, {"x": np.array([NAN, 0.0])})
    np.testing.assert_array_equal(grads["x"], [NAN, 0.5])


@both_modes
@pytest.mark.parametrize("weight", [None, [0.5, 2.0, 1.5]])
def test_what_belongs_to_a_label_to_ignore_reaches_neither_the_loss_nor_a_gradient(run: Run, weight: Any) -> None:
    """Not even NaN and infinity, which 0 times them would not remove (as in Paddle)."""
    labels = np.array([2, 1, 0, 1])
    x = np.array([[0.1, 0.2, 0.7], [NAN, 0.3, 0.7], [0.5, 0.3, 0.2], [-np.inf, -np.inf, -np.inf]])
    for function in (F.nll_loss, F.cross_entropy):
        for reduction in ("mean", "sum", "none"):

            def loss(x: Any, f: Function = function, r: str = reduction) -> Any:
                w = None if weight is None else paddle.assign(np.array(weight))
                return f(x, paddle.assign(labels), w, ignore_index=1, reduction=r)

            value, grads = run(loss, {"x": x})
            clean, expected = run(loss, {"x": np.where(labels[:, None] == 1, 0.5, x)})
            np.testing.assert_allclose(value, clean)
            np.testing.assert_allclose(grads["x"], expected["x"])
            np.testing.assert_array_equal(grads["x"][[1, 3]], np.zeros((2, 3)))
