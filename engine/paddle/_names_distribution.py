"""The table of public names of ``paddle.distribution``."""

from __future__ import annotations

from ._lazy import provide

CLASSES = {
    "bernoulli": "Bernoulli",
    "beta": "Beta",
    "binomial": "Binomial",
    "categorical": "Categorical",
    "cauchy": "Cauchy",
    "chi2": "Chi2",
    "continuous_bernoulli": "ContinuousBernoulli",
    "dirichlet": "Dirichlet",
    "distribution": "Distribution",
    "exponential": "Exponential",
    "exponential_family": "ExponentialFamily",
    "gamma": "Gamma",
    "geometric": "Geometric",
    "gumbel": "Gumbel",
    "independent": "Independent",
    "kl": "kl_divergence register_kl",
    "laplace": "Laplace",
    "lkj_cholesky": "LKJCholesky",
    "lognormal": "LogNormal",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "normal": "Normal",
    "poisson": "Poisson",
    "student_t": "StudentT",
    "transformed_distribution": "TransformedDistribution",
    "uniform": "Uniform",
}
TRANSFORMS = {
    "_transform": "Transform",
    "_elementwise_transforms": (
        "AbsTransform AffineTransform ExpTransform PowerTransform SigmoidTransform TanhTransform"
    ),
    "_vector_transforms": "ReshapeTransform SoftmaxTransform StickBreakingTransform",
    "_combined_transforms": "ChainTransform IndependentTransform StackTransform",
}

for _module, _names in CLASSES.items():
    provide("gradtool.paddle.distribution", f"gradtool.paddle.distribution.{_module}", _names)
for _module, _names in TRANSFORMS.items():
    provide("gradtool.paddle.distribution", f"gradtool.paddle.distribution.{_module}", _names)
    provide("gradtool.paddle.distribution.transform", f"gradtool.paddle.distribution.{_module}", _names)
provide("gradtool.paddle.distribution.transform", "gradtool.paddle.distribution._transform", "Type")
