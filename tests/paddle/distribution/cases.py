"""Calls of ``paddle.distribution`` that Paddle and gradtool shall answer alike, as source text.

Each row is how a distribution is made and what is asked of it. ``t(…)`` is a tensor of float64 whose gradient is
compared as well, ``v(…)`` one without, ``f(…)`` one of float32 and ``i(…)`` one of int64; ``D`` is the package.
"""

# ruff: noqa: E501 (a row is read as a whole)
from __future__ import annotations

from typing import Any

DENSITIES: dict[str, tuple[str, ...]] = {
    "D.Normal(t([0.1, -0.4, 2.0]), t([0.7, 1.3, 2.1]))": (
        "mean variance entropy() log_prob(t([0.3,0.8,-0.45])) probs(t([0.3,0.8,-0.45]))",
        "kl_divergence(D.Normal(t([1.1, -0.2, 1.0]), t([1.7, 0.3, 1.1])))",
        "batch_shape event_shape",
    ),
    "D.Normal(0.0, 1.0)": ("mean variance entropy() log_prob(f([0.5])) probs(f([0.5])) batch_shape",),
    "D.Normal([0.0, 1.0], [1.0, 2.0])": ("mean variance entropy() log_prob(f([0.5, 1.0])) batch_shape",),
    "D.Normal(t([0.1, -0.4]), 2.0)": ("entropy() log_prob(t([0.3, 0.8]))",),
    "D.Uniform(t([0.1, -0.4]), t([0.7, 1.3]))": (
        "entropy() log_prob(t([0.3, 0.8])) probs(t([0.3, 0.8])) log_prob(t([0.9, 0.1])) probs(t([0.9, 0.1]))",
        "batch_shape",
    ),
    "D.Uniform(0.0, 2.0)": ("entropy() log_prob(f([0.5, 3.0])) probs(f([0.5, 3.0])) batch_shape",),
    "D.Bernoulli(t([0.1, 0.4, 0.8]))": (
        "mean variance entropy() log_prob(v([1.0, 0.0, 1.0])) prob(v([1.0, 0.0, 0.0])) cdf(v([-0.5, 0.4, 1.0]))",
        "kl_divergence(D.Bernoulli(t([0.3, 0.5, 0.7]))) batch_shape",
    ),
    "D.Bernoulli(0.3)": ("mean variance entropy() log_prob(f([1.0])) prob(f([0.0])) cdf(f([0.5])) batch_shape",),
    "D.Bernoulli(t([0.0, 1.0]))": ("entropy() log_prob(v([1.0, 0.0])) variance",),
    "D.Beta(t([0.7, 1.3]), t([2.1, 0.6]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) batch_shape",
        "kl_divergence(D.Beta(t([1.7, 0.3]), t([1.1, 1.6])))",
    ),
    "D.Beta(0.5, 0.5)": ("mean variance entropy() log_prob(f([0.5])) batch_shape",),
    "D.Binomial(10, t([0.3, 0.6]))": (
        "mean variance entropy() log_prob(v([3.0, 8.0])) prob(v([3.0, 8.0])) batch_shape",
        "kl_divergence(D.Binomial(10, t([0.5, 0.2])))",
    ),
    "D.Categorical(t([0.2, 0.5, 0.9]))": (
        "entropy() log_prob(i([2, 0])) probs(i([2, 0])) kl_divergence(D.Categorical(t([0.4, 0.1, 0.3]))) batch_shape",
    ),
    "D.Categorical(t([[0.2, 0.5, 0.9], [1.0, 0.4, 0.6]]))": (
        "entropy() log_prob(i([2, 0])) probs(i([[2, 0], [1, 1]])) log_prob(i([[1], [2]]))",
        "kl_divergence(D.Categorical(t([[0.4, 0.1, 0.3], [0.2, 0.2, 0.3]]))) batch_shape",
    ),
    "D.Categorical([0.2, 0.5, 0.9])": ("entropy() probs(i([2, 0]))",),
    "D.Categorical(t([-1.0, 0.5, 0.9]))": ("entropy() probs(i([2, 0])) log_prob(i([2, 1]))",),
    "D.Cauchy(t([0.1, -0.4]), t([0.7, 1.3]))": (
        "entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) cdf(t([0.3, 0.8])) batch_shape",
        "kl_divergence(D.Cauchy(t([1.1, -0.2]), t([1.7, 0.3])))",
    ),
    "D.Cauchy(0.1, 1.2)": ("entropy() log_prob(f([1.5])) batch_shape",),
    "D.Chi2(t([1.5, 4.0]))": ("mean variance entropy() log_prob(t([0.3, 2.8])) prob(t([0.3, 2.8])) batch_shape df",),
    "D.ContinuousBernoulli(t([0.2, 0.5, 0.9]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8, 0.1])) prob(t([0.3, 0.8, 0.1])) cdf(t([0.3, 0.8, 0.1]))",
        "icdf(t([0.3, 0.8, 0.1])) kl_divergence(D.ContinuousBernoulli(t([0.4, 0.1, 0.5]))) batch_shape",
    ),
    "D.Dirichlet(t([[0.7, 1.3, 2.1], [1.0, 2.0, 3.0]]))": (
        "mean variance entropy() log_prob(t([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]])) prob(t([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]))",
        "kl_divergence(D.Dirichlet(t([[1.7, 0.3, 1.1], [1.0, 1.0, 1.0]]))) batch_shape event_shape",
    ),
    "D.Exponential(t([0.7, 1.3]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) cdf(t([0.3, 0.8])) icdf(t([0.3, 0.8]))",
        "kl_divergence(D.Exponential(t([1.7, 0.3]))) batch_shape",
    ),
    "D.Exponential(0.5)": ("mean variance entropy() log_prob(f([0.5])) batch_shape",),
    "D.Gamma(t([0.7, 1.3]), t([2.1, 0.6]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) batch_shape",
        "kl_divergence(D.Gamma(t([1.7, 0.3]), t([1.1, 1.6])))",
    ),
    "D.Gamma(0.5, 0.5)": ("mean variance entropy() log_prob(f([0.5])) batch_shape",),
    "D.Geometric(t([0.3, 0.6]))": (
        "mean variance stddev entropy() log_pmf(v([2.0, 1.0])) pmf(v([2.0, 1.0])) cdf(v([2.0, 1.0])) pmf(3) batch_shape",
        "kl_divergence(D.Geometric(t([0.5, 0.2])))",
    ),
    "D.Gumbel(t([0.1, -0.4]), t([0.7, 1.3]))": (
        "mean variance stddev entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) cdf(t([0.3, 0.8])) batch_shape",
    ),
    "D.Gumbel(0.0, 1.0)": ("mean variance entropy() batch_shape",),
    "D.Laplace(t([0.1, -0.4]), t([0.7, 1.3]))": (
        "mean variance stddev entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) cdf(t([0.3, 0.8])) icdf(t([0.3, 0.8]))",
        "kl_divergence(D.Laplace(t([1.1, -0.2]), t([1.7, 0.3]))) batch_shape",
    ),
    "D.LogNormal(t([0.1, -0.4]), t([0.7, 1.3]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) probs(t([0.3, 0.8])) batch_shape",
        "kl_divergence(D.LogNormal(t([1.1, -0.2]), t([1.7, 0.3])))",
    ),
    "D.Multinomial(4, t([0.2, 0.5, 0.3]))": (
        "mean variance entropy() log_prob(v([1.0, 2.0, 1.0])) prob(v([1.0, 2.0, 1.0])) batch_shape event_shape",
    ),
    "D.Multinomial(3, t([[0.2, 0.5, 0.3], [0.4, 0.4, 0.4]]))": (
        "mean variance log_prob(v([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])) batch_shape event_shape",
    ),
    "D.MultivariateNormal(t([0.1, -0.4]), covariance_matrix=t([[2.0, 0.5], [0.5, 1.0]]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) prob(t([[0.3, 0.8], [1.0, 0.0]])) batch_shape event_shape",
        "kl_divergence(D.MultivariateNormal(t([1.1, -0.2]), covariance_matrix=t([[1.0, 0.2], [0.2, 1.5]])))",
    ),
    "D.MultivariateNormal(t([0.1, -0.4]), precision_matrix=t([[2.0, 0.5], [0.5, 1.0]]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8]))",
    ),
    "D.MultivariateNormal(t([[0.1, -0.4]]), scale_tril=t([[2.0, 0.0], [0.5, 1.0]]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) batch_shape event_shape",
    ),
    "D.Poisson(t([0.7, 2.3]))": (
        "mean variance entropy() log_prob(v([1.0, 3.0])) prob(v([1.0, 3.0])) batch_shape",
        "kl_divergence(D.Poisson(t([1.7, 0.3])))",
    ),
    "D.StudentT(t([3.5, 7.0]), t([0.1, -0.4]), t([0.7, 1.3]))": (
        "mean variance entropy() log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) batch_shape",
    ),
    "D.StudentT(t([0.5, 1.5]), 0.0, 1.0)": ("mean variance",),
    "D.LKJCholesky(3, 1.5)": (
        "log_prob(t([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]])) batch_shape event_shape",
    ),
    "D.Independent(D.Normal(t([0.1, -0.4, 2.0]), t([0.7, 1.3, 2.1])), 1)": (
        "mean variance entropy() log_prob(t([0.3, 0.8, -0.45])) prob(t([0.3, 0.8, -0.45])) batch_shape event_shape",
    ),
    "D.TransformedDistribution(D.Normal(t([0.1, -0.4]), t([0.7, 1.3])), [D.TanhTransform()])": (
        "log_prob(t([0.3, 0.8])) prob(t([0.3, 0.8])) batch_shape event_shape",
    ),
    "D.TransformedDistribution(D.Normal(t([0.1, -0.4]), t([0.7, 1.3])), "
    "[D.AffineTransform(t([1.0, 2.0]), t([0.5, 2.0])), D.ExpTransform()])": ("log_prob(t([3.3, 8.8])) batch_shape",),
}

TRANSFORMS: dict[str, tuple[str, str]] = {
    "D.AbsTransform()": ("t([-1.0, 0.5])", "t([1.0, 0.5])"),
    "D.AffineTransform(t([1.0, 2.0]), t([0.5, -2.0]))": ("t([-1.0, 0.5])", "t([1.0, 0.5])"),
    "D.ExpTransform()": ("t([-1.0, 0.5])", "t([1.0, 0.5])"),
    "D.PowerTransform(t(2.0))": ("t([1.5, 0.5])", "t([1.0, 0.5])"),
    "D.SigmoidTransform()": ("t([-1.0, 0.5])", "t([0.2, 0.5])"),
    "D.TanhTransform()": ("t([-1.0, 0.5])", "t([0.2, -0.5])"),
    "D.SoftmaxTransform()": ("t([-1.0, 0.5, 0.7])", "t([0.2, 0.5, 0.3])"),
    "D.StickBreakingTransform()": ("t([-1.0, 0.5, 0.7])", "t([0.2, 0.4, 0.3, 0.1])"),
    "D.ReshapeTransform((2, 3), (3, 2))": (
        "t([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]])",
        "t([[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]])",
    ),
    "D.IndependentTransform(D.ExpTransform(), 1)": ("t([[-1.0, 0.5]])", "t([[1.0, 0.5]])"),
    "D.ChainTransform((D.AffineTransform(t(1.0), t(2.0)), D.ExpTransform()))": ("t([-1.0, 0.5])", "t([1.0, 0.5])"),
    "D.StackTransform([D.ExpTransform(), D.PowerTransform(t(2.0))], axis=1)": (
        "t([[1.0, 2.0], [0.5, 3.0]])",
        "t([[1.0, 2.0], [0.5, 3.0]])",
    ),
}

QUESTIONS = (
    "forward({x}) inverse({y}) forward_log_det_jacobian({x}) inverse_log_det_jacobian({y}) forward_shape((3, 2, 3))"
)

DRAWS: dict[str, str] = {
    "D.Normal(t([0.1, -0.4, 2.0]), t([0.7, 1.3, 2.1]))": "sample([4]) rsample([4, 2]) sample() rsample()",
    "D.Normal(0.0, 1.0)": "sample([4]) rsample([4]) sample()",
    "D.Uniform(t([0.1, -0.4]), t([0.7, 1.3]))": "sample([4]) sample()",
    "D.Uniform(0.0, 2.0)": "sample([4]) sample()",
    "D.Bernoulli(t([0.1, 0.4, 0.8]))": "sample([4]) rsample([4]) rsample([4], 0.5) sample()",
    "D.Bernoulli(0.3)": "sample([4]) rsample([4])",
    "D.Beta(t([0.7, 1.3]), t([2.1, 0.6]))": "sample([4]) sample()",
    "D.Binomial(10, t([0.3, 0.6]))": "sample([4]) sample()",
    "D.Categorical(t([0.2, 0.5, 0.9]))": "sample([4]) sample([4, 2])",
    "D.Categorical(t([[0.2, 0.5, 0.9], [1.0, 0.4, 0.6]]))": "sample([4]) sample([4, 2])",
    "D.Cauchy(t([0.1, -0.4]), t([0.7, 1.3]))": "sample([4]) rsample([4]) sample()",
    "D.Chi2(t([1.5, 4.0]))": "sample([4]) rsample([4]) sample()",
    "D.ContinuousBernoulli(t([0.2, 0.5, 0.9]))": "sample([4]) rsample([4]) sample()",
    "D.Dirichlet(t([[0.7, 1.3, 2.1], [1.0, 2.0, 3.0]]))": "sample([4]) sample()",
    "D.Exponential(t([0.7, 1.3]))": "sample([4]) rsample([4]) sample()",
    "D.Gamma(t([0.7, 1.3]), t([2.1, 0.6]))": "sample([4]) rsample([4]) sample()",
    "D.Geometric(t([0.3, 0.6]))": "sample([4]) rsample([4]) sample()",
    "D.Gumbel(t([0.1, -0.4]), t([0.7, 1.3]))": "sample([4]) rsample([4]) sample()",
    "D.Laplace(t([0.1, -0.4]), t([0.7, 1.3]))": "sample([4]) rsample([4]) sample()",
    "D.LogNormal(t([0.1, -0.4]), t([0.7, 1.3]))": "sample([4]) rsample([4]) sample()",
    "D.Multinomial(4, t([0.2, 0.5, 0.3]))": "sample([4]) sample()",
    "D.MultivariateNormal(t([0.1, -0.4]), covariance_matrix=t([[2.0, 0.5], [0.5, 1.0]]))": "sample([4]) rsample([4]) sample()",
    "D.Poisson(t([0.7, 2.3]))": "sample([4]) sample()",
    "D.StudentT(t([3.5, 7.0]), t([0.1, -0.4]), t([0.7, 1.3]))": "sample([4]) sample()",
    "D.LKJCholesky(3, 1.5)": "sample([4]) sample()",
    "D.LKJCholesky(3, 1.5, 'cvine')": "sample([4]) sample()",
    "D.Independent(D.Normal(t([0.1, -0.4, 2.0]), t([0.7, 1.3, 2.1])), 1)": "sample([4]) rsample([4]) sample()",
    "D.TransformedDistribution(D.Normal(t([0.1, -0.4]), t([0.7, 1.3])), [D.TanhTransform()])": "sample([4]) rsample([4]) sample()",
}
"""What is drawn: shapes, element types and whether a gradient goes through are compared, numbers are not."""


def questions() -> list[tuple[str, str]]:
    """Every distribution or transform with every question, in order."""
    rows = [(made, asked) for made, lines in DENSITIES.items() for line in lines for asked in words(line)]
    for made, (x, y) in TRANSFORMS.items():
        rows += [(made, asked) for asked in words(QUESTIONS.format(x=x, y=y))]
    return rows


def draws() -> list[tuple[str, str]]:
    """Every distribution with every way of drawing from it."""
    return [(made, asked) for made, line in DRAWS.items() for asked in words(line)]


def words(line: str) -> list[str]:
    """Its parts: spaces inside brackets divide nothing."""
    parts, depth = [""], 0
    for letter in line:
        depth += (letter in "([") - (letter in ")]")
        if letter == " " and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part for part in parts if part]


def evaluate(paddle: Any, made: str, asked: str, numbers: list[Any] | None = None) -> tuple[Any, list[Any]]:
    """What *paddle* gives, and the leaves, which take *numbers* in place of those of the source."""
    leaves: list[Any] = []

    def t(written: Any) -> Any:
        value = written if numbers is None else numbers[len(leaves)]
        leaves.append(paddle.to_tensor(value, dtype="float64", stop_gradient=False))
        return leaves[-1]

    scope = {
        "D": paddle.distribution,
        "paddle": paddle,
        "t": t,
        "v": lambda written: paddle.to_tensor(written, dtype="float64"),
        "f": lambda written: paddle.to_tensor(written, dtype="float32"),
        "i": lambda written: paddle.to_tensor(written, dtype="int64"),
    }
    return eval(f"{made}.{asked}", scope), leaves


def leaves(paddle: Any, made: str, asked: str) -> list[Any]:
    """The numbers of the leaves."""
    return [leaf.numpy() for leaf in evaluate(paddle, made, asked)[1]]


def weighted(paddle: Any, made: str, asked: str, numbers: list[Any]) -> float:
    """The sum of what comes, each element with its own weight, where the leaves are *numbers*."""
    return float(_weighted(paddle, _through(evaluate(paddle, made, asked, numbers)[0])))


def _through(value: Any) -> list[Any]:
    return [v for v in (value if isinstance(value, tuple | list) else [value]) if not v.stop_gradient]


def _weighted(paddle: Any, values: list[Any]) -> Any:
    sums = [(v * (paddle.arange(v.size, dtype="float64").reshape(v.shape) + 1).astype(v.dtype)).sum() for v in values]
    return sum(sums[1:], sums[0])


def answer(paddle: Any, made: str, asked: str, grads: bool = True) -> dict[str, Any]:
    """What *paddle* says: the error's kinds, or types, shapes and numbers of what comes and the gradients of its
    sum.
    """
    try:
        value, operands = evaluate(paddle, made, asked)
    except Exception as error:
        return {"raises": [kind.__name__ for kind in type(error).__mro__]}
    values = value if isinstance(value, tuple | list) else [value]
    if not all(isinstance(v, paddle.Tensor) for v in values):
        return {"is": [*map(int, values)]}
    told: dict[str, Any] = {
        "dtype": [str(v.dtype).rsplit(".", 1)[-1] for v in values],
        "shape": [[*v.shape] for v in values],
        "values": [v.astype("float64").numpy().ravel().tolist() for v in values],
    }
    if grads and _through(value):
        _weighted(paddle, _through(value)).backward()
        told["grads"] = [None if x.grad is None else x.grad.numpy().ravel().tolist() for x in operands]
    return told
