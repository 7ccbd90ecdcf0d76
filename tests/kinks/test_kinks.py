"""Derivatives of first and second order at ties and kinks: right, refused, or no number."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

import gradtool
import gradtool.paddle.nn.functional as F
from tests import sampling
from tests.differential.table import ROWS
from tests.kinks.__main__ import names, points
from tests.kinks.judging import wrong
from tests.kinks.known import CHOOSING, FIXED, KNOWN
from tests.sampling import sampled

SEEDS = range(8)
ONE_IN = 32


@pytest.fixture(autouse=True)
def dynamic() -> Iterator[None]:
    gradtool.paddle.disable_static()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    gradtool.paddle.enable_static()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [name for name in names() if name not in KNOWN])
def test_no_derivative_is_a_wrong_number(name: str) -> None:
    found = []
    for label, make in sampled(points(name, SEEDS), lambda pair: pair[0], ONE_IN):
        subject = make()
        try:
            entries = list(wrong(subject, name in CHOOSING, whole=sampling.whole)) if subject else []
            found += [f"{label}\n    {entry}" for entry in entries[:1]]
        except Exception:  # refused there
            continue
    assert not found, "\n".join(found)


def test_what_is_known_is_an_operator_or_a_function() -> None:
    assert {*KNOWN, *FIXED, *CHOOSING} <= {*names(), *ROWS}


def test_the_second_derivative_of_logaddexp_where_both_are_equal() -> None:
    x, y = (gradtool.paddle.to_tensor([1.0, -2.0], "float64", stop_gradient=False) for _ in range(2))
    (first,) = gradtool.paddle.grad(gradtool.paddle.logaddexp(x, y), x, create_graph=True)
    second = gradtool.paddle.grad(first, [x, y])
    assert first.tolist() == [0.5, 0.5]
    assert [g.tolist() for g in second] == [[0.25, 0.25], [-0.25, -0.25]]


def test_the_border_of_a_grid_has_no_slope_from_beyond_it() -> None:
    image = gradtool.paddle.ones([1, 1, 3, 3], "float64")
    grid = gradtool.paddle.full([1, 1, 1, 2], 1.0, "float64")
    grid.stop_gradient = False
    (slope,) = gradtool.paddle.grad(F.grid_sample(image, grid, padding_mode="border"), grid)
    assert slope.tolist() == [[[[0.0, 0.0]]]]
