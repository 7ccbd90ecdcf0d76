"""Initial values of parameters: each initializer names the operator that fills the parameter."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from gradtool.engine.core import settings
from gradtool.engine.core.errors import ArgumentTypeError, ShapeError, UsageError
from gradtool.engine.core.spec import TensorSpec
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle import _lazy
from gradtool.paddle._dispatch import apply

__path__: list[str] = []  # there are modules below it, in the table of old paths


class Initializer:
    """Base of all initializers."""

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        """Type and attributes of the startup operator for a parameter of that spec."""
        raise TypeError(f"{type(self).__name__} does not say how to initialise")

    def __call__(self, param: Any, block: Any = None) -> Any:
        """Append the operator that fills *param* to *block* (of the startup program); fill a tensor at once."""
        if isinstance(param, Tensor):
            type_, attrs = self.operator(param.spec)
            value = apply(type_, attrs=attrs)
            if value.shape == param.shape:
                param.set_value(value)
            else:
                param.array = value.array
                param.version.wrote("set_value")
            return param
        home = block if block is not None else param.block
        type_, attrs = self.operator(param.spec)
        return home.append_op(type=type_, outputs={"Out": param}, attrs=attrs)


def fans(spec: TensorSpec) -> tuple[int, int]:
    """Inputs and outputs of one unit: the two sizes of a matrix, scaled by the window of a convolution filter."""
    shape = spec.shape
    if len(shape) < 2:
        size = shape[0] if shape else 1
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


class Constant(Initializer):
    """One value everywhere."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "fill_constant", {
            "shape": spec.shape,
            "dtype": spec.dtype.code,
            "value": float(self.value),
            "str_value": str(float(self.value)),
        }


class Uniform(Initializer):
    """Drawn evenly between *low* and *high*."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low = low
        self.high = high

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "uniform_random", {
            "shape": spec.shape,
            "dtype": spec.dtype.code,
            "min": float(self.low),
            "max": float(self.high),
        }


class Normal(Initializer):
    """Drawn from the normal distribution of *mean* and standard deviation *std*."""

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean = mean
        self.std = std

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "gaussian_random", {
            "shape": spec.shape,
            "dtype": spec.dtype.code,
            "mean": float(self.mean),
            "std": float(self.std),
        }


class TruncatedNormal(Initializer):
    """As :class:`Normal`, but only between *a* and *b*, in standard deviations from the mean."""

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        self.mean = mean
        self.std = std
        self.a = a
        self.b = b

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "truncated_gaussian_random", {
            "shape": spec.shape,
            "dtype": spec.dtype.code,
            "mean": float(self.mean),
            "std": float(self.std),
            "a": float(self.a),
            "b": float(self.b),
        }


class _Xavier(Initializer):
    """Variance ``2 · gain² / (fan_in + fan_out)`` (Glorot and Bengio 2010)."""

    def __init__(
        self,
        fan_in: float | None = None,
        fan_out: float | None = None,
        gain: float = 1.0,
        name: str | None = None,
    ) -> None:
        self.fan_in = fan_in
        self.fan_out = fan_out
        self.gain = gain

    def deviation(self, spec: TensorSpec) -> float:
        fan_in, fan_out = fans(spec)
        total = (fan_in if self.fan_in is None else self.fan_in) + (fan_out if self.fan_out is None else self.fan_out)
        return self.gain * math.sqrt(2 / total) if total else 0.0


class XavierUniform(_Xavier):
    """Drawn evenly within ``±gain · sqrt(6 / (fan_in + fan_out))`` (Glorot and Bengio 2010)."""

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        limit = math.sqrt(3) * self.deviation(spec)
        return Uniform(-limit, limit).operator(spec)


class XavierNormal(_Xavier):
    """Drawn from a normal distribution of deviation ``gain · sqrt(2 / (fan_in + fan_out))``."""

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return Normal(0.0, self.deviation(spec)).operator(spec)


_GAINS = {
    **dict.fromkeys(("sigmoid", "linear", "conv1d", "conv2d", "conv3d"), 1),
    **dict.fromkeys(("conv1d_transpose", "conv2d_transpose", "conv3d_transpose"), 1),
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much weights must grow to make up for what an activation takes away from the variance.

    Args:
        param: the slope of ``leaky_relu`` below 0, 0.01 by default.

    Raises:
        UsageError: an activation that has none (a ValueError).
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else float(param)
        return math.sqrt(2 / (1 + slope * slope))
    if nonlinearity not in _GAINS:
        names = ", ".join(sorted([*_GAINS, "leaky_relu"]))
        raise UsageError(f"nonlinearity function {nonlinearity} is not supported now.", hint=f"one of {names}")
    return _GAINS[nonlinearity]


class _Kaiming(Initializer):
    """Variance ``gain² / fan_in`` (He et al. 2015)."""

    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        if mode not in ("fan_in", "fan_out"):
            raise UsageError(f"mode of {type(self).__name__} must be 'fan_in' or 'fan_out', but received {mode!r}.")
        if mode == "fan_out" and fan_in is not None:
            raise UsageError(f"{type(self).__name__}: fan_in must not be given with mode='fan_out'.")
        self.fan_in = fan_in
        self.negative_slope = negative_slope
        self.nonlinearity = nonlinearity
        self.mode = mode

    def deviation(self, spec: TensorSpec) -> float:
        fan_in, fan_out = fans(spec)
        own = fan_in if self.fan_in is None else self.fan_in
        fan = fan_out if self.mode == "fan_out" else own
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(fan) if fan else 0.0


class KaimingUniform(_Kaiming):
    """Drawn evenly within ``±gain · sqrt(3 / fan_in)`` (He et al. 2015)."""

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        limit = math.sqrt(3) * self.deviation(spec)
        return Uniform(-limit, limit).operator(spec)


class KaimingNormal(_Kaiming):
    """Drawn from a normal distribution of deviation ``gain / sqrt(fan_in)`` (He et al. 2015)."""

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return Normal(0.0, self.deviation(spec)).operator(spec)


class Assign(Initializer):
    """Given values.

    Args:
        value: an array, nested lists or a tensor; a parameter of another shape takes the shape of the value.

    Raises:
        ArgumentTypeError: *value* is nothing of that kind (a TypeError).
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, (np.ndarray, list, tuple, Tensor)):
            raise ArgumentTypeError(
                f"The type of 'value' in Assign must be numpy.ndarray, list, tuple or Tensor, "
                f"but received {type(value).__name__}."
            )
        self.value = value.numpy() if isinstance(value, Tensor) else np.asarray(value)

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        return "assign_value", {
            "shape": self.value.shape,
            "dtype": spec.dtype.code,
            "values": tuple(self.value.reshape(-1).tolist()),
        }


class DiracError(UsageError, AssertionError):
    """A parameter or number of groups that :class:`Dirac` cannot do (Paddle raises AssertionError)."""


class Dirac(Initializer):
    """A convolution that gives back what it gets: a one in the middle of the filter of each channel with itself.

    Args:
        groups: into how many groups the channels are divided; each gets filters of its own.

    Raises:
        DiracError: no positive number (an AssertionError).
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if not isinstance(groups, int) or groups < 1:
            raise DiracError("'groups' must be a positive integer.")
        self.groups = groups

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        shape = spec.shape
        if len(shape) not in (3, 4, 5):
            raise DiracError("Only Tensor with 3/4/5 dimensions can be initialized by Dirac")
        if shape[0] % self.groups:
            raise DiracError("Tensor 0-dimension must be divisible by groups")
        value = np.zeros(shape)
        middle = tuple(n // 2 for n in shape[2:])
        each = shape[0] // self.groups
        for group in range(self.groups):
            for i in range(min(each, shape[1])):
                value[(group * each + i, i, *middle)] = 1
        return Assign(value).operator(spec)


class Bilinear(Initializer):
    """Filters with which a transposed convolution resizes linearly; they are square (Long et al. 2015).

    Each row is the same as the column of its number. (Paddle 3.1 counts rows in fractions, so that its filters are
    not symmetric.)
    """

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        if len(spec.shape) != 4:
            raise ShapeError("the length of shape must be 4.")
        if spec.shape[2] != spec.shape[3]:
            raise ShapeError("shape[2] must be equal to shape[3].")
        size = spec.shape[3]
        half = math.ceil(size / 2)
        middle = (2 * half - 1 - half % 2) / (2.0 * half)
        line = 1 - np.abs(np.arange(size) / half - middle)
        return Assign(np.broadcast_to(line[:, None] * line, spec.shape)).operator(spec)


class RankError(UsageError, AssertionError):
    """A parameter of too few dimensions (Paddle raises AssertionError)."""


class Orthogonal(Initializer):
    """Random rows, or columns where there are fewer, that are orthogonal to each other and of length *gain*.

    All dimensions after the first count as one (Saxe et al. 2014).
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = gain

    def operator(self, spec: TensorSpec) -> tuple[str, dict[str, Any]]:
        if len(spec.shape) < 2:
            raise RankError("Only Tensor with 2 or more dimensions can be initialized by Orthogonal")
        return "orthogonal_random", {"shape": spec.shape, "dtype": spec.dtype.code, "gain": float(self.gain)}


_everywhere: dict[bool, Initializer | None] = {False: None, True: None}


@settings.register_setting
def _as_it_was() -> Callable[[], None]:
    return partial(_everywhere.update, dict(_everywhere))


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Set the initializers of parameters made from now on, unless their ParamAttr gives one: of weights and of biases;
    None as layers have it.

    Raises:
        ArgumentTypeError: something else than an initializer (a TypeError).
    """
    for init in (weight_init, bias_init):
        if init is not None and not isinstance(init, Initializer):
            raise ArgumentTypeError(f"set_global_initializer takes initializers, but received {type(init).__name__}.")
    _everywhere.update({False: weight_init, True: bias_init})


def everywhere(is_bias: bool) -> Initializer | None:
    """Return the initializer that :func:`set_global_initializer` set."""
    return _everywhere[is_bias]


_provided, _others = _lazy.attach(__name__)
_refused = _lazy.refuse(__name__, globals())


def __getattr__(name: str) -> Any:
    return _provided(name) if not name.startswith("_") and name in _others() else _refused(name)


def __dir__() -> list[str]:
    own = [name for name, value in globals().items() if getattr(value, "__module__", None) == __name__]
    return sorted({*(name for name in own if not name.startswith("_")), *_others()})
