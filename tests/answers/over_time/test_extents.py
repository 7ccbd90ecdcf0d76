"""Norms and counts of arrays, as they are kept of gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest

from gradtool.engine.answers.over_time.array_size import Extent, clip_factor, distance, factor, norm
from gradtool.engine.core.rows import RowUpdate, SelectedRows


def test_zeros_and_what_is_not_finite_are_counted_and_left_out_of_the_norm() -> None:
    extent = Extent.measure(np.array([3.0, 0.0, -4.0, math.nan, math.inf], "float32"))
    assert extent == Extent(5.0, 1, 2, 5)
    assert not extent.all_zero


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("scale", [1.0, 1e-4, 3e4])
def test_norms_are_those_of_double_precision(dtype: str, scale: float) -> None:
    values = (np.arange(1, 6) / 8 * scale).astype(dtype)
    expected = float(np.sqrt(np.square(np.abs(values.astype("complex128"))).sum()))
    assert Extent.measure(values).norm == pytest.approx(expected, rel=1e-6)
    assert norm(values) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_squares_that_do_not_fit_into_single_precision_do_no_harm(size: float) -> None:
    assert Extent.measure(np.full(4, size, "float32")).norm == pytest.approx(2 * size, rel=1e-6)


def test_nothing_finite_has_no_norm_and_nothing_at_all_has_norm_0() -> None:
    assert math.isnan(Extent.measure(np.full(2, math.nan)).norm)
    assert math.isnan(norm(np.array([1.0, math.inf])))
    assert Extent.measure(np.zeros((0, 3))) == Extent(0.0, 0, 0, 0)
    assert Extent.measure(np.zeros(3)).all_zero


def test_rows_that_a_sparse_gradient_leaves_out_are_zeros() -> None:
    rows = SelectedRows(np.array([2, 0, 2]), np.ones((3, 2), "float32"), 5)
    assert Extent.measure(rows) == Extent(pytest.approx(math.sqrt(10), rel=1e-6), 6, 0, 10)


def test_extents_are_joined_as_if_they_were_one_array() -> None:
    parts = [np.array([1.0, 0.0]), np.array([2.0, math.nan]), np.array([2.0])]
    joined, whole = Extent.join([Extent.measure(p) for p in parts]), Extent.measure(np.concatenate(parts))
    assert joined == whole == Extent(3.0, 1, 1, 5)


def test_a_table_moves_as_far_as_its_new_rows() -> None:
    table = np.zeros((4, 2), "float32")
    assert distance(table, RowUpdate(table, np.array([1]), np.array([[3.0, 4.0]], "float32"))) == 5.0
    assert distance(np.array([1.0, 1.0]), np.array([1.0, 3.0])) == 2.0


def test_clipping_is_not_known_where_a_norm_is_not_finite() -> None:
    assert clip_factor(1.0, 4.0) == 0.25
    assert (clip_factor(4.0, 4.0), clip_factor(0.0, 0.0)) == (1.0, 1.0)
    assert math.isnan(clip_factor(math.nan, math.nan))
    assert math.isnan(clip_factor(1.0, math.inf))


def test_a_factor_is_what_a_norm_was_multiplied_by() -> None:
    assert factor(1.0, 4.0) == 0.25
    assert factor(4.0, 4.0 * (1 + 1e-9)) is None
    assert factor(1.0, 0.0) is None
    assert factor(math.nan, 1.0) is None
