"""``paddle.poisson``, ``paddle.multinomial``, ``paddle.log_normal``, …: further random numbers."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor

from ._arguments import integer, tensor
from ._creation import shape as shape_of
from ._dispatch import apply
from ._math import exp
from ._random import gaussian, normal, uniform

REAL = ("float16", "bfloat16", "float32", "float64")


def _drawn(op_type: str, *operands: Any, name: str | None = None, **attrs: Any) -> AnyTensor:
    made = apply(op_type, *operands, attrs=attrs, name=name)
    made.stop_gradient = True
    return made  # type: ignore[no-any-return]


def poisson(x: Any, name: str | None = None) -> AnyTensor:
    """Whole numbers from Poisson distributions with the means *x*; its gradient is 0."""
    return apply("poisson", tensor(x, "x", "paddle.poisson", REAL), name=name)  # type: ignore[no-any-return]


def binomial(count: Any, prob: Any, name: str | None = None) -> AnyTensor:
    """Draw how many of *count* tries succeed, each with the probability *prob*; int64."""
    where = "paddle.binomial"
    return _drawn("binomial", tensor(count, "count", where), tensor(prob, "prob", where, REAL), name=name)


def standard_gamma(x: Any, name: str | None = None) -> AnyTensor:
    """Numbers from gamma distributions of the shapes *x* and the scale 1."""
    return _drawn("standard_gamma", tensor(x, "x", "paddle.standard_gamma", REAL), name=name)


def multinomial(
    x: Any, num_samples: int = 1, replacement: bool = False, name: str | None = None, *, out: Any = None
) -> AnyTensor:
    """Places in the last dimension, drawn with chances in proportion to its numbers.

    Args:
        replacement: whether a place may be drawn several times.

    Raises:
        UsageError: more places than have a chance are to be drawn without replacement (a ValueError).
    """
    from ._short_names import delivered

    where = "paddle.multinomial"
    count = int(num_samples) if isinstance(num_samples, Tensor) else integer(num_samples, "num_samples", where)
    x = tensor(x, "x", where, REAL)
    return delivered(_drawn("multinomial", x, name=name, num_samples=count, replacement=bool(replacement)), out)  # type: ignore[no-any-return]


def log_normal(mean: Any = 1.0, std: Any = 2.0, shape: Any = None, name: str | None = None) -> AnyTensor:
    """``exp`` of numbers that :func:`normal` draws."""
    return exp(normal(mean, std, shape, name))


def rand_like(
    input: Any, name: str | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> AnyTensor:
    """Numbers drawn evenly from 0 up to 1, in the shape of *input*."""
    x = tensor(input, "input", "paddle.rand_like")
    return _asked(uniform(shape_of(x), x.dtype if dtype is None else dtype, 0.0, 1.0, name=name), requires_grad)


def randn_like(
    x: Any, dtype: Any = None, name: str | None = None, *, device: Any = None, requires_grad: bool = False
) -> AnyTensor:
    """Numbers from the standard normal distribution, in the shape of *x*."""
    x = tensor(x, "x", "paddle.randn_like")
    return _asked(gaussian(shape_of(x), dtype=x.dtype if dtype is None else dtype, name=name), requires_grad)


def _asked(made: AnyTensor, requires_grad: bool) -> AnyTensor:
    made.stop_gradient = not requires_grad
    return made
