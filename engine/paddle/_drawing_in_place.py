"""``x.exponential_()``, ``x.cauchy_()``, …: tensors filled with random numbers in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ops import registry


def _filling(method: str, draw: Callable[..., Any], doc: str) -> Callable[..., Tensor]:
    """An in-place method that replaces the values by random numbers; what they were computed from gets zeros."""

    def call(x: Tensor, *args: Any, **named: Any) -> Tensor:
        from ._dispatch import compute
        from ._tensor_methods import before, take

        named.pop("name", None)
        x.check_inplace(method)
        numbers = draw(x, *args, **named)
        filled = compute(registry.get_by_type("fill_any"), (before(x),), {"value": 0.0})
        return take(x, filled.placed(np.asarray(numbers).astype(x.array.dtype)), method)

    call.__name__ = call.__qualname__ = method
    call.__doc__ = f"{doc} Returns the tensor; what it was computed from gets zeros as gradients."
    return call


def _exponential(x: Tensor, lam: float = 1.0) -> Any:
    if lam <= 0:
        raise UsageError(f"exponential_: lam must be positive, but received {lam}.")
    return state.random.stream.exponential(1 / lam, x.array.shape)


def _bernoulli(x: Tensor, p: Any = 0.5) -> Any:
    chances = p.array if isinstance(p, Tensor) else p
    return state.random.stream.random(x.array.shape) < chances


def _cauchy(x: Tensor, loc: float = 0, scale: float = 1) -> Any:
    return loc + scale * state.random.stream.standard_cauchy(x.array.shape)


def _geometric(x: Tensor, probs: Any) -> Any:
    """As Paddle: the time that a process with this chance takes, which is no whole number."""
    chances = probs.array if isinstance(probs, Tensor) else probs
    drawn = state.random.stream.uniform(float(np.finfo("float32").tiny), 1.0, x.array.shape)
    return np.log(drawn) / np.log1p(-np.asarray(chances))


def _log_normal(x: Tensor, mean: float = 1.0, std: float = 2.0) -> Any:
    return np.exp(state.random.stream.normal(mean, std, x.array.shape))


def _random(x: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Any:
    low, high = from_, to
    if high is None:
        high = 2**24 if x.dtype.is_floating else min(np.iinfo(x.array.dtype).max, 2**63 - 1)
    if low >= high:
        raise UsageError(f"random_: from must be less than to, but received from={low}, to={high}.")
    return state.random.stream.integers(low, high, x.array.shape)


FILLS = {
    "bernoulli_": _filling("bernoulli_", _bernoulli, "Replace the values by ones with that probability, else zeros."),
    "cauchy_": _filling("cauchy_", _cauchy, "Replace the values by numbers from a Cauchy distribution."),
    "exponential_": _filling("exponential_", _exponential, "Replace the values by numbers of an exponential one."),
    "geometric_": _filling("geometric_", _geometric, "Replace the values by numbers from a geometric distribution."),
    "log_normal_": _filling("log_normal_", _log_normal, "Replace the values by ``exp`` of normal numbers."),
    "random_": _filling("random_", _random, "Replace the values by whole numbers from one up to without another."),
}
"""The methods by name."""

bernoulli_, cauchy_, geometric_, log_normal_ = (
    FILLS[n] for n in ("bernoulli_", "cauchy_", "geometric_", "log_normal_")
)


def normal_(x: Any, mean: Any = 0.0, std: Any = 1.0, name: str | None = None) -> AnyTensor:
    """Replace the values of *x* by numbers from a normal distribution; returns it."""
    from ._arguments import tensor

    return tensor(x, "x", "paddle.normal_").normal_(mean, std)  # type: ignore[no-any-return]
