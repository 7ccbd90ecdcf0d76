"""Draws have the mean and the variance that the distribution tells, and its density."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool import paddle

D = paddle.distribution
N = 20_000

MOMENTS: dict[str, Any] = {
    "Normal": lambda: D.Normal([0.5, -1.0], [1.0, 2.0]),
    "LogNormal": lambda: D.LogNormal(0.1, 0.5),
    "Uniform": lambda: D.Uniform(-1.0, [2.0, 3.0]),
    "Bernoulli": lambda: D.Bernoulli([0.2, 0.7]),
    "Beta": lambda: D.Beta([0.7, 2.0], 1.5),
    "Binomial": lambda: D.Binomial(7, [0.2, 0.7]),
    "Chi2": lambda: D.Chi2([2.0, 5.0]),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli([0.2, 0.5, 0.9]),
    "Dirichlet": lambda: D.Dirichlet([0.7, 1.3, 2.1]),
    "Exponential": lambda: D.Exponential([0.5, 2.0]),
    "Gamma": lambda: D.Gamma([0.7, 3.0], 2.0),
    "Geometric": lambda: D.Geometric([0.3, 0.6]),
    "Gumbel": lambda: D.Gumbel([0.5, -1.0], 1.5),
    "Laplace": lambda: D.Laplace([0.5, -1.0], 1.5),
    "Multinomial": lambda: D.Multinomial(4, [[0.2, 0.5, 0.3], [1.0, 1.0, 2.0]]),
    "MultivariateNormal": lambda: D.MultivariateNormal(
        [0.5, -1.0], covariance_matrix=paddle.diag(paddle.ones([2]) * 2)
    ),
    "Poisson": lambda: D.Poisson([0.7, 4.0]),
    "StudentT": lambda: D.StudentT(9.0, [0.5, -1.0], 2.0),
}


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("name", MOMENTS)
def test_mean_and_variance(name: str) -> None:
    paddle.seed(7)
    made = MOMENTS[name]()
    drawn = made.sample([N]).numpy().astype(float)
    mean, variance = made.mean.numpy(), made.variance.numpy()
    np.testing.assert_array_less(np.abs(drawn.mean(0) - mean), 5 * np.sqrt(variance / N))
    fourth = ((drawn - drawn.mean(0)) ** 4).mean(0)
    np.testing.assert_array_less(np.abs(drawn.var(0) - variance), 6 * np.sqrt(fourth / N))


@pytest.mark.usefixtures("dynamic")
def test_categories_come_as_often_as_the_softmax_says() -> None:
    paddle.seed(7)
    drawn = D.Categorical(paddle.to_tensor([0.1, 0.9])).sample([N]).numpy()
    assert abs(drawn.mean() - 1 / (1 + math.exp(-0.8))) < 0.02


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("method", ["onion", "cvine"])
def test_correlations_are_those_of_the_density(method: str) -> None:
    paddle.seed(7)
    factors = D.LKJCholesky(3, 2.0, method).sample([4000]).numpy().astype(float)
    matrices = factors @ factors.transpose(0, 2, 1)
    np.testing.assert_allclose(np.diagonal(matrices, axis1=1, axis2=2), 1, atol=1e-5)
    correlations = matrices[:, [1, 2, 2], [0, 0, 1]]
    # each of them is 2 b - 1 with b from a beta distribution of concentration - 1 + dim / 2 twice
    np.testing.assert_allclose(correlations.var(0), 1 / (2 * 2.5 + 1), rtol=0.1)


@pytest.mark.usefixtures("dynamic")
def test_a_gradient_goes_through_draws_and_through_densities() -> None:
    loc = paddle.to_tensor([0.5], stop_gradient=False)
    normal = D.Normal(loc, paddle.ones([1]))
    squashed = D.TransformedDistribution(
        normal, [D.TanhTransform(), D.AffineTransform(paddle.zeros([1]), paddle.ones([1]))]
    )
    action = squashed.rsample([3])
    (action.sum() + squashed.log_prob(action.detach()).sum()).backward()
    assert loc.grad.shape == [1]
    assert D.Cauchy(loc, 1.0).sample().stop_gradient


@pytest.mark.usefixtures("dynamic")
def test_a_formula_of_the_users_own_is_found_for_subclasses() -> None:
    class Narrow(D.Normal):
        pass

    class Wide(D.Distribution):
        pass

    with pytest.raises(NotImplementedError, match="Narrow and Wide"):
        D.kl_divergence(Narrow(0.0, 1.0), Wide())
    D.register_kl(D.Normal, Wide)(lambda p, q: "found")
    assert D.kl_divergence(Narrow(0.0, 1.0), Wide()) == "found"
    assert float(D.kl_divergence(Narrow(0.0, 1.0), D.Normal(0.0, 1.0))) == 0


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: D.Normal("a", 1.0), TypeError, "'loc' must be"),
        (lambda: D.Normal(0.0, 1.0).sample(3), TypeError, "'shape' must be"),
        (lambda: D.Multinomial(0, paddle.ones([2])), ValueError, "greater than zero"),
        (lambda: D.Multinomial(2, 1.0), ValueError, "over one dimension"),
        (lambda: D.MultivariateNormal(paddle.zeros([2])), ValueError, "xactly one of covariance_matrix"),
        (lambda: D.LKJCholesky(1), ValueError, "greater than or equal to 2"),
        (lambda: D.LKJCholesky(2, 1.0, "x"), ValueError, "'cvine' or 'onion'"),
        (lambda: D.Independent(D.Normal(0.0, 1.0), 1), ValueError, "reinterpreted_batch_rank"),
        (lambda: D.Dirichlet(1.0), ValueError, "at least one dimension"),
        (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.ExpTransform()), TypeError, "Sequence"),
        (lambda: D.AffineTransform(0.0, 1.0), TypeError, "'loc' is a Tensor"),
        (lambda: D.ReshapeTransform((2, 3), (5,)), ValueError, "6!=5"),
        (lambda: D.ChainTransform([1]), TypeError, "Transform type"),
        (lambda: D.Cauchy(0.0, 1.0).mean, ValueError, "no mean"),
        (lambda: D.Beta(0.5, 0.5).rsample(), NotImplementedError, "Beta has no rsample"),
        (lambda: D.SoftmaxTransform().forward(paddle.ones([])), ValueError, "at least 1 dimension"),
        (lambda: D.Transform().forward(paddle.ones([1])), NotImplementedError, "Transform has no forward"),
    ],
)
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_programs_compute_densities() -> None:
    x = paddle.static.data("x", [2, 3])
    loc = paddle.static.create_parameter([3], "float32", name="loc")
    loss = -D.Normal(loc, paddle.ones([3])).log_prob(x).sum()
    pairs = paddle.static.append_backward(loss)
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    (slope,) = executor.run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[pairs[0][1]])
    value = executor.run(feed={"x": np.ones((2, 3), "float32")}, fetch_list=[loc])[0]
    np.testing.assert_allclose(slope, 2 * (value - 1), rtol=1e-5)


@pytest.mark.usefixtures("dynamic")
def test_what_was_drawn_is_asked_about_as_it_is() -> None:
    drawn = paddle.to_tensor([1, 0])
    assert D.Categorical([1.0, 3.0]).probs(drawn).tolist() == D.Categorical([1.0, 3.0]).probs([1, 0]).tolist()


@pytest.mark.usefixtures("dynamic")
@pytest.mark.parametrize("make", [D.Normal, D.LogNormal, D.Uniform])
def test_the_type_of_what_is_no_tensor_does_not_follow_the_default(make: Any) -> None:
    def kind(low: Any, high: Any) -> str:
        return make(low, high).sample([2]).dtype.name

    assert kind(np.zeros(2), np.ones(2)) == "float64"
    paddle.set_default_dtype("float64")
    assert [kind(0.0, 1.0), kind([0.0], [1.0]), kind(np.zeros(2, "float32"), 1.0)] == ["float32"] * 3
    assert kind(paddle.zeros([2]), paddle.ones([2])) == "float64"
