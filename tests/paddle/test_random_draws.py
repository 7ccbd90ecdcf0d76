"""Draws from distributions: their moments, their refusals, and the stream of random numbers that they come from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

MANY = 40000


@pytest.fixture(autouse=True)
def dynamic() -> None:
    paddle.disable_static()
    paddle.seed(11)


def filled(method: str, *args: Any) -> Any:
    return getattr(paddle.zeros([MANY]), method)(*args)


DRAWS: dict[str, tuple[Callable[[], Any], float, float]] = {
    "poisson": (lambda: paddle.poisson(paddle.full([MANY], 3.0)), 3.0, 3.0),
    "binomial": (lambda: paddle.binomial(paddle.full([MANY], 10, "int64"), paddle.full([MANY], 0.3)), 3.0, 2.1),
    "standard_gamma": (lambda: paddle.standard_gamma(paddle.full([MANY], 4.0)), 4.0, 4.0),
    "rand_like": (lambda: paddle.rand_like(paddle.zeros([MANY])), 0.5, 1 / 12),
    "randn_like": (lambda: paddle.randn_like(paddle.zeros([MANY])), 0.0, 1.0),
    "log_normal": (lambda: paddle.log(paddle.log_normal(1.0, 0.5, [MANY])), 1.0, 0.25),
    "exponential_": (lambda: filled("exponential_", 2.0), 0.5, 0.25),
    "bernoulli_": (lambda: filled("bernoulli_", 0.3), 0.3, 0.21),
    "log_normal_": (lambda: paddle.log(filled("log_normal_", 1.0, 0.5)), 1.0, 0.25),
    "geometric_": (lambda: filled("geometric_", 0.5), 1 / np.log(2), 1 / np.log(2) ** 2),
    "random_": (lambda: filled("random_", 0, 7), 3.0, 4.0),
    "normal_": (lambda: paddle.normal_(paddle.zeros([MANY]), 1.0, 0.5), 1.0, 0.25),
}
"""By function: what is drawn, and the mean and variance of its distribution."""


@pytest.mark.parametrize("name", DRAWS)
def test_mean_and_variance(name: str) -> None:
    draw, mean, variance = DRAWS[name]
    values = draw().numpy().astype("float64")
    assert abs(values.mean() - mean) < 5 * np.sqrt(variance / MANY) + 1e-9
    assert abs(values.var() / variance - 1) < 0.1


def test_half_of_a_cauchy_distribution_lies_within_its_scale() -> None:
    values = filled("cauchy_", 1.0, 2.0).numpy()
    assert abs((abs(values - 1.0) < 2.0).mean() - 0.5) < 0.02


def test_places_are_drawn_by_their_chances() -> None:
    chances = paddle.to_tensor([[1.0, 3.0, 0.0, 4.0]])
    drawn = paddle.multinomial(chances, MANY, replacement=True).numpy()
    shares = np.bincount(drawn[0], minlength=4) / MANY
    np.testing.assert_allclose(shares, [1 / 8, 3 / 8, 0, 4 / 8], atol=0.02)


def test_places_without_replacement_are_different_ones() -> None:
    firsts = np.zeros(3)
    for _ in range(400):
        drawn = paddle.multinomial(paddle.to_tensor([1.0, 2.0, 0.0, 5.0]), 3).tolist()
        assert sorted(drawn) == [0, 1, 3]
        firsts[[0, 1, 3].index(drawn[0])] += 1
    np.testing.assert_allclose(firsts / 400, [1 / 8, 2 / 8, 5 / 8], atol=0.08)
    with pytest.raises(ValueError, match="only 3 have a chance"):
        paddle.multinomial(paddle.to_tensor([1.0, 2.0, 0.0, 5.0]), 4)


def test_what_is_no_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match="must not be negative"):
        paddle.multinomial(paddle.to_tensor([1.0, -2.0]))
    with pytest.raises(ValueError, match="must be finite"):
        paddle.poisson(paddle.to_tensor([float("nan")]))
    with pytest.raises(ValueError, match="lam must be positive"):
        filled("exponential_", 0.0)
    with pytest.raises(ValueError, match="from must be less than to"):
        filled("random_", 4, 4)


def test_what_was_there_gets_zeros_as_gradients() -> None:
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    y = x * 1.0
    assert y.exponential_() is y
    (gradient,) = paddle.grad((y * 3.0).sum(), x)
    assert gradient.tolist() == [0.0, 0.0]


def test_a_stored_stream_goes_on_where_it_was() -> None:
    paddle.rand([3])
    stored = paddle.get_rng_state()
    first = paddle.rand([3]).tolist()
    assert paddle.rand([3]).tolist() != first
    paddle.set_rng_state(stored)
    assert paddle.rand([3]).tolist() == first
    paddle.set_rng_state(stored)
    assert paddle.rand([3]).tolist() == first
    with pytest.raises(ValueError, match="should be equal"):
        paddle.set_rng_state([])


def test_a_generator_is_the_stream() -> None:
    generator = paddle.manual_seed(3)
    first = paddle.rand([2]).tolist()
    assert generator.initial_seed() == 3
    assert generator.get_state().current_seed() == 3
    paddle.Generator().manual_seed(3)
    assert paddle.rand([2]).tolist() == first
    assert paddle.get_cuda_rng_state() == []
    paddle.set_cuda_rng_state([])
    with pytest.raises(ValueError, match="gpu state list"):
        paddle.set_cuda_rng_state([1])


def test_a_program_draws_too() -> None:
    paddle.enable_static()
    chances = paddle.static.data("chances", [2, 3])
    drawn = paddle.multinomial(chances, 2)
    counts = paddle.poisson(chances)
    places, numbers = paddle.static.Executor().run(
        feed={"chances": np.ones((2, 3), "float32")}, fetch_list=[drawn, counts]
    )
    assert places.shape == (2, 2)
    assert numbers.dtype == np.float32
