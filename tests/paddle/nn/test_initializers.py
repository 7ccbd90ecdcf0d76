"""Initializers that make matrices and filters of a kind, and the one for all parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

I = paddle.nn.initializer  # noqa: E741


@pytest.fixture
def everywhere() -> Iterator[None]:
    yield
    I.set_global_initializer(None)


def initial(shape: list[int], init: Any) -> np.ndarray:
    return paddle.create_parameter(shape, "float32", default_initializer=init).numpy()


@pytest.mark.usefixtures("dynamic")
def test_dirac_gives_back_what_it_gets() -> None:
    layer = paddle.nn.Conv2D(2, 3, 3, padding=1, weight_attr=I.Dirac(), bias_attr=False)
    x = np.random.default_rng(0).normal(size=(1, 2, 4, 5)).astype("float32")
    out = layer(paddle.to_tensor(x)).numpy()
    np.testing.assert_array_equal(out[:, :2], x)
    np.testing.assert_array_equal(out[:, 2], 0)


@pytest.mark.usefixtures("dynamic")
def test_dirac_for_groups() -> None:
    value = initial([4, 2, 3], I.Dirac(2))
    assert [tuple(map(int, at)) for at in np.argwhere(value)] == [(0, 0, 1), (1, 1, 1), (2, 0, 1), (3, 1, 1)]


@pytest.mark.parametrize("shape", [[3, 5], [5, 3], [4, 2, 3, 1]])
@pytest.mark.usefixtures("dynamic")
def test_orthogonal(shape: list[int]) -> None:
    value = initial(shape, I.Orthogonal(2.0)).reshape(shape[0], -1)
    short = value if value.shape[0] <= value.shape[1] else value.T
    np.testing.assert_allclose(short @ short.T, 4 * np.eye(len(short)), atol=1e-5)


@pytest.mark.usefixtures("dynamic")
def test_bilinear_filters_resize_linearly() -> None:
    value = initial([1, 1, 4, 4], I.Bilinear())
    line = [0.25, 0.75, 0.75, 0.25]
    np.testing.assert_allclose(value[0, 0], np.outer(line, line))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: initial([4, 2], I.Dirac()), AssertionError, "3/4/5 dimensions"),
        (lambda: initial([5, 2, 3], I.Dirac(2)), AssertionError, "divisible by groups"),
        (lambda: I.Dirac(0), AssertionError, "positive integer"),
        (lambda: initial([4], I.Orthogonal()), AssertionError, "2 or more dimensions"),
        (lambda: initial([4, 2], I.Bilinear()), ValueError, "length of shape must be 4"),
        (lambda: initial([1, 1, 3, 2], I.Bilinear()), ValueError, "must be equal"),
        (lambda: I.set_global_initializer(3), TypeError, "takes initializers"),
    ],
)
@pytest.mark.usefixtures("dynamic")
def test_what_they_refuse(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.usefixtures("dynamic", "everywhere")
def test_one_initializer_for_all_parameters_but_those_with_their_own() -> None:
    I.set_global_initializer(I.Constant(2.0), I.Constant(3.0))
    layer = paddle.nn.Linear(2, 2, bias_attr=I.Constant(5.0))
    norm = paddle.nn.LayerNorm(2)
    assert layer.weight.numpy().tolist() == [[2, 2], [2, 2]]
    assert layer.bias.numpy().tolist() == [5, 5]
    assert (norm.weight.numpy().tolist(), norm.bias.numpy().tolist()) == ([2, 2], [3, 3])
    I.set_global_initializer(None)
    assert paddle.nn.LayerNorm(2).weight.numpy().tolist() == [1, 1]
