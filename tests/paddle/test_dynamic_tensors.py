"""Tensors of dynamic mode: how they print, are made, computed with, indexed and changed in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ModeError, ShapeError, UsageError
from gradtool.engine.eager import backward as sweep

pytestmark = pytest.mark.usefixtures("dynamic")


def T(data: Any, **named: Any) -> Any:
    return paddle.to_tensor(data, **named)


def slope(result: Any, *leaves: Any) -> list[Any]:
    """The gradients of the sum of *result*, as arrays."""
    gradients = sweep.grad([result.sum()], list(leaves), [None], retain_graph=True, create_graph=False)
    return [None if g is None else g.numpy() for g in gradients]


# -- text (what Paddle 3.1.1 prints) ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (2.0, "2."),
        (3, "3"),
        (True, "True"),
        ([1.0, 2.0], "[1., 2.]"),
        ([1.5, -2.25, 1e10], "[ 1.50000000 , -2.25000000 , 10000000000.]"),
        ([1e-8, 1.0], "[0.00000001, 1.        ]"),
        ([[1, 2], [3, 4]], "[[1, 2],\n        [3, 4]]"),
        ([[-1, 20], [3, -4]], "[[-1, 20],\n        [ 3, -4]]"),
        ([True, False], "[True , False]"),
        ([float("nan"), 1.0, float("inf")], "[nan , 1.  , inf.]"),
        ([[0.1, -100.5], [3.0, 2.5]], "[[ 0.10000000  , -100.50000000],\n        [ 3.          ,  2.50000000  ]]"),
        (np.zeros((0,), "float32"), "[]"),
        (np.zeros((2, 0, 3), "float32"), "[[],\n\n        []]"),
        ([1 + 2j, 0.5j], "[(1+2j), 0.5j  ]"),
    ],
)
def test_values_print_as_paddle_prints_them(data: Any, text: str) -> None:
    tensor = T(data)
    head = f"Tensor(shape={tensor.shape}, dtype={tensor.dtype.name}, place=Place(cpu), stop_gradient=True,\n       "
    assert repr(tensor) == str(tensor) == f"{head}{text})"


def test_long_tensors_print_with_their_middle_left_out() -> None:
    assert str(paddle.arange(2000)).endswith("\n       [0   , 1   , 2   , ..., 1997, 1998, 1999])")
    rows = str(paddle.arange(2000, dtype="float32").reshape([40, 50])).splitlines()
    assert rows[1] == "       [[0.   , 1.   , 2.   , ..., 47.  , 48.  , 49.  ],"
    assert rows[4] == "        ...,"
    assert rows[7] == "        [1950., 1951., 1952., ..., 1997., 1998., 1999.]])"


def test_lines_are_broken_at_eighty_columns() -> None:
    lines = str(paddle.arange(30)).splitlines()
    assert lines[1:] == [
        "       [0 , 1 , 2 , 3 , 4 , 5 , 6 , 7 , 8 , 9 , 10, 11, 12, 13, 14, 15, 16, 17,",
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])",
    ]


def test_matrices_of_a_stack_are_set_apart() -> None:
    assert str(paddle.arange(4).reshape([2, 1, 2])).endswith("[[[0, 1]],\n\n        [[2, 3]]])")


# -- making -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "dtype", "shape"),
    [
        (lambda: T(1.0), "float32", []),
        (lambda: T(np.array([1.0])), "float64", [1]),
        (lambda: T(np.float64(1.0)), "float64", []),
        (lambda: T([np.float64(1.0)]), "float32", [1]),
        (lambda: T([1, 2]), "int64", [2]),
        (lambda: T([True]), "bool", [1]),
        (lambda: T([1j]), "complex64", [1]),
        (lambda: T([1, 2], dtype="float16"), "float16", [2]),
        (lambda: T([T(1.0), T(2.0)]), "float32", [2]),
        (lambda: paddle.zeros([2, 3]), "float32", [2, 3]),
        (lambda: paddle.ones([2], "int32"), "int32", [2]),
        (lambda: paddle.full([2], 1), "float32", [2]),
        (lambda: paddle.full([T(2), 3], True), "bool", [2, 3]),
        (lambda: paddle.arange(3), "int64", [3]),
        (lambda: paddle.arange(0, 1, 0.3), "float32", [4]),
        (lambda: paddle.linspace(0, 1, 5), "float32", [5]),
        (lambda: paddle.eye(2, 3), "float32", [2, 3]),
        (lambda: paddle.zeros_like(T([1, 2])), "int64", [2]),
        (lambda: paddle.full_like(T([1.0]), 2, "int32"), "int32", [1]),
        (lambda: paddle.rand([2, 3]), "float32", [2, 3]),
        (lambda: paddle.randn([4]), "float32", [4]),
        (lambda: paddle.normal(0.0, 1.0, [2]), "float32", [2]),
        (lambda: paddle.normal(T([1.0, 2.0, 3.0]), 0.1), "float32", [3]),
        (lambda: paddle.uniform([3], min=0.0, max=1.0), "float32", [3]),
        (lambda: paddle.randint(0, 5, [3]), "int64", [3]),
        (lambda: paddle.randint_like(T([1.0, 2.0]), 0, 3), "float32", [2]),
        (lambda: paddle.randperm(4), "int64", [4]),
        (lambda: paddle.bernoulli(paddle.full([3], 0.5)), "float32", [3]),
        (lambda: paddle.shape(paddle.zeros([2, 3])), "int64", [2]),
        (lambda: paddle.numel(paddle.zeros([2, 3])), "int64", []),
    ],
)
def test_making(make: Any, dtype: str, shape: list[int]) -> None:
    tensor = make()
    assert (tensor.dtype.name, tensor.shape, tensor.stop_gradient, tensor.is_leaf) == (dtype, shape, True, True)
    assert isinstance(tensor, paddle.Tensor)
    assert paddle.is_tensor(tensor)


def test_random_numbers_repeat_after_seed() -> None:
    paddle.seed(7)
    first = paddle.rand([3]).numpy()
    second = paddle.rand([3]).numpy()
    paddle.seed(7)
    np.testing.assert_array_equal(paddle.rand([3]).numpy(), first)
    assert not np.array_equal(first, second)


def test_to_tensor_copies() -> None:
    data = np.zeros(2, "float32")
    tensor = T(data)
    again = T(tensor, stop_gradient=False)
    data[0] = 1
    tensor.fill_(5)
    assert again.tolist() == [0.0, 0.0]
    assert (tensor.stop_gradient, again.stop_gradient, again.is_leaf) == (True, False, True)


@pytest.mark.parametrize(
    "make",
    [
        lambda: T(1.0, dtype="bfloat16"),
        lambda: paddle.ones([1], "bfloat16"),
        lambda: paddle.rand([1], "bfloat16"),
        lambda: T(1.0).astype("bfloat16"),
        lambda: paddle.cast(T(1.0), "bfloat16"),
        lambda: T(np.array([0x3F80], "uint16")),
    ],
)
def test_bfloat16_is_a_type_like_others(make: Any) -> None:
    tensor = make()
    assert tensor.dtype is paddle.bfloat16
    assert tensor.numpy().dtype.name == "bfloat16"
    assert tensor.element_size() == 2
    assert isinstance(tensor.item(), float)


@pytest.mark.parametrize("data", ["a", None, {}, object()])
def test_to_tensor_refuses(data: Any) -> None:
    with pytest.raises(TypeError, match="scalar"):
        T(data)


def test_the_default_dtype_is_that_of_python_floats() -> None:
    paddle.set_default_dtype("float64")
    try:
        assert T(1.0).dtype is paddle.zeros([1]).dtype is paddle.float64
    finally:
        paddle.set_default_dtype("float32")


def test_no_program_is_touched() -> None:
    before = paddle.static.default_main_program()
    count, names = len(before.global_block().ops), before.names.every_count()
    layer = paddle.nn.Linear(2, 3)
    paddle.nn.functional.relu(layer(paddle.ones([1, 2])) * 2 + 1)[0].sum()
    assert paddle.static.default_main_program() is before
    assert (len(before.global_block().ops), before.names.every_count()) == (count, names)


# -- computing --------------------------------------------------------------------------------------------------------

F32, I64, MASK = [1.0, 2.0], [3, -4], [True, False]


@pytest.mark.parametrize(
    ("compute", "dtype", "values"),
    [
        (lambda: T(F32) + 1, "float32", [2, 3]),
        (lambda: T(F32) / 0, "float32", [np.inf, np.inf]),
        (lambda: T([1, -1]) / 0.0, "float32", [np.inf, -np.inf]),
        (lambda: 1 - T(F32), "float32", [0, -1]),
        (lambda: 1 / T(F32), "float32", [1, 0.5]),
        (lambda: T(F32) ** 2, "float32", [1, 4]),
        (lambda: 2 ** T([3, 4]), "int64", [8, 16]),
        (lambda: T([3, 4]) ** 2, "int64", [9, 16]),
        (lambda: T([3, 4]) ** 2.5, "float32", [3**2.5, 32]),
        (lambda: T(I64) * 2, "int64", [6, -8]),
        (lambda: T(I64) * 2.5, "float32", [7.5, -10]),
        (lambda: T(I64) / 2, "float32", [1.5, -2]),
        (lambda: T(I64) / T([2, 2]), "float32", [1.5, -2]),
        (lambda: T(I64) // 2, "int64", [1, -2]),
        (lambda: 5 % T(I64), "int64", [2, -3]),
        (lambda: T(MASK) + 1, "int64", [2, 1]),
        (lambda: T(MASK) * 2.5, "float32", [2.5, 0]),
        (lambda: T(F32) * T(2), "float32", [2, 4]),
        (lambda: T(I64) * T(2.5), "float32", [7.5, -10]),
        (lambda: T(F32) * T(F32, dtype="float64"), "float64", [1, 4]),
        (lambda: T(F32, dtype="float16") + T(F32), "float32", [2, 4]),
        (lambda: T(F32) + np.array([1.0, 2.0]), "float32", [2, 4]),
        (lambda: np.array([1.0, 2.0], "float32") - T(F32), "float32", [0, 0]),
        (lambda: T(F32) == 1, "bool", [True, False]),
        (lambda: T(I64) > 1, "bool", [True, False]),
        (lambda: ~T(MASK), "bool", [False, True]),
        (lambda: T(MASK) & T([True, True]), "bool", [True, False]),
        (lambda: T([[1.0, 2.0]]) @ T([[3.0], [4.0]]), "float32", [[11.0]]),
        (lambda: -T(F32), "float32", [-1, -2]),
        (lambda: abs(T(I64)), "int64", [3, 4]),
        (lambda: T([1, 2], dtype="int32").sum(), "int64", 3),
        (lambda: T(MASK).sum(), "int64", 1),
        (lambda: T(F32).astype("int32"), "int32", [1, 2]),
        (lambda: T([[1, 2], [3, 4]]).T, "int64", [[1, 3], [2, 4]]),
    ],
)
def test_operators_and_dtypes(compute: Any, dtype: str, values: Any) -> None:
    result = compute()
    assert result.dtype.name == dtype
    if values is not None:
        np.testing.assert_allclose(result.numpy(), values, rtol=1e-6)


@pytest.mark.parametrize(
    ("compute", "error", "text"),
    [
        (lambda: T(F32) * T(I64), TypeError, "float32 and Y .* int64"),
        (lambda: T([1], dtype="int32") + T([1]), DtypeError, "int32"),
        (lambda: T(F32) * T(MASK), TypeError, "bool"),
        (lambda: T(F32) + "a", ArgumentTypeError, "takes a Tensor or a number"),
        (lambda: T(F32) < None, TypeError, "by `is`"),
        (lambda: T(F32) - [1, 2], TypeError, "to_tensor"),
        (lambda: T(F32) + T([1.0, 2.0, 3.0]), ShapeError, "elementwise_add"),
        (lambda: paddle.matmul(paddle.ones([2, 3]), paddle.ones([2, 3])), ValueError, "inner dimensions"),
        (lambda: paddle.nn.functional.relu([1.0]), TypeError, "must be a Tensor"),
        (lambda: bool(T(F32)), AssertionError, "one element"),
        (lambda: float(T(F32)), ValueError, "one element"),
        (lambda: len(T(1.0)), AssertionError, "0-D"),
        (lambda: list(T(1.0)), TypeError, "no dimension"),
        (lambda: T(F32).item(), ValueError, "one element"),
        (lambda: paddle.static.nn.fc(T([F32]), 2), ModeError, "enable_static"),
        (lambda: paddle.static.data("x", [2]), ModeError, "enable_static"),
    ],
)
def test_what_cannot_be_computed(compute: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        compute()


def test_tensors_do_not_mix_with_variables_of_programs() -> None:
    tensor = T(F32)
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program()):
        variable = paddle.static.data("x", [2])
        calls = (
            lambda: paddle.add(variable, tensor),
            lambda: variable + tensor,
            lambda: tensor * 2,
            lambda: tensor + tensor,
            lambda: tensor.sum(),
            lambda: tensor[0],
        )
        for mixed in calls:
            with pytest.raises(ModeError, match="tensor of dynamic mode"):
                mixed()
    paddle.disable_static()
    for mixed in (lambda: paddle.add(tensor, variable), lambda: tensor + variable, lambda: T(variable)):
        with pytest.raises(ModeError, match=r"variable 'x' of a static|'x' is a variable of a static"):
            mixed()


def test_conversions_to_python() -> None:
    one = T([2.5])
    assert (float(one), int(one), bool(one), one.item(), T([[1, 2]]).tolist()) == (2.5, 2, True, 2.5, [[1, 2]])
    assert [10, 20, 30][T(1)] == 20
    assert (f"{T(2.5):.3f}", 1.0 in T(F32), 3.0 in T(F32)) == ("2.500", True, False)
    np.testing.assert_array_equal(np.asarray(T(I64)), I64)
    np.testing.assert_allclose(np.tanh(T(F32)), np.tanh(F32), rtol=1e-6)


def test_properties() -> None:
    x = paddle.zeros([2, 3], "float64")
    assert (x.shape, x.ndim, x.dim(), x.size, len(x), x.element_size(), str(x.place)) == (
        [2, 3],
        2,
        2,
        6,
        2,
        8,
        "Place(cpu)",
    )
    assert str(x.dtype) == "paddle.float64"
    assert not x.requires_grad
    assert not x.requires_grad_().stop_gradient
    assert x in [x]
    assert hash(x) == hash(x)


def test_results_need_gradients_when_an_operand_does() -> None:
    x = T(F32, stop_gradient=False)
    y = T(F32)
    assert ((x * y).stop_gradient, (x * y).is_leaf, (y * y).stop_gradient, (y * y).is_leaf) == (
        False,
        False,
        True,
        True,
    )
    with paddle.no_grad():
        assert (x * y).stop_gradient
    assert x.clone().is_leaf is False
    assert x.detach().stop_gradient
    assert (x > 1).stop_gradient


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * x, lambda v: 2 * v),
        (lambda x: 3 - x / 2, lambda v: np.full_like(v, -0.5)),
        (lambda x: 1 / x, lambda v: -1 / v**2),
        (lambda x: x**3, lambda v: 3 * v**2),
        (lambda x: 2**x, lambda v: 2**v * np.log(2)),
        (lambda x: x.exp().log().tanh(), lambda v: 1 / np.cosh(v) ** 2),
        (lambda x: x.clone().reshape([4]).T.unsqueeze(0), np.ones_like),
        (lambda x: paddle.concat([x, x * 2]), lambda v: np.full_like(v, 3)),
        (lambda x: paddle.where(x > 2, x, -x), lambda v: np.where(v > 2, 1, -1)),
        (lambda x: paddle.maximum(x, paddle.full_like(x, 2.5)), lambda v: (v > 2.5) * 1.0),
        (lambda x: x.mean(), lambda v: np.full_like(v, 0.25)),
        (lambda x: x @ x.T, None),
    ],
)
def test_gradients_flow_through_operators_and_methods(function: Any, expected: Any) -> None:
    values = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
    x = T(values, stop_gradient=False)
    (gradient,) = slope(function(x), x)
    if expected is None:
        expected = lambda v: 2 * np.broadcast_to(v.sum(0), v.shape)  # noqa: E731
    np.testing.assert_allclose(gradient, expected(values), rtol=1e-4)


# -- indexing ---------------------------------------------------------------------------------------------------------

INDICES: list[Any] = [
    0,
    -1,
    (slice(None), 1),
    (Ellipsis, 0),
    (slice(None, None, 2), slice(None, None, -1)),
    ([0, 1], [1, 2]),
    np.array([1, 0]),
    (slice(None), [True, False, True, False]),
    (slice(1, 3), slice(-3, -1)),
    [[0, 1], [2, 2]],
]
NEW_DIMENSIONS: list[Any] = [None, (0, None, 2), (None, slice(1, 2), None)]


@pytest.mark.parametrize("index", [*INDICES, *NEW_DIMENSIONS], ids=str)
def test_reading_parts(index: Any) -> None:
    values = np.arange(12, dtype="float32").reshape(3, 4)
    x = T(values, stop_gradient=False)
    part = x[index]
    np.testing.assert_array_equal(part.numpy(), values[index])
    expected = np.zeros_like(values)
    np.add.at(expected, index, 1)
    np.testing.assert_array_equal(slope(part, x)[0], expected)


def test_reading_with_tensors() -> None:
    x = T(np.arange(6, dtype="float32").reshape(2, 3))
    assert x[T(1)].tolist() == [3, 4, 5]
    assert x[T([1, 0]), T([0, 2])].tolist() == [3, 2]
    assert x[x > 3].tolist() == [4, 5]
    assert x[T(0) : T(1)].shape == [1, 3]
    assert [row.tolist() for row in x] == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(("index", "error"), [(3, IndexError), ((0, 0, 0), IndexError), ("a", IndexError)])
def test_reading_refuses(index: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        paddle.zeros([2, 3])[index]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing_parts(index: Any) -> None:
    values = np.arange(12, dtype="float32").reshape(3, 4)
    x = T(values, stop_gradient=False)
    v = T(7.0, stop_gradient=False)
    y = x * 2
    y[index] = v
    expected = values * 2
    expected[index] = 7
    np.testing.assert_array_equal(y.numpy(), expected)
    by_x, by_v = slope(y, x, v)
    np.testing.assert_array_equal(by_x, np.where(expected == 7, 0, 2))
    assert by_v == (expected == 7).sum()


def test_writing_numbers_arrays_and_lists() -> None:
    z = paddle.zeros([3, 2])
    z[1] = T([1, 2])
    z[:, 0] = np.array([7, 8, 9])
    z[T([2])] = 5
    z[0] = [1, 2]
    z[z == 5] = -1.0
    assert z.tolist() == [[1, 2], [8, 2], [-1, -1]]


# -- in place ---------------------------------------------------------------------------------------------------------


def test_in_place_methods_change_their_tensor() -> None:
    x = T([1.0, 2.0], stop_gradient=False)
    y = x * 1
    alias = y.detach()
    assert y.add_(T(1.0)) is y
    assert alias.tolist() == [2.0, 3.0]
    y.exp_().multiply_(y)
    assert y.inplace_version == 3
    np.testing.assert_allclose(slope(y, x)[0], 2 * np.exp(2 * (x.numpy() + 1)), rtol=1e-5)


def test_in_place_methods_may_change_shape_and_dtype() -> None:
    y = paddle.zeros([2, 3])
    y.reshape_([6]).unsqueeze_(0)
    assert y.shape == [1, 6]
    y.fill_(2)
    y.cast_("int32")
    assert (y.dtype.name, y.zero_().tolist()) == ("int32", [[0] * 6])


def test_a_filled_result_passes_zeros_on() -> None:
    x = T([1.0, 2.0], stop_gradient=False)
    y = x * 2.0
    y.fill_(3.0)
    assert (y.is_leaf, y.stop_gradient, y.tolist()) == (False, False, [3.0, 3.0])
    (x * y).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
    z = x * 5.0
    z.zero_().sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_grad_fn_looks_at_the_recorded_graph() -> None:
    x = T([1.0, 2.0], stop_gradient=False)
    y = (x * x).exp()  # made here
    assert y.grad_fn.name() == "exp_grad"
    (product,) = y.grad_fn.next_functions
    assert product.name() == "elementwise_mul_grad"
    assert product.next_functions == [x.grad_fn, x.grad_fn]
    assert len({product, x.grad_fn, *product.next_functions}) == 2
    assert x.grad_fn.name() == "accumulate"
    assert (x.grad_fn.next_functions, x.grad_fn.made_at) == ([], None)
    assert "# made here" in y.grad_fn.made_at
    assert repr(y.grad_fn).startswith("<exp_grad, test_dynamic_tensors.py:")
    assert repr(x.grad_fn) == f"<accumulate of {x.name}>"
    assert T([1.0]).grad_fn is None


def test_in_place_methods_refuse_leaves_that_need_gradients() -> None:
    x = T([1.0, 2.0], stop_gradient=False)

    def write() -> None:
        x[0] = 1.0

    for edit in (lambda: x.add_(T(1.0)), lambda: x.zero_(), write):
        with pytest.raises(ValueError, match=r"Leaf Tensor .* doesn't stop gradient"):
            edit()
    with paddle.no_grad():
        x.scale_(2.0)
    assert (x.tolist(), x.is_leaf, x.stop_gradient) == ([2.0, 4.0], True, False)
    x.set_value(np.array([7.0, 8.0], "float32"))
    assert x.tolist() == [7.0, 8.0]


def test_in_place_methods_refuse_results_of_another_shape() -> None:
    with pytest.raises(ShapeError, match="add_"):
        paddle.zeros([2]).add_(paddle.zeros([3, 2]))
    with pytest.raises(UsageError):
        paddle.zeros([2]).fill_()


def test_backward_needs_values_that_were_overwritten() -> None:
    x = T([1.0, 2.0], stop_gradient=False)
    y = x * 1
    z = y * y
    y.add_(T(1.0))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        slope(z, x)


def test_assign_and_increment_write_to_what_is_given() -> None:
    target = paddle.zeros([2])
    assert paddle.assign(T([1.0, 2.0]), target) is target
    assert paddle.increment(T([1.0])).tolist() == [2.0]
    assert target.tolist() == [1.0, 2.0]


# -- second order -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "second"),
    [
        (paddle.tanh, lambda v: -2 * np.tanh(v) / np.cosh(v) ** 2),
        (paddle.exp, np.exp),
        (lambda x: x**3, lambda v: 6 * v),
        (lambda x: 1 / x, lambda v: 2 / v**3),
        (lambda x: paddle.nn.functional.relu(x) ** 2, lambda v: 2.0 * (v > 0)),
        (lambda x: paddle.nn.functional.leaky_relu(x, 0.5) * x, lambda v: np.where(v > 0, 2.0, 1.0)),
    ],
)
def test_gradients_of_gradients(function: Any, second: Any) -> None:
    values = np.array([0.5, -1.0, 2.0], "float32")
    x = T(values, stop_gradient=False)
    (first,) = sweep.grad([function(x).sum()], [x], [None], retain_graph=True, create_graph=True)
    np.testing.assert_allclose(slope(first, x)[0], second(values), rtol=1e-4, atol=1e-6)
