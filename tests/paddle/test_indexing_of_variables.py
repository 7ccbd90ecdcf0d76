"""``x[...]`` and ``static.setitem``: the operators that an index stands for, and the values."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

X = np.arange(24, dtype="float32").reshape(2, 3, 4)


@pytest.fixture
def x() -> Any:
    return paddle.static.data("x", [2, 3, 4])


def types() -> list[str]:
    return [o.type for o in paddle.static.default_main_program().global_block().ops]


def value(variable: Any) -> np.ndarray:
    return paddle.static.Executor().run(feed={"x": X}, fetch_list=[variable])[0]


INDICES: list[tuple[str, str, str]] = [
    ("0", "slice", "x_slice_0"),
    ("-1", "slice", "x_slice_0"),
    ("np.int64(1)", "slice", "x_slice_0"),
    ("(0, 1, 2)", "slice", "x_slice_0"),
    ("(..., 0)", "slice", "x_slice_0"),
    ("np.s_[:, 1:3]", "slice", "x_slice_0"),
    ("np.s_[:, -2:]", "slice", "x_slice_0"),
    ("np.s_[0:0]", "slice", "x_slice_0"),
    ("np.s_[:]", "", "x"),
    ("...", "", "x"),
    ("np.s_[:, 0:100]", "", "x"),
    ("None", "unsqueeze2", "unsqueeze2_0.tmp_0"),
    ("(0, None)", "slice unsqueeze2", "unsqueeze2_0.tmp_0"),
    ("np.s_[None, :, None, 0, None]", "slice unsqueeze2", "unsqueeze2_0.tmp_0"),
    ("(None, ..., None)", "unsqueeze2", "unsqueeze2_0.tmp_0"),
    ("np.s_[::2]", "strided_slice", "x_strided_slice_0"),
    ("np.s_[:, ::-1]", "strided_slice", "x_strided_slice_0"),
    ("np.s_[0, 2:0:-1]", "strided_slice", "x_strided_slice_0"),
    ("[0, 1, 0]", "assign_value unsqueeze2 gather_nd", "gather_nd_0.tmp_0"),
    ("range(2)", "assign_value unsqueeze2 gather_nd", "gather_nd_0.tmp_0"),
    ("[]", "assign_value cast unsqueeze2 gather_nd", "gather_nd_0.tmp_0"),
    ("np.array([1, 0])", "assign_value unsqueeze2 gather_nd", "gather_nd_0.tmp_0"),
    ("([0, 1], [1, 2])", "assign_value assign_value broadcast_tensors stack gather_nd", "gather_nd_0.tmp_0"),
    (
        "np.s_[:, [0, 1, 2, 0]]",
        "assign_value transpose2 unsqueeze2 gather_nd transpose2",
        "transpose_1.tmp_0",
    ),
    (
        "np.s_[[0, 1], :, [1, 2]]",
        "assign_value assign_value transpose2 broadcast_tensors stack gather_nd",
        "gather_nd_0.tmp_0",
    ),
    ("[True, False]", "assign_value where_index gather_nd", "gather_nd_0.tmp_0"),
    ("True", "assign_value unsqueeze2 where_index gather_nd", "gather_nd_0.tmp_0"),
    ("X > 5", "assign_value masked_select", "masked_select_0.tmp_0"),
]


@pytest.mark.parametrize(("index", "operators", "name"), INDICES, ids=[i[0] for i in INDICES])
def test_reading(x: Any, index: str, operators: str, name: str) -> None:
    key = eval(index, {"np": np, "X": X})
    with paddle.utils.unique_name.guard():
        variable = x[key]
    assert types() == operators.split()
    assert variable.name == name
    result = value(variable)
    assert all(d in (-1, n) for d, n in zip(variable.shape, result.shape, strict=True))
    np.testing.assert_array_equal(result, X[key])


def test_attributes_of_a_slice(x: Any) -> None:
    op = x[-1, 1:].op
    assert op.attr("axes") == [0, 1]
    assert op.attr("starts") == [-1, 1]
    assert op.attr("ends") == [2147483647, 2147483647]
    assert op.attr("decrease_axis") == [0]
    assert op.attr("infer_flags") == [1, 1]


def test_variables_as_bounds_and_indices(x: Any) -> None:
    one = paddle.full([], 1, "int64")
    two = paddle.full([1], 2, "int32")
    chosen = {
        "x[one]": (x[one], X[1]),
        "x[:, one:]": (x[:, one:], X[:, 1:]),
        "x[:, 0:two]": (x[:, 0:two], X[:, 0:2]),
        "x[..., ::two]": (x[..., ::two], X[..., ::2]),
        "x[0, one]": (x[0, one], X[0, 1]),
        "x[two - 1]": (x[(two - 1).astype("int64")], X[[1]]),
        "x[mask]": (x[x > 5], X[X > 5]),
        "x[rows]": (x[x[:, 0, 0] > 5], X[X[:, 0, 0] > 5]),
    }
    for name, (variable, expected) in chosen.items():
        np.testing.assert_array_equal(value(variable), expected, name)


def test_unknown_dimensions() -> None:
    x = paddle.static.data("x", [-1, 3, 4])
    assert [x[0].shape, x[1:].shape, x[:, 1].shape, x[[0, 1]].shape] == [(3, 4), (-1, 3, 4), (-1, 4), (2, 3, 4)]
    np.testing.assert_array_equal(value(x[-5:]), X[-5:])


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("5", "index 5 is out of range for dimension 0"),
        ("-3", "index -3 is out of range for dimension 0"),
        ("(0, 0, 0, 0)", "too many indices: 4"),
        ("(..., ...)", "single ellipsis"),
        ("'a'", "received 'a'"),
        ("1.5", "received 1.5"),
        ("slice(None, 1.5)", "bounds of a slice"),
        ("slice(None, None, 0)", "must not be 0"),
        ("[0.5]", "whole numbers or bool"),
        ("[True, False, True]", "does not fit"),
    ],
)
def test_wrong_indices(x: Any, index: str, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        x[eval(index)]


def test_an_index_out_of_range_at_run_time_names_the_operator() -> None:
    x = paddle.static.data("x", [-1, 3, 4])
    with pytest.raises(IndexError, match="index 7 is out of range for dimension 0") as caught:
        value(x[7])
    assert "slice(Input=x)" in str(caught.value)


def _entry(chance: random.Random, n: int) -> Any:
    kind = chance.choice("issnlm")
    if kind == "i":
        return chance.randrange(-n, n)
    if kind == "s":
        bounds = [None, 0, 1, -1, -2, n, 9]
        return slice(chance.choice(bounds), chance.choice(bounds), chance.choice([None, 1, 2, -1, -2]))
    if kind == "l":
        return [chance.randrange(-n, n) for _ in range(2)]
    return None if kind == "n" else np.array([chance.random() < 0.5 for _ in range(n)])


def _index(chance: random.Random) -> tuple[Any, ...]:
    """A random index of ``X``; integers and index arrays do not meet (there gradtool follows Paddle, not NumPy)."""
    while True:
        entries = [_entry(chance, n) for n in X.shape[: chance.randrange(1, 4)]]
        dims = sum(e is not None for e in entries)
        index = (*entries, *([..., None] if chance.random() < 0.2 and dims < 3 else []))
        mixed = any(isinstance(e, int) for e in index) and any(isinstance(e, (list, np.ndarray)) for e in index)
        try:
            X[index]
        except IndexError:
            continue
        if not mixed:
            return index


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(150))
def test_random_indices_read_and_write_as_numpy_does(seed: int) -> None:
    index = _index(random.Random(seed))
    x = paddle.static.data("x", [2, 3, 4] if seed % 2 else [-1, 3, 4])
    read, written = x[index], paddle.static.setitem(x, index, -1.0)
    result, changed = paddle.static.Executor().run(feed={"x": X}, fetch_list=[read, written])
    expected = X.copy()
    expected[index] = -1.0
    np.testing.assert_array_equal(result, X[index])
    np.testing.assert_array_equal(changed, expected)


def test_gradients_of_what_is_read_twice(x: Any) -> None:
    x.stop_gradient = False
    loss = paddle.mean(x[[0, 0]] * 2 + x[:1])
    (gradient,) = paddle.static.gradients([loss], [x])
    expected = np.zeros_like(X)
    expected[0] = (2 * 2 + 2) / 24
    np.testing.assert_allclose(value(gradient), expected, rtol=1e-6)


def test_assignment_points_to_setitem(x: Any) -> None:
    with pytest.raises(RuntimeError, match=r"paddle\.static\.setitem"):
        x[0] = 1.0


def test_writing_a_number_an_array_and_a_variable(x: Any) -> None:
    v = paddle.static.data("v", [4])
    changed = paddle.static.setitem(x, (slice(None), 1), v)
    changed = paddle.static.setitem(changed, 0, np.ones((3, 4), "float32"))
    changed = paddle.static.setitem(changed, (1, slice(None, None, 2), 0), 7)
    assert changed.name == "set_value_2.tmp_0"
    (result,) = paddle.static.Executor().run(feed={"x": X, "v": np.arange(4, dtype="float32")}, fetch_list=[changed])
    expected = X.copy()
    expected[:, 1] = np.arange(4)
    expected[0] = 1
    expected[1, ::2, 0] = 7
    np.testing.assert_array_equal(result, expected)


def test_gradients_of_what_is_written(x: Any) -> None:
    v = paddle.static.data("v", [4])
    x.stop_gradient = v.stop_gradient = False
    changed = paddle.static.setitem(x, (slice(None), 1), v)
    loss = paddle.mean(changed * changed)
    gradients = paddle.static.gradients([loss], [x, v])
    feed = {"x": X, "v": np.arange(4, dtype="float32")}
    of_x, of_v = paddle.static.Executor().run(feed=feed, fetch_list=gradients)
    expected = 2 * X / 24
    expected[:, 1] = 0
    np.testing.assert_allclose(of_x, expected, rtol=1e-6)
    np.testing.assert_allclose(of_v, 2 * 2 * np.arange(4) / 24, rtol=1e-6)


def test_writing_at_index_tensors(x: Any) -> None:
    rows = paddle.static.setitem(x, [1, 0], -x)
    assert types()[-3:] == ["index_put", "transpose2", "set_value"]
    expected = X.copy()
    expected[[1, 0]] = -X
    np.testing.assert_array_equal(value(rows), expected)


def test_a_list_cannot_be_written(x: Any) -> None:
    with pytest.raises(TypeError, match="received list"):
        paddle.static.setitem(x, 0, [1.0, 2.0])
