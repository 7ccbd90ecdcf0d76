"""``paddle.nn.init``: the initializers as functions that fill a tensor."""

from __future__ import annotations

from typing import Any

from gradtool.paddle import _creation

from . import initializer
from .initializer import calculate_gain as calculate_gain


def kaiming_uniform_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Fill *tensor* as :class:`paddle.nn.initializer.KaimingUniform` does."""
    return initializer.KaimingUniform(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)


def kaiming_normal_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Fill *tensor* as :class:`paddle.nn.initializer.KaimingNormal` does."""
    return initializer.KaimingNormal(negative_slope=a, nonlinearity=nonlinearity, mode=mode)(tensor)


def xavier_uniform_(tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None) -> Any:
    """Fill *tensor* as :class:`paddle.nn.initializer.XavierUniform` does."""
    return initializer.XavierUniform(gain=gain, fan_in=fan_in, fan_out=fan_out)(tensor)


def xavier_normal_(tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None) -> Any:
    """Fill *tensor* as :class:`paddle.nn.initializer.XavierNormal` does."""
    return initializer.XavierNormal(gain=gain, fan_in=fan_in, fan_out=fan_out)(tensor)


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Fill *tensor* with numbers drawn evenly from *a* up to *b*."""
    return initializer.Uniform(low=a, high=b)(tensor)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Fill *tensor* with numbers of a normal distribution."""
    return initializer.Normal(mean=mean, std=std)(tensor)


def trunc_normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Any:
    """Fill *tensor* with numbers of a normal distribution between *a* and *b*."""
    return initializer.TruncatedNormal(mean=mean, std=std, a=a, b=b)(tensor)


def constant_(tensor: Any, val: float) -> Any:
    """Fill *tensor* with one number."""
    return initializer.Constant(value=val)(tensor)


def ones_(tensor: Any) -> Any:
    """Fill *tensor* with ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Fill *tensor* with zeros."""
    return constant_(tensor, 0.0)


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Fill *tensor* as :class:`paddle.nn.initializer.Dirac` does."""
    return initializer.Dirac(groups=groups)(tensor)


def eye_(tensor: Any) -> Any:
    """Fill a matrix with ones on its diagonal.

    >>> from gradtool import paddle
    >>> x = paddle.zeros([2, 2])
    >>> eye_(x).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    assert len(tensor.shape) == 2, f"Only support 2 dimensional tensor, but got {len(tensor.shape)}."
    rows, columns = tensor.shape
    return initializer.Assign(_creation.eye(rows, columns, dtype=tensor.dtype))(tensor)


def orthogonal_(tensor: Any, gain: float = 1) -> Any:
    """Fill *tensor* as :class:`paddle.nn.initializer.Orthogonal` does."""
    return initializer.Orthogonal(gain=gain)(tensor)
