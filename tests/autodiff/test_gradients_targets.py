"""Several, dependent and repeated targets, and gradients given to start from."""

from __future__ import annotations

import numpy as np

from gradtool import paddle
from gradtool.engine.autodiff.gradients import calc_gradient
from tests.autodiff.nets import backward_ops, check_by_differences, data, main, names, numbers, op, run


def test_several_targets_add_up() -> None:
    x = data("x", 3)
    first, second = op("tanh", x), op("exp", x)
    (gradient,) = paddle.static.gradients([first, second], x)
    value = numbers(3)
    np.testing.assert_allclose(run([gradient], {"x": value})[0], 1 - np.tanh(value) ** 2 + np.exp(value))


def test_a_target_computed_from_another() -> None:
    """``z = 2y``, ``y = x``: the gradient of z and y together is 3, of which Paddle gives 2."""
    x = data("x", 2)
    y = op("scale", x)
    z = op("scale", y, scale=2.0)
    for targets in ([z, y], [y, z]):
        (gradient,) = paddle.static.gradients(targets, x)
        np.testing.assert_array_equal(run([gradient], {"x": numbers(2)})[0], [3.0, 3.0])


def test_a_target_named_twice_counts_twice() -> None:
    x = data("x", 2)
    y = op("exp", x)
    (gradient,) = paddle.static.gradients([y, y], x)
    value = numbers(2)
    np.testing.assert_allclose(run([gradient], {"x": value})[0], 2 * np.exp(value))


def test_a_target_among_the_inputs() -> None:
    x = data("x", 2)
    y = op("exp", x)
    result = paddle.static.gradients(y, [y, x])
    assert names(result) == [f"{y.name}@GRAD", "x@GRAD"]
    value = numbers(2)
    got = run(result, {"x": value})
    np.testing.assert_array_equal(got[0], [1.0, 1.0])
    np.testing.assert_allclose(got[1], np.exp(value))


def test_the_seed_has_the_shape_of_the_target() -> None:
    x = data("x", -1, 3)
    (gradient,) = paddle.static.gradients(op("exp", x), x)
    seed = backward_ops()[0]
    assert (seed.type, seed.attr("value"), seed.attr("dtype"), seed.attr("op_role")) == ("fill_any_like", 1.0, 6, 1)
    value = numbers(4, 3)
    np.testing.assert_allclose(run([gradient], {"x": value})[0], np.exp(value))


def test_given_and_default_target_gradients() -> None:
    x, dy = data("x", 3), data("dy", 3)
    first, second = op("tanh", x), op("exp", x)
    (gradient,) = paddle.static.gradients([first, second], x, [dy, None])
    assert any(o.input("Out@GRAD") == ["dy"] for o in backward_ops() if o.type == "tanh_grad")
    value, start = numbers(3), numbers(3, seed=1)
    got = run([gradient], {"x": value, "dy": start})[0]
    np.testing.assert_allclose(got, start * (1 - np.tanh(value) ** 2) + np.exp(value))


def test_one_target_gradient_without_a_list() -> None:
    x, dy = data("x", 3), data("dy", 3)
    (gradient,) = paddle.static.gradients(op("exp", x), x, dy)
    value, start = numbers(3), numbers(3, seed=1)
    np.testing.assert_allclose(run([gradient], {"x": value, "dy": start})[0], start * np.exp(value))


def test_two_gradients_given_for_one_target() -> None:
    x, a, b = data("x", 3), data("a", 3), data("b", 3)
    y = op("exp", x)
    (gradient,) = paddle.static.gradients([y, y], x, [a, b])
    feed = {"x": numbers(3), "a": numbers(3, seed=1), "b": numbers(3, seed=2)}
    np.testing.assert_allclose(run([gradient], feed)[0], (feed["a"] + feed["b"]) * np.exp(feed["x"]))


def test_no_pairs_are_noted() -> None:
    w = paddle.static.create_parameter([3], "float64", name="w")
    paddle.static.gradients(op("exp", w), w)
    assert all(o.attr("op_role_var") == [] for o in main().global_block().ops)


def test_calc_gradient_unpacks_a_single_result() -> None:
    x, other = data("x", 3), data("other", 3)
    y = op("exp", x)
    assert calc_gradient(y, x).name == "x@GRAD"
    assert calc_gradient(y, other) is None
    assert names(calc_gradient(y, [x, other])) == ["x@GRAD", None]


def test_inputs_in_the_middle_and_at_the_start() -> None:
    x, z = data("x", 3), data("z", 3)
    hidden = op("elementwise_mul", x, z)
    y = op("elementwise_add", op("tanh", hidden), x)
    by_hidden, by_x, by_z = paddle.static.gradients(y, [hidden, x, z])
    feed = {"x": numbers(3), "z": numbers(3, seed=1)}
    got = run([by_hidden, by_x, by_z], feed)
    np.testing.assert_allclose(got[0], 1 - np.tanh(feed["x"] * feed["z"]) ** 2)
    check_by_differences(y, feed, {"x": got[1], "z": got[2]})
