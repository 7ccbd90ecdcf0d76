"""``weight_norm`` and ``spectral_norm``: a layer's weight computed before each call from other parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import ModeError, UsageError
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.tensor import Tensor

from . import initializer
from ._conv_layers import Conv1DTranspose, Conv2DTranspose
from ._layers import Linear
from .layer import Layer


class DynamicOnly(ModeError, RuntimeError):
    """A function of dynamic mode was called in static mode (Paddle raises RuntimeError or AssertionError)."""


class NormedAlready(UsageError, RuntimeError):
    """The weight is already computed in this way (Paddle raises RuntimeError)."""


class DimError(UsageError, AssertionError):
    """A dimension that the weight does not have (Paddle raises AssertionError)."""


class _Computed(ABC):
    """The hook that computes a weight; the layer keeps it, to find it again."""

    kind: str

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, layer: Layer, inputs: Any) -> None:
        object.__setattr__(layer, self.name, self.weight(layer))

    @abstractmethod
    def weight(self, layer: Layer) -> Any:
        """The weight, from the parameters that *layer* has in its place."""

    def attach(self, layer: Layer) -> None:
        self.handle = layer.register_forward_pre_hook(self)
        layer.__dict__.setdefault("_computed_weights", {})[self.kind, self.name] = self
        self(layer, ())


def _weight(layer: Layer, name: str, kind: str) -> Any:
    """The parameter that is to be computed, taken out of the layer."""
    if state.in_static_mode():
        raise DynamicOnly(f"paddle.nn.utils.{kind}: this API can only run in dynamic mode.")
    if (kind, name) in layer.__dict__.get("_computed_weights", {}):
        raise NormedAlready(f"Cannot register two {kind} hooks on the same parameter {name}")
    if layer.__dict__["_parameters"].get(name) is None:
        raise UsageError(f"{kind}: {layer!r} has no parameter '{name}'.")
    return layer.__dict__["_parameters"][name]


def _length(v: Any, dim: int | None) -> Any:
    """The norm of *v* along all dimensions but *dim*, of a shape that broadcasts against *v*; of all for None."""
    if dim is None:
        return paddle.sqrt(paddle.sum(v * v))
    return paddle.sqrt(paddle.sum(v * v, axis=[i for i in range(v.ndim) if i != dim], keepdim=True))


class _WeightNorm(_Computed):
    kind = "weight_norm"

    def __init__(self, name: str, dim: int | None) -> None:
        super().__init__(name)
        self.dim = dim

    def weight(self, layer: Layer) -> Any:
        g, v = getattr(layer, self.name + "_g"), getattr(layer, self.name + "_v")
        if self.dim is not None:
            g = paddle.reshape(g, [-1 if i == self.dim else 1 for i in range(v.ndim)])
        return v * (g / _length(v, self.dim))


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Let a weight be a direction ``<name>_v`` times a length ``<name>_g`` (Salimans and Kingma 2016).

    Args:
        name: the weight's attribute.
        dim: a length for each place along this dimension; one length for the whole weight when None.

    Returns:
        *layer*, which computes its weight before each call.

    Raises:
        UsageError: there is no such parameter (a ValueError).
        DimError: it has no such dimension (an AssertionError).
        NormedAlready: it is normed already (a RuntimeError).
        DynamicOnly: static mode is on (a RuntimeError).

    >>> from gradtool import paddle
    >>> layer = paddle.nn.utils.weight_norm(paddle.nn.Linear(2, 3))
    >>> [name for name, _ in layer.named_parameters()]
    ['bias', 'weight_v', 'weight_g']
    """
    weight = _weight(layer, name, "weight_norm")
    if dim is not None and dim != -1 and not -weight.ndim <= dim < weight.ndim:
        raise DimError("dim must set between [-R, R), R means the dimension of weight.")
    along = None if dim is None or dim == -1 else dim % weight.ndim
    delattr(layer, name)
    with no_grad():
        size = _length(weight, along)
    zero = initializer.Constant(0.0)
    direction = layer.create_parameter(weight.shape, dtype=weight.dtype, default_initializer=zero)
    sizes = [] if along is None else [weight.shape[along]]
    length = layer.create_parameter(sizes, dtype=weight.dtype, default_initializer=zero)
    assert length is not None
    assert direction is not None
    length.set_value(size.array.reshape(length.array.shape))
    direction.set_value(weight)
    layer.add_parameter(name + "_v", direction)
    layer.add_parameter(name + "_g", length)
    _WeightNorm(name, along).attach(layer)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Make a weight that :func:`weight_norm` took apart one parameter again.

    Raises:
        UsageError: it was not taken apart (a ValueError).
    """
    hook = layer.__dict__.get("_computed_weights", {}).pop(("weight_norm", name), None)
    if hook is None:
        raise UsageError(f"weight_norm of '{name}' not found in {layer!r}")
    hook.handle.remove()
    with no_grad():
        value = hook.weight(layer)
    for part in ("_g", "_v"):
        delattr(layer, name + part)
    object.__delattr__(layer, name)
    zero = initializer.Constant(0.0)
    weight = layer.create_parameter(value.shape, dtype=value.dtype, default_initializer=zero)
    assert weight is not None
    weight.set_value(value)
    layer.add_parameter(name, weight)
    return layer


class _SpectralNorm(_Computed):
    kind = "spectral_norm"

    def __init__(self, name: str, iterations: int, eps: float, dim: int) -> None:
        super().__init__(name)
        self.iterations, self.eps, self.dim = iterations, eps, dim

    def matrix(self, weight: Any) -> Any:
        """The weight with dimension ``dim`` as its rows."""
        axes = [self.dim, *(i for i in range(weight.ndim) if i != self.dim)]
        return paddle.reshape(paddle.transpose(weight, axes), [weight.shape[self.dim], -1])

    def unit(self, vector: Any) -> Any:
        return vector / max(float(np.sqrt((vector * vector).sum())), self.eps)

    def weight(self, layer: Layer) -> Any:
        weight = getattr(layer, self.name + "_orig")
        rows = self.matrix(weight)
        u, v = getattr(layer, self.name + "_u"), getattr(layer, self.name + "_v")
        if layer.training:
            left, right = u.array, v.array
            for _ in range(self.iterations):
                right = self.unit(rows.array.T @ left)
                left = self.unit(rows.array @ right)
            u.set_value(left)
            v.set_value(right)
            u, v = u.clone(), v.clone()  # the next call writes to the buffers, and backward needs these values
        largest = paddle.sum(u * paddle.matmul(rows, v))
        return weight / largest


def spectral_norm(
    layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Layer:
    """Divide a weight by its largest singular value, found by power iteration (Miyato et al. 2018).

    The parameter becomes ``<name>_orig``; the singular vectors are the buffers ``<name>_u`` and ``<name>_v``, which
    every call in training improves.

    Args:
        name: the weight's attribute.
        n_power_iterations: how many steps each call in training takes.
        eps: the least length that vectors are divided by.
        dim: the dimension that counts as rows; 1 for Linear and transposed convolutions, else 0, when None.

    Raises:
        UsageError: there is no such parameter; no positive number of steps (a ValueError).
        NormedAlready: it is normed already (a RuntimeError).
        DynamicOnly: static mode is on (a RuntimeError).
    """
    weight = _weight(layer, name, "spectral_norm")
    if n_power_iterations <= 0:
        raise UsageError(f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
    if dim is None:
        dim = 1 if isinstance(layer, (Linear, Conv1DTranspose, Conv2DTranspose)) else 0
    hook = _SpectralNorm(name, n_power_iterations, eps, dim)
    delattr(layer, name)
    layer.add_parameter(name + "_orig", weight)
    for suffix, size in zip(("_u", "_v"), hook.matrix(weight).array.shape, strict=True):
        start = paddle.normal(shape=[size]).array.astype(weight.array.dtype)
        layer.register_buffer(name + suffix, Tensor(hook.unit(start)))
    hook.attach(layer)
    return layer
