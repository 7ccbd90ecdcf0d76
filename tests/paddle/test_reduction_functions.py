"""Values, gradients, names and errors of reductions, norms and products of matrices, against NumPy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UnsupportedError, UsageError
from tests.paddle.one_program import compute, gradient, made_by, variables

RNG = np.random.default_rng(5)
X = RNG.uniform(0.2, 0.8, (2, 3, 4))
BOOLS = RNG.integers(0, 2, (2, 3)).astype(bool)

REDUCTIONS = {
    "sum": (np.sum, "sum", "reduce_sum"),
    "mean": (np.mean, "mean", "reduce_mean"),
    "max": (np.max, "max", "reduce_max"),
    "min": (np.min, "min", "reduce_min"),
    "amax": (np.max, "amax", "reduce_amax"),
    "amin": (np.min, "amin", "reduce_amin"),
    "prod": (np.prod, "reduce_prod", "reduce_prod"),
    "logsumexp": (lambda x, **k: np.log(np.sum(np.exp(x), **k)), "logsumexp", "logsumexp"),
}
AXES = [(None, False), (1, False), (-1, True), ([0, 2], False), ((0, -1), True), ([0, 1, 2], False)]


@pytest.mark.parametrize(("axis", "keep"), AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name: str, axis: Any, keep: bool) -> None:
    expected, key, op_type = REDUCTIONS[name]
    result = compute(lambda x: getattr(paddle, name)(x, axis=axis, keepdim=keep), x=X)
    where = tuple(axis) if isinstance(axis, list) else axis
    np.testing.assert_allclose(result, expected(X, axis=where, keepdims=keep), rtol=1e-13)
    last = paddle.static.default_main_program().global_block().ops[-1]
    assert (last.type, last.output("Out")) == (op_type, [f"{key}_0.tmp_0"])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_errors(name: str) -> None:
    function = getattr(paddle, name)
    with pytest.raises(ShapeError, match="axis 3 is out of range for a tensor of 3 dimensions"):
        compute(lambda x: function(x, axis=3), x=X)
    with pytest.raises(ArgumentTypeError, match="axis"):
        compute(lambda y: function(y, axis="0"), y=X)
    with pytest.raises(UnsupportedError, match="axis given as a Variable"):
        compute(lambda z, a: function(z, axis=a), z=X, a=np.array([0]))


@pytest.mark.parametrize(("name", "expected"), [("all", np.all), ("any", np.any)])
def test_all_and_any(name: str, expected: Any) -> None:
    result = compute(lambda x: getattr(paddle, name)(x, axis=1), x=BOOLS)
    assert result.dtype == np.bool_
    assert result.tolist() == expected(BOOLS, axis=1).tolist()


def test_sums_of_integers_and_truth_values_are_wide() -> None:
    result = compute(paddle.sum, x=np.array([2**31 - 1, 2**31 - 1], "int32"))
    assert (result.dtype, int(result)) == (np.int64, 2**32 - 2)
    assert int(compute(lambda y: paddle.sum(y), y=np.ones(5, bool))) == 5


def test_dtype_of_the_result() -> None:
    assert compute(lambda x: paddle.sum(x, dtype="float64"), x=X.astype("float32")).dtype == np.float64
    name, types = made_by(lambda y: paddle.prod(y, dtype="float64"), y=X.astype("float32"))
    assert types[-2:] == ["cast", "reduce_prod"]
    assert name == "reduce_prod_0.tmp_0"


@pytest.mark.parametrize("name", ["max", "min", "amax", "amin"])
def test_ties_share_the_gradient(name: str) -> None:
    x = np.array([2.0, 1.0, 2.0, 1.0])
    best = x == (2.0 if name in ("max", "amax") else 1.0)
    assert gradient(getattr(paddle, name), x).tolist() == (best * 0.5).tolist()


@pytest.mark.parametrize(
    ("x", "expected"),
    [([2.0, 3.0, 4.0], [12.0, 8.0, 6.0]), ([0.0, 3.0, 4.0], [12.0, 0.0, 0.0]), ([0.0, 0.0, 4.0], [0.0, 0.0, 0.0])],
)
def test_gradient_of_a_product_with_zeros(x: list[float], expected: list[float]) -> None:
    assert gradient(paddle.prod, np.array(x)).tolist() == expected


def test_second_gradient_of_a_product_with_zeros() -> None:
    x = np.array([0.0, 0.0, 4.0, 5.0])
    data = variables({"x": x})["x"]
    (first,) = paddle.static.gradients([paddle.prod(data)], [data])
    (second,) = paddle.static.gradients([first], [data])
    result = paddle.static.Executor().run(feed={"x": x}, fetch_list=[second])[0]
    assert result.tolist() == [20.0, 20.0, 0.0, 0.0]


def test_logsumexp_does_not_overflow() -> None:
    x = np.array([[1000.0, 1000.0], [-1000.0, -1000.0]], "float32")
    expected = np.array([1000.0, -1000.0]) + math.log(2)
    np.testing.assert_allclose(compute(lambda x: paddle.logsumexp(x, axis=1), x=x), expected, rtol=1e-6)


def test_logsumexp_of_nothing_is_minus_infinity() -> None:
    assert compute(paddle.logsumexp, x=np.array([-np.inf, -np.inf])) == -np.inf


class TestCumsum:
    def test_along_an_axis(self) -> None:
        np.testing.assert_allclose(compute(lambda x: paddle.cumsum(x, axis=1), x=X), np.cumsum(X, axis=1))

    def test_of_everything(self) -> None:
        np.testing.assert_allclose(compute(paddle.cumsum, x=X), np.cumsum(X))

    def test_gradient(self) -> None:
        assert gradient(lambda x: paddle.cumsum(x, axis=0), np.ones(4)).tolist() == [4.0, 3.0, 2.0, 1.0]

    def test_axis_is_one_number(self) -> None:
        with pytest.raises(ArgumentTypeError, match="must be int or None"):
            compute(lambda x: paddle.cumsum(x, axis=[0, 1]), x=X)


@pytest.mark.parametrize("unbiased", [True, False])
@pytest.mark.parametrize(("axis", "keep"), AXES)
def test_variance(axis: Any, keep: bool, unbiased: bool) -> None:
    where = tuple(axis) if isinstance(axis, list) else axis
    options = {"axis": where, "keepdims": keep, "ddof": int(unbiased)}
    result = compute(lambda x: paddle.var(x, axis, unbiased, keep), x=X)
    np.testing.assert_allclose(result, np.var(X, **options), rtol=1e-6)
    result = compute(lambda y: paddle.std(y, axis, unbiased, keep), y=X)
    np.testing.assert_allclose(result, np.std(X, **options), rtol=1e-6)


def test_variance_operators() -> None:
    name, types = made_by(paddle.var, x=X.astype("float32"))
    assert name == "tmp_5"
    assert types == [
        *["reduce_mean", "elementwise_sub", "pow", "reduce_sum", "size", "cast", "size", "cast", "cast", "cast"],
        *["elementwise_div", "fill_constant", "scale", "elementwise_div"],
    ]


@pytest.mark.parametrize("axis", [None, 0, -2, [0, 1]])
@pytest.mark.parametrize("function", [paddle.var, paddle.std])
def test_variance_of_as_many_rows_as_come(function: Any, axis: Any) -> None:
    x = paddle.static.data("x", [-1, 3], "float64")
    out = function(x, axis)
    exe = paddle.static.Executor()
    axes = tuple(axis) if isinstance(axis, list) else axis
    for n in (3, 0, 2):
        rows = np.arange(3.0 * n).reshape(n, 3) ** 2
        expected = getattr(np, function.__name__)(rows, axes, ddof=1) if n else np.nan
        np.testing.assert_allclose(exe.run(feed={"x": rows}, fetch_list=[out])[0], expected)


def test_variance_has_operators_of_its_own_only_where_a_dimension_may_be_empty() -> None:
    _, fixed = made_by(lambda x: paddle.var(x, 1), x=X)
    program = paddle.static.Program()
    for shape, more in (([-1, *X.shape[1:]], 0), ([X.shape[0], -1, *X.shape[2:]], 1)):
        with paddle.static.program_guard(program):
            before = len(program.global_block().ops)
            paddle.var(paddle.static.data(f"x{more}", shape, "float64"), 1)
        types = [o.type for o in program.global_block().ops[before:]]
        assert [t for t in types if t != "relu"] == fixed
        assert types.count("relu") == more
    assert fixed[10:] == ["elementwise_div", "cast", "fill_constant", "scale", "elementwise_div"]


class TestNorm:
    @pytest.mark.parametrize("order", [None, "fro", 1, 2, 3, 0.5, -1, 0, math.inf, -math.inf])
    def test_of_everything(self, order: Any) -> None:
        expected = np.linalg.norm(X.ravel(), 2 if order in (None, "fro") else order)
        np.testing.assert_allclose(compute(lambda x: paddle.norm(x, order), x=X), expected, rtol=1e-13)

    @pytest.mark.parametrize("order", [1, 2, 3.5, math.inf])
    def test_of_vectors(self, order: float) -> None:
        result = compute(lambda x: paddle.norm(x, order, axis=1, keepdim=True), x=X)
        np.testing.assert_allclose(result, np.linalg.norm(X, order, axis=1, keepdims=True), rtol=1e-13)

    @pytest.mark.parametrize("keep", [True, False])
    @pytest.mark.parametrize("axis", [[0, 1], [1, 0], [-1, 0], [1, 2]])
    @pytest.mark.parametrize("order", [None, "fro", 1, -1, math.inf, -math.inf])
    def test_of_matrices(self, order: Any, axis: list[int], keep: bool) -> None:
        result = compute(lambda x: paddle.norm(x, order, axis=axis, keepdim=keep), x=X)
        expected = np.linalg.norm(X, 2 if order is None else order, axis=tuple(axis), keepdims=keep)
        np.testing.assert_allclose(result, expected, rtol=1e-13)

    def test_names(self) -> None:
        assert made_by(paddle.norm, x=X) == ("p_norm_0.tmp_0", ["p_norm"])

    def test_names_of_matrices(self) -> None:
        assert made_by(lambda x: paddle.norm(x, "fro", axis=[0, 1]), x=X) == (
            "frobenius_norm_0.tmp_0",
            ["frobenius_norm"],
        )
        name, types = made_by(lambda y: paddle.norm(y, 1, axis=[0, 1]), y=X)
        assert (name, types[1:]) == ("p_matrix_norm_0.tmp_2", ["p_norm", "reduce_max"])

    @pytest.mark.parametrize("order", [1, 1.5, 2, 3, 0, math.inf, "fro"])
    def test_gradient_at_zero_is_zero(self, order: Any) -> None:
        assert gradient(lambda x: paddle.norm(x, order), np.zeros(3)).tolist() == [0.0, 0.0, 0.0]

    def test_gradient_at_the_largest(self) -> None:
        grad = gradient(lambda x: paddle.norm(x, math.inf), np.array([1.0, -2.0, 2.0]))
        assert grad.tolist() == [0.0, -1.0, 1.0]

    @pytest.mark.parametrize(
        ("order", "axis"), [("nuc", None), ("nuc", 0), (2, [1, -2]), (3, [0, 1]), ("f", [0, 1]), (2, [0, 1, 2])]
    )
    def test_bad_arguments(self, order: Any, axis: Any) -> None:
        with pytest.raises(UsageError, match=r"paddle\.norm"):
            compute(lambda x: paddle.norm(x, order, axis=axis), x=X)


class TestProducts:
    a = RNG.normal(size=(5, 2, 3))
    b = RNG.normal(size=(5, 3, 4))

    def test_matmul(self) -> None:
        np.testing.assert_allclose(compute(paddle.matmul, x=self.a, y=self.b), self.a @ self.b)
        result = compute(lambda p, q: paddle.matmul(p, q, True, True), p=self.a.swapaxes(1, 2), q=self.b.swapaxes(1, 2))
        np.testing.assert_allclose(result, self.a @ self.b)

    def test_mm(self) -> None:
        assert made_by(paddle.mm, input=self.a[0], mat2=self.b[0]) == ("mm_0.tmp_0", ["matmul_v2"])

    def test_bmm(self) -> None:
        np.testing.assert_allclose(compute(paddle.bmm, x=self.a, y=self.b), self.a @ self.b)

    def test_dot(self) -> None:
        np.testing.assert_allclose(compute(paddle.dot, x=self.a[0], y=self.a[1]), (self.a[0] * self.a[1]).sum(-1))
        np.testing.assert_allclose(
            compute(lambda p, q: paddle.dot(p, q), p=self.a[0, 0], q=self.a[1, 0]), self.a[0, 0] @ self.a[1, 0]
        )

    @pytest.mark.parametrize("shape", [(2, 4), (1, 4), (4,), (2, 1)])
    def test_addmm(self, shape: tuple[int, ...]) -> None:
        base = RNG.normal(size=shape)
        result = compute(lambda i, x, y: paddle.addmm(i, x, y, beta=0.5, alpha=2.0), i=base, x=self.a[0], y=self.b[0])
        np.testing.assert_allclose(result, 0.5 * base + 2 * self.a[0] @ self.b[0])

    def test_unknown_sizes(self) -> None:
        x = paddle.static.data("x", [-1, 2, 3], "float32")
        y = paddle.static.data("y", [-1, 3, -1], "float32")
        assert paddle.bmm(x, y).shape == (-1, 2, -1)

    @pytest.mark.parametrize(
        ("name", "shapes", "message"),
        [
            ("matmul", ([2, 3], [4, 3]), "inner dimensions are 3 and 4"),
            ("mm", ([2, 3], [4, 3]), "inner dimensions are 3 and 4"),
            ("bmm", ([2, 3], [5, 3, 4]), r"bmm: X \[2, 3\] must have three dimensions"),
            ("bmm", ([5, 2, 3], [4, 3, 4]), "different numbers of matrices"),
            ("bmm", ([5, 2, 3], [5, 2, 4]), "inner dimensions are 3 and 2"),
            ("dot", ([2, 3], [2, 4]), "must have the same shape"),
            ("dot", ([3], [1, 3]), "must have the same shape"),
            ("dot", ([2, 3, 4], [2, 3, 4]), "one or two dimensions"),
            ("addmm", ([3], [2, 3], [3, 4]), r"cannot be broadcast to the product's shape \[2, 4\]"),
            ("addmm", ([2, 2, 4], [2, 3], [3, 4]), "cannot be broadcast"),
            ("addmm", ([2, 4], [2, 5], [3, 4]), "inner dimensions are 5 and 3"),
            ("addmm", ([2, 4], [2], [3, 4]), "must have two dimensions"),
        ],
    )
    def test_shapes_that_do_not_fit(self, name: str, shapes: Any, message: str) -> None:
        arguments = [paddle.static.data(f"v{i}", s, "float32") for i, s in enumerate(shapes)]
        with pytest.raises(ShapeError, match=message):
            getattr(paddle, name)(*arguments)


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_median(axis: int | None, keepdim: bool) -> None:
    paddle.disable_static()
    for shape in ((4, 5), (3, 3)):
        x = np.random.default_rng(7).permutation(np.prod(shape)).reshape(shape).astype("float64")
        result = paddle.median(paddle.to_tensor(x), axis, keepdim)
        np.testing.assert_array_equal(result.numpy(), np.median(x, axis, keepdims=keepdim))
    x[1, 1] = np.nan
    result = paddle.median(paddle.to_tensor(x), axis, keepdim)
    np.testing.assert_array_equal(np.isnan(result.numpy()), np.isnan(x).any(axis, keepdims=keepdim))
    for options, message in (({"mode": "foo"}, "Must be avg or min"), ({"axis": 2}, "axis must be within")):
        with pytest.raises(ValueError, match=message):
            paddle.median(paddle.to_tensor(x), **options)
