"""Operators and methods of static variables: which operators they append, what the results are called and hold."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

X = np.array([[0.5, -1.5, 2.0], [1.0, 3.0, -0.5]], "float32")
Y = np.array([[2.0, 0.5, -1.0], [1.0, -2.0, 4.0]], "float32")

EXPRESSIONS: list[tuple[str, str, str]] = [
    ("x + y", "elementwise_add", "tmp_0"),
    ("x - y", "elementwise_sub", "tmp_0"),
    ("x * y", "elementwise_mul", "tmp_0"),
    ("x / y", "elementwise_div", "tmp_0"),
    ("x % y", "elementwise_mod", "tmp_0"),
    ("x // y", "elementwise_floordiv", "tmp_0"),
    ("x + 1", "scale", "tmp_0"),
    ("1 + x", "scale", "tmp_0"),
    ("x - 1.5", "scale", "tmp_0"),
    ("1 - x", "scale", "tmp_0"),
    ("x * 2", "scale", "tmp_0"),
    ("2 * x", "scale", "tmp_0"),
    ("x / 2", "scale", "tmp_0"),
    ("-x", "scale", "tmp_0"),
    ("2 / x", "fill_constant elementwise_div", "tmp_1"),
    ("x ** 2", "fill_constant elementwise_pow", "tmp_1"),
    ("2 ** x", "fill_constant elementwise_pow", "tmp_1"),
    ("x % 2", "fill_constant elementwise_mod", "tmp_1"),
    ("2 % x", "fill_constant elementwise_mod", "tmp_1"),
    ("x // 2", "fill_constant elementwise_floordiv", "tmp_1"),
    ("x > 0", "fill_constant greater_than", "tmp_1"),
    ("x >= 1.0", "fill_constant greater_equal", "tmp_1"),
    ("x < y", "less_than", "tmp_0"),
    ("x <= y", "less_equal", "tmp_0"),
    ("x == y", "equal", "tmp_0"),
    ("x != 1.0", "fill_constant not_equal", "tmp_1"),
    ("x + np.float32(2)", "fill_constant elementwise_add", "tmp_1"),
    ("np.float32(2) * x", "scale", "tmp_0"),
    ("x @ y.T", "transpose2 matmul_v2", "tmp_0"),
    ("x.T", "transpose2", "x.tmp_0"),
    ("(x > 0) & (y > 0)", "fill_constant greater_than fill_constant greater_than bitwise_and", "bitwise_and_0.tmp_0"),
    ("~(x > y)", "greater_than bitwise_not", "bitwise_not_0.tmp_0"),
]


def declared() -> tuple[Any, Any]:
    return paddle.static.data("x", [2, 3]), paddle.static.data("y", [2, 3])


def types() -> list[str]:
    return [o.type for o in paddle.static.default_main_program().global_block().ops]


def run(*fetch: Any) -> list[np.ndarray]:
    return paddle.static.Executor().run(feed={"x": X, "y": Y}, fetch_list=list(fetch))


@pytest.mark.parametrize(("expression", "operators", "name"), EXPRESSIONS, ids=[e[0] for e in EXPRESSIONS])
def test_operators(expression: str, operators: str, name: str) -> None:
    x, y = declared()
    variable = eval(expression, {"x": x, "y": y, "np": np})
    assert types() == operators.split()
    assert variable.name == name
    expected = eval(expression, {"x": X, "y": Y, "np": np})
    (result,) = run(variable)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-6)


@pytest.mark.parametrize("operate", [operator.truediv, operator.pow, operator.sub])
def test_a_number_on_the_left_takes_an_unknown_batch(operate: Callable[[Any, Any], Any]) -> None:
    x = paddle.static.data("x", [-1, 3])
    variable = operate(2, x)
    assert variable.shape == (-1, 3)
    (result,) = paddle.static.Executor().run(feed={"x": np.abs(X)}, fetch_list=[variable])
    np.testing.assert_allclose(result, operate(2, np.abs(X)), rtol=1e-6)


@pytest.mark.parametrize(
    ("expression", "dtype", "operators"),
    [
        ("x + 1", "int64", "scale"),
        ("x + 1.5", "float32", "cast scale"),
        ("x / 2", "float32", "cast scale"),
        ("x / x", "float32", "cast cast elementwise_div"),
        ("7 / x", "float32", "cast fill_constant elementwise_div"),
        ("x // 2", "int64", "fill_constant elementwise_floordiv"),
        ("x ** 2", "int64", "fill_constant elementwise_pow"),
        ("x > 0.5", "bool", "cast fill_constant greater_than"),
        ("(x > 2) + 1", "int64", "fill_constant greater_than cast scale"),
    ],
)
def test_whole_numbers(expression: str, dtype: str, operators: str) -> None:
    x = paddle.static.data("x", [3], "int64")
    variable = eval(expression, {"x": x})
    assert variable.dtype.name == dtype
    assert types() == operators.split()
    value = np.array([1, 2, 4])
    (result,) = paddle.static.Executor().run(feed={"x": value}, fetch_list=[variable])
    assert result.dtype == dtype
    np.testing.assert_allclose(result, eval(expression, {"x": value}), rtol=1e-6)


def test_floating_types_meet_in_the_wider_one() -> None:
    x, y = declared()
    variable = x + y.astype("float64")
    assert variable.dtype is paddle.float64
    assert run(variable)[0].dtype == "float64"
    scalar = paddle.full([], 2, "int64")
    assert (scalar * x).dtype is paddle.float32
    assert (x * paddle.full([], 2, "float64")).dtype is paddle.float32


@pytest.mark.parametrize(
    ("expression", "error", "message"),
    [
        ("x + y.astype('int64')", TypeError, "X 'x' is float32 and Y 'tmp_0' is int64"),
        ("x > None", TypeError, "compare variables with None by `is`"),
        ("x == 'a'", TypeError, "takes a Variable or a number, but received str"),
        ("x + [1, 2]", TypeError, "received list"),
        ("np.ones((2, 3), 'float32') + x", TypeError, r"paddle\.assign"),
        ("x % 1j", TypeError, "does not take complex numbers"),
        ("x / 0", ZeroDivisionError, "division by zero"),
        ("float(x)", TypeError, "needs a value"),
        ("len(x)", TypeError, "use its shape attribute"),
        ("x.item()", TypeError, "at most one dimension"),
        ("x.grad", AttributeError, "append_backward returns"),
        ("x.no_such_method()", AttributeError, "no_such_method"),
    ],
)
def test_what_cannot_be_computed(expression: str, error: type[Exception], message: str) -> None:
    x, y = declared()
    with pytest.raises(error, match=message):
        eval(expression, {"x": x, "y": y, "np": np})


def test_variables_are_told_apart_by_identity() -> None:
    x, y = declared()
    assert hash(x) == object.__hash__(x)
    assert {x: 1, y: 2}[x] == 1
    assert len({x, y, x}) == 2
    assert (x, (y,)) in {(x, (y,))}
    assert bool(x)
    assert types() == []  # nothing above compared the variables themselves


def test_gradients_do_not_compare_variables() -> None:
    w = paddle.create_parameter([3], "float32", name="w")
    loss = paddle.mean((w * w + w) * 2)
    before = len(types())
    for _ in range(2):
        paddle.static.append_backward(loss)
        paddle.static.gradients([loss], [w])
    assert not {"equal", "not_equal"} & set(types()[before:])


def test_operators_belong_to_the_program_of_their_variable() -> None:
    elsewhere = paddle.static.Program()
    with paddle.static.program_guard(elsewhere):
        x = paddle.static.data("x", [2, 3])
    variable = x * 2 + x
    assert variable.name == "tmp_1"
    assert [o.type for o in elsewhere.global_block().ops] == ["scale", "elementwise_add"]
    assert types() == []


def test_variables_made_without_any_function_have_operators() -> None:
    program = paddle.static.Program()
    x = program.global_block().create_var("x", [2], "float32")
    assert (x + 1).name == "tmp_0"


@pytest.mark.parametrize(
    ("expression", "operators", "name"),
    [
        ("x.detach()", "share_data", "detach_x_0"),
        ("x.clone()", "assign", "x_clone_0"),
        ("x.clone().clone()", "assign assign", "x_clone_0_clone_0"),
        ("x.size()", "size", "x_size_0"),
        ("x.numel()", "size", "numel_0.tmp_0"),
        ("x.astype('int64')", "cast", "tmp_0"),
        ("x.cast('int64')", "cast", "cast_0.tmp_0"),
        ("x.mean()", "reduce_mean", "mean_0.tmp_0"),
        ("x.reshape([3, 2])", "reshape2", "reshape2_0.tmp_0"),
        ("x.transpose([1, 0])", "transpose2", "transpose_0.tmp_0"),
        ("x.unsqueeze(0)", "unsqueeze2", "unsqueeze2_0.tmp_0"),
        ("x.add(x)", "elementwise_add", "elementwise_add_0"),
        ("x[0].item()", "slice", "x_slice_0"),
        ("+x", "", "x"),
    ],
)
def test_methods(expression: str, operators: str, name: str) -> None:
    with paddle.utils.unique_name.guard():
        x, _ = declared()
        variable = eval(expression, {"x": x})
    assert types() == operators.split()
    assert variable.name == name


def test_detached_and_copied_values_and_gradients() -> None:
    x, _ = declared()
    x.stop_gradient = False
    loss = paddle.mean(x.detach() * x + x.clone())
    (gradient,) = paddle.static.gradients([loss], [x])
    result, gradient = run(loss, gradient)
    np.testing.assert_allclose(result, (X * X + X).mean(), rtol=1e-6)
    np.testing.assert_allclose(gradient, (X + 1) / 6, rtol=1e-6)


def test_numbers_about_a_variable() -> None:
    x, _ = declared()
    assert (x.ndim, x.dim(), x.ndimension(), x.element_size()) == (2, 2, 2, 4)
    assert run(x.size())[0] == 6


def test_in_place_names_make_new_variables() -> None:
    x, y = declared()
    with pytest.warns(UserWarning, match=r"add_\(\) is the same as add\(\)"):
        variable = x.add_(y)
    assert variable is not x
    assert variable.name == "elementwise_add_0"
    result, old = run(variable, x)
    np.testing.assert_allclose(result, X + Y)
    np.testing.assert_allclose(old, X)


def test_iterating_over_a_variable() -> None:
    x, _ = declared()
    first, second = x
    np.testing.assert_allclose(np.stack(run(first, second)), X)
    with pytest.raises(TypeError, match="first dimension is unknown"):
        list(paddle.static.data("z", [-1, 3]))


def test_augmented_assignment_makes_new_variables() -> None:
    x, y = declared()
    z = x
    z += y
    z *= 2
    assert x.name == "x"
    np.testing.assert_allclose(run(z)[0], (X + Y) * 2)
