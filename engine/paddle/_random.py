"""``paddle.rand``, ``paddle.randint``, …: random tensors (``paddle.seed`` starts their stream anew)."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor

from ._arguments import dims, integer, tensor
from ._creation import cast, full_like
from ._creation import shape as shape_of
from ._dispatch import apply
from ._manipulation import reshape


def _draw(op_type: str, shape: Any, dtype: Any, where: str, key: str, name: str | None, **attrs: Any) -> AnyTensor:
    size = dims(shape, "shape", where, ndim=0)
    out = apply(
        op_type,
        size.whole,
        size.parts,
        attrs={**attrs, "shape": size.numbers, "dtype": dtype_of(dtype).code},
        key=key,
        name=name,
    )
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def uniform(
    shape: Any, dtype: Any = None, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> AnyTensor:
    """Numbers drawn evenly from *min* up to *max*.

    Args:
        shape: a list of numbers and variables, or a variable.
        seed: 0 for the process's stream, another number for the same draw every time.
    """
    dtype = dtype if dtype is not None else state.default_dtype()
    where = "paddle.uniform"
    return _draw("uniform_random", shape, dtype, where, "uniform", name, min=float(min), max=float(max), seed=seed)


def rand(shape: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Numbers drawn evenly from 0 up to 1."""
    return uniform(shape, dtype, 0.0, 1.0, name=name)


def gaussian(
    shape: Any, mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = None, name: str | None = None
) -> AnyTensor:
    """Numbers from a normal distribution."""
    dtype = dtype if dtype is not None else state.default_dtype()
    where = "paddle.gaussian"
    return _draw("gaussian_random", shape, dtype, where, "gaussian", name, mean=float(mean), std=float(std), seed=seed)


def randn(shape: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Numbers from the standard normal distribution."""
    return gaussian(shape, dtype=dtype, name=name)


def standard_normal(shape: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Numbers from the standard normal distribution."""
    return gaussian(shape, dtype=dtype, name=name)


def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None) -> AnyTensor:
    """Numbers from a normal distribution; *mean* and *std* may be tensors, with one number drawn for each element.

    Args:
        shape: of the result, when neither is a tensor.
    """
    if isinstance(mean, AnyTensor):
        if isinstance(std, AnyTensor):
            std = reshape(std, shape_of(mean))
        return _scaled(gaussian(shape_of(mean), dtype=mean.dtype, name=name), mean, std)
    if isinstance(std, AnyTensor):
        return _scaled(gaussian(shape_of(std), dtype=std.dtype, name=name), mean, std)
    return gaussian([] if shape is None else shape, mean, std, name=name)


def _scaled(drawn: Any, mean: Any, std: Any) -> AnyTensor:
    out = drawn * std + mean
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def randint(
    low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> AnyTensor:
    """Whole numbers from *low* up to but without *high*; from 0 up to *low* without *high*."""
    low, high = _bounds(low, high, "paddle.randint")
    dtype = "int64" if dtype is None else dtype
    return _draw("randint", shape, dtype, "paddle.randint", "randint", name, low=low, high=high)


def randint_like(
    x: Any, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None
) -> AnyTensor:
    """Whole numbers as :func:`randint` draws them, in the shape and dtype of *x*."""
    x = tensor(x, "x", "paddle.randint_like")
    low, high = _bounds(low, high, "paddle.randint_like")
    drawn = _draw("randint", shape_of(x), "int64", "paddle.randint_like", "randint", name, low=low, high=high)
    out = cast(drawn, x.dtype if dtype is None else dtype)
    out.stop_gradient = True
    return out


def _bounds(low: Any, high: Any, where: str) -> tuple[int, int]:
    if high is None:
        low, high = 0, low
    first, last = integer(low, "low", where), integer(high, "high", where)
    if first >= last:
        raise UsageError(f"{where}: low must be less than high, but received low={first}, high={last}.")
    return first, last


def randperm(n: int, dtype: Any = "int64", name: str | None = None) -> AnyTensor:
    """The whole numbers below *n* in random order."""
    count = integer(n, "n", "paddle.randperm")
    if count < 0:
        raise UsageError(f"paddle.randperm: n must not be negative, but received {count}.")
    out = apply("randperm", attrs={"n": count, "dtype": dtype_of(dtype).code}, name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def bernoulli(x: Any, p: float | None = None, name: str | None = None) -> AnyTensor:
    """Ones with the probabilities *x* (with the probability *p* everywhere, when it is given), else zeros."""
    x = tensor(x, "x", "paddle.bernoulli")
    out = apply("bernoulli", x if p is None else full_like(x, p), key="randint", name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]
