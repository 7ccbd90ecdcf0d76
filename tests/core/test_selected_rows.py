"""Selected rows and row updates: the arithmetic of the tables that they stand for, at the cost of their rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradtool.engine.core.rows import RowUpdate, SelectedRows

HEIGHT, WIDTH = 6, 3


def selected(rows: list[int], seed: int = 0) -> SelectedRows:
    values = np.random.default_rng(seed).integers(-4, 5, (len(rows), WIDTH)).astype("float32")
    return SelectedRows(np.array(rows, "int64"), values, HEIGHT)


def table(rows: SelectedRows) -> Any:
    """The dense table, built row by row."""
    whole = np.zeros(rows.shape, rows.dtype)
    for row, value in zip(rows.rows, rows.values, strict=True):
        whole[row] += value
    return whole


some_rows = st.lists(st.integers(0, HEIGHT - 1), max_size=8)

SPARSE: tuple[Callable[..., Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a + b + a + b,
    lambda a, b: a * 0.5,
    lambda a, b: 2.0 * a,
    lambda a, b: a / np.float32(4.0),
    lambda a, b: a * np.full((1,), 3.0, "float32"),
    lambda a, b: -a,
    lambda a, b: a * a,
    lambda a, b: np.square(a),
    lambda a, b: np.sign(a),
    lambda a, b: np.minimum(np.maximum(a, -1.0), 2.0),
    lambda a, b: a > 1.0,
)
DENSE: tuple[Callable[..., Any], ...] = (
    lambda a, b: a + 1.0,
    lambda a, b: np.exp(a),
    lambda a, b: np.maximum(a, 1.0),
    lambda a, b: a @ np.ones((WIDTH, 2), "float32"),
    lambda a, b: a.reshape(-1),
    lambda a, b: np.where(a > 0, a, b),
    lambda a, b: a[1:3],
    lambda a, b: a.sum(axis=0),
)


@given(some_rows, some_rows)
@settings(max_examples=60)
def test_arithmetic_is_that_of_the_table(first: list[int], second: list[int]) -> None:
    a, b = selected(first), selected(second, 1)
    for function in SPARSE:
        result = function(a, b)
        assert isinstance(result, SelectedRows)
        np.testing.assert_array_equal(np.asarray(result), function(table(a), table(b)))
        assert result.dtype == function(table(a), table(b)).dtype
    for function in DENSE:
        result = function(a, b)
        assert not isinstance(result, SelectedRows)
        np.testing.assert_array_equal(result, function(table(a), table(b)))
    assert a.sum() == table(a).sum()
    np.testing.assert_array_equal(np.asarray(a.merged()), table(a))
    assert a.merged().rows.tolist() == sorted(set(first))


@given(some_rows)
def test_with_a_dense_table_the_result_is_dense(rows: list[int]) -> None:
    a, dense = selected(rows), np.arange(HEIGHT * WIDTH, dtype="float32").reshape(HEIGHT, WIDTH)
    before = dense.copy()
    for result, expected in (
        (dense + a, dense + table(a)),
        (a + dense, dense + table(a)),
        (dense - a, dense - table(a)),
        (a - dense, table(a) - dense),
        (a * dense, table(a) * dense),
    ):
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(dense, before)
    out = dense.copy()
    assert np.add(out, a, out=out) is out
    np.testing.assert_array_equal(out, dense + table(a))


def test_dtypes_meet_as_those_of_arrays_do() -> None:
    a = selected([1, 2])
    assert (a + a.astype("float64")).dtype == np.float64
    assert (np.zeros(a.shape, "float64") + a).dtype == np.float64
    assert a.astype("float16").values.dtype == np.float16


def test_many_sums_do_not_copy_what_was_summed_before() -> None:
    total = selected([0])
    for i in range(1000):
        total = total + selected([i % HEIGHT], i)
    assert len(total._pieces) == 1001
    np.testing.assert_array_equal(np.asarray(total), table(total))
    assert len(total._pieces) == 1


def test_protocols_that_hand_out_memory_are_not_passed_on() -> None:
    with pytest.raises(AttributeError):
        _ = selected([1]).__array_interface__
    assert selected([1]).copy().rows.tolist() == [1]
    assert repr(selected([])) == ("SelectedRows(rows=[], height=6, values=array([], shape=(0, 3), dtype=float32))")


def test_an_update_is_a_new_table_until_it_is_applied() -> None:
    base = np.zeros((HEIGHT, WIDTH), "float32")
    update = RowUpdate(base, np.array([1, 4]), np.ones((2, WIDTH), "float32"))
    assert (update + 1.0).sum() == base.size + 2 * WIDTH
    assert np.asarray(update)[4].tolist() == [1.0] * WIDTH
    assert not base.any()
    other = np.full_like(base, 9.0)
    update.apply_to(other)
    np.testing.assert_array_equal(other, np.asarray(update))
    update.apply_to(base)
    np.testing.assert_array_equal(base, other)
    again = RowUpdate(update, np.array([0]), np.full((1, WIDTH), 2.0, "float32"))
    assert np.asarray(again)[:2].tolist() == [[2.0] * WIDTH, [1.0] * WIDTH]
    assert (update.nbytes, repr(update)) == (base.nbytes, "RowUpdate(2 of 6 rows)")
