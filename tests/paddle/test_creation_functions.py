"""Tensors from numbers: operators, names, dtypes and values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle

CALLS: list[tuple[str, str, str, Any]] = [
    ("paddle.full([2, 3], 1.5)", "fill_constant", "fill_constant_1.tmp_0", np.full((2, 3), 1.5, "float32")),
    ("paddle.full([2], 3)", "fill_constant", "fill_constant_1.tmp_0", np.full(2, 3, "float32")),
    ("paddle.full([2], 1.7, 'int64')", "fill_constant", "fill_constant_1.tmp_0", np.full(2, 1)),
    ("paddle.full([], True)", "fill_constant", "fill_constant_1.tmp_0", np.array(True)),
    ("paddle.full(2, 1e-7)", "fill_constant", "fill_constant_1.tmp_0", np.full(2, 1e-7, "float32")),
    ("paddle.full([2, 0], float('inf'))", "fill_constant", "fill_constant_1.tmp_0", np.zeros((2, 0), "float32")),
    ("paddle.full([2], 1.0, name='z')", "fill_constant", "z.tmp_0", np.ones(2, "float32")),
    ("paddle.zeros([2], 'int32')", "fill_constant", "fill_constant_1.tmp_0", np.zeros(2, "int32")),
    ("paddle.ones([2])", "fill_constant", "fill_constant_1.tmp_0", np.ones(2, "float32")),
    (
        "paddle.full([paddle.full([1], 2, 'int32'), 3], 1.0)",
        "fill_constant fill_constant fill_constant",
        "fill_constant_3.tmp_0",
        np.ones((2, 3), "float32"),
    ),
    (
        "paddle.full(paddle.shape(x), 4.0)",
        "shape fill_constant",
        "fill_constant_1.tmp_0",
        np.full((2, 3), 4.0, "float32"),
    ),
    (
        "paddle.full([2], paddle.full([1], 2.5))",
        "fill_constant fill_constant",
        "fill_constant_3.tmp_0",
        np.full(2, 2.5, "float32"),
    ),
    ("paddle.tensor.fill_constant([2], 'int64', 7)", "fill_constant", "fill_constant_1.tmp_0", np.full(2, 7)),
    ("paddle.zeros_like(x)", "fill_any_like", "full_like_0.tmp_0", np.zeros((2, 3), "float32")),
    ("paddle.ones_like(x, 'int64')", "fill_any_like", "full_like_0.tmp_0", np.ones((2, 3), "int64")),
    ("paddle.full_like(x, 2.5)", "fill_any_like", "full_like_0.tmp_0", np.full((2, 3), 2.5, "float32")),
    ("paddle.arange(5)", "fill_constant fill_constant fill_constant range", "range_0.tmp_0", np.arange(5)),
    (
        "paddle.arange(7, 1, -2)",
        "fill_constant fill_constant fill_constant range",
        "range_0.tmp_0",
        np.arange(7, 1, -2),
    ),
    (
        "paddle.arange(1, 2, 0.25)",
        "fill_constant fill_constant fill_constant range",
        "range_0.tmp_0",
        np.arange(1, 2, 0.25, "float32"),
    ),
    (
        "paddle.arange(paddle.full([1], 5, 'int64'))",
        "fill_constant fill_constant fill_constant range",
        "range_0.tmp_0",
        np.arange(5),
    ),
    (
        "paddle.linspace(0, 1, 5)",
        "fill_constant fill_constant fill_constant linspace",
        "linspace_0.tmp_0",
        np.linspace(0, 1, 5, dtype="float32"),
    ),
    ("paddle.eye(2, 3)", "eye", "eye_0.tmp_0", np.eye(2, 3, dtype="float32")),
    ("paddle.eye(2, dtype='int64')", "eye", "eye_0.tmp_0", np.eye(2, dtype="int64")),
    ("paddle.assign([[1, 2]])", "assign_value", "assign_0.tmp_0", np.array([[1, 2]])),
    ("paddle.assign(1.5)", "assign_value", "assign_0.tmp_0", np.array([1.5])),
    ("paddle.assign(np.array([True, False]))", "assign_value", "assign_0.tmp_0", np.array([True, False])),
    ("paddle.assign(x)", "assign", "assign_0.tmp_0", np.arange(6, dtype="float32").reshape(2, 3)),
    ("paddle.to_tensor([1.0, 2])", "assign_value", "assign_0.tmp_0", np.array([1, 2], "float32")),
    ("paddle.to_tensor(3)", "assign_value", "assign_0.tmp_0", np.array(3)),
    ("paddle.to_tensor(np.ones(2))", "assign_value", "assign_0.tmp_0", np.ones(2)),
    ("paddle.to_tensor([1, 2], 'float32')", "assign_value cast", "cast_0.tmp_0", np.array([1, 2], "float32")),
    (
        "paddle.to_tensor([x[0, 1], 2.0])",
        "slice assign_value stack assign",
        "assign_1.tmp_0",
        np.array([1, 2], "float32"),
    ),
    ("paddle.tril(x, 1)", "tril_triu", "tril_0", np.array([[0, 1, 0], [3, 4, 5]], "float32")),
    ("paddle.triu(x)", "tril_triu", "triu_0", np.array([[0, 1, 2], [0, 4, 5]], "float32")),
    ("paddle.shape(x)", "shape", "shape_0.tmp_0", np.array([2, 3], "int32")),
    ("paddle.numel(x)", "size", "numel_0.tmp_0", np.array(6)),
    ("paddle.rank(x)", "assign_value", "assign_0.tmp_0", np.array(2, "int32")),
    ("paddle.clone(x)", "assign", "x_clone_0", np.arange(6, dtype="float32").reshape(2, 3)),
    ("paddle.cast(x, 'int32')", "cast", "cast_0.tmp_0", np.arange(6, dtype="int32").reshape(2, 3)),
]


def types() -> list[str]:
    return [o.type for o in paddle.static.default_main_program().global_block().ops]


def value(variable: Any) -> np.ndarray:
    feed = {"x": np.arange(6, dtype="float32").reshape(2, 3)}
    return paddle.static.Executor().run(feed=feed, fetch_list=[variable])[0]


@pytest.mark.parametrize(("call", "operators", "name", "expected"), CALLS, ids=[c[0] for c in CALLS])
def test_creation(call: str, operators: str, name: str, expected: np.ndarray) -> None:
    x = paddle.static.data("x", [2, 3])
    variable = eval(call, {"paddle": paddle, "np": np, "x": x})
    assert types() == operators.split()
    assert variable.name == name
    array = value(variable)
    assert array.dtype == expected.dtype
    np.testing.assert_array_equal(array, expected)
    assert variable.dtype.name == array.dtype.name
    assert all(d in (-1, n) for d, n in zip(variable.shape, array.shape, strict=True))


def test_the_default_dtype_is_used() -> None:
    paddle.set_default_dtype("float64")
    for tensor in (paddle.zeros([1]), paddle.eye(1), paddle.to_tensor(1.5), paddle.arange(1.0), paddle.rand([1])):
        assert tensor.dtype is paddle.float64


def test_every_full_takes_two_names() -> None:
    assert [paddle.zeros([1]).name, paddle.full([1], 2.0).name] == ["fill_constant_1.tmp_0", "fill_constant_3.tmp_0"]


def test_constants_stop_gradients_and_copies_do_not() -> None:
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    assert all(v.stop_gradient for v in (paddle.zeros_like(x), paddle.shape(x), paddle.eye(2), paddle.to_tensor(1.0)))
    assert not any(v.stop_gradient for v in (paddle.assign(x), paddle.clone(x), paddle.cast(x, "float64")))
    assert not paddle.to_tensor(1.0, stop_gradient=False).stop_gradient


def test_assign_writes_to_an_output() -> None:
    x, y = paddle.static.data("x", [2, 3]), paddle.zeros([2, 3])
    assert paddle.assign(x, output=y) is y
    np.testing.assert_array_equal(value(y), np.arange(6).reshape(2, 3))


def test_increment_works_in_place_and_its_gradient_is_right() -> None:
    w = paddle.static.data("w", [1])
    w.stop_gradient = False
    h = w * w
    before = h * h
    assert paddle.increment(h, 2.0) is h
    loss = paddle.mean(h * h + before)
    (gradient,) = paddle.static.gradients([loss], [w])
    number, slope = paddle.static.Executor().run(feed={"w": np.array([1.5], "float32")}, fetch_list=[loss, gradient])
    np.testing.assert_allclose(number, (1.5**2 + 2) ** 2 + 1.5**4, rtol=1e-6)
    np.testing.assert_allclose(slope, [2 * (1.5**2 + 2) * 2 * 1.5 + 4 * 1.5**3], rtol=1e-6)


def test_increment_of_data_is_seen_afterwards() -> None:
    i = paddle.static.data("i", [1], "int64")
    paddle.increment(i)
    result = paddle.static.Executor().run(feed={"i": np.array([4])}, fetch_list=[i + 0])[0]
    assert result.tolist() == [5]


def test_meshgrid() -> None:
    for grids in (
        paddle.meshgrid(paddle.arange(2), paddle.arange(3)),
        paddle.meshgrid([paddle.arange(2), paddle.arange(3)]),
    ):
        assert [v.shape for v in grids] == [(2, 3), (2, 3)]
        for v, expected in zip(grids, np.meshgrid(np.arange(2), np.arange(3), indexing="ij"), strict=True):
            np.testing.assert_array_equal(value(v), expected)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        ("paddle.full([-1, 2], 1.0)", ValueError, "not negative"),
        ("paddle.full('a', 1.0)", TypeError, "'shape'"),
        ("paddle.full([2.5], 1.0)", TypeError, r"shape\[0\]"),
        ("paddle.full([2], 'a')", ValueError, "fill_value"),
        ("paddle.full([2], 1j, 'float32')", TypeError, "1j is no float32"),
        ("paddle.full([2], 1.0, 'foo')", TypeError, "data type 'foo'"),
        ("paddle.full_like(1.0, 2)", TypeError, "'x' in paddle.full_like"),
        ("paddle.arange(0, 5, 0)", ValueError, "step must not be 0"),
        ("paddle.eye(-1)", TypeError, "must not be negative"),
        ("paddle.eye(2.5)", TypeError, "'num_rows'"),
        ("paddle.linspace(0, 1, 2.5)", TypeError, "'num'"),
        ("paddle.assign('a')", TypeError, "received str"),
        ("paddle.to_tensor(None)", TypeError, "received NoneType"),
        ("paddle.tril(paddle.arange(3))", ValueError, "at least two dimensions"),
        ("paddle.increment(paddle.zeros([2]))", ValueError, "one element"),
        ("paddle.meshgrid(paddle.zeros([2, 3]))", ValueError, "vector or a scalar"),
        ("paddle.cast(1.0, 'int64')", TypeError, "'x' in paddle.cast"),
    ],
)
def test_wrong_arguments(call: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        eval(call, {"paddle": paddle})


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_are_finite(value: float, dtype: str) -> None:
    for switch in (paddle.enable_static, paddle.disable_static):
        switch()
        with pytest.raises(TypeError, match=f"is no {dtype}"):
            paddle.full([2], value, dtype)
