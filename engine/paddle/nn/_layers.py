"""Layers with and without parameters; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

import math
from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.core.errors import UsageError

from . import functional as F
from . import initializer
from ._second_names_of_parts import also_by, second_name
from .layer import Layer


class MissingWeight(UsageError, AssertionError):
    """The weight of a layer that cannot do without was switched off (Paddle raises AssertionError)."""


def needed(attr: Any, what: str, where: str) -> None:
    """Raise :class:`MissingWeight` when the parameter is switched off."""
    if attr is False:
        raise MissingWeight(f"{what} should not be False in {where}.")


class Linear(Layer):
    """``x · weight + bias`` over the last dimension; weight is ``[in_features, out_features]``."""

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        needed(weight_attr, "weight_attr", "Linear")
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight: Any = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        return F.linear(input, self.weight, self.bias, self.name)

    def extra_repr(self) -> str:
        rows, columns = self.weight.shape
        return f"in_features={rows}, out_features={columns}, dtype={self._dtype}" + named(self.name)


class LayerNorm(Layer):
    """Standardise over the last dimensions, with a scale and shift.

    Args:
        normalized_shape: the sizes of those dimensions; a number for the last one alone.
    """

    @also_by(eps="epsilon")
    def __init__(
        self,
        normalized_shape: Any,
        epsilon: float = 1e-05,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else normalized_shape
        if not isinstance(sizes, (list, tuple)) or not all(isinstance(n, int) for n in sizes):
            raise UsageError("normalized_shape of LayerNorm should be int, list of ints or tuple of ints.")
        self._normalized_shape, self._epsilon = list(sizes), epsilon
        self._weight_attr, self._bias_attr, self._device = weight_attr, bias_attr, None
        size = [math.prod(sizes)]
        self.weight = self.create_parameter(size, weight_attr, default_initializer=initializer.Constant(1.0))
        self.bias = self.create_parameter(size, bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class Embedding(Layer):
    """The rows of a table at given ids; weight is ``[num_embeddings, embedding_dim]``."""

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        sparse: bool = False,
        weight_attr: Any = None,
        scale_grad_by_freq: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        for what, size in (("num_embeddings", num_embeddings), ("embedding_dim", embedding_dim)):
            if size <= 0:
                raise UsageError(f"{what} of Embedding must be greater than 0, but is {size}.")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise UsageError(f"padding_idx must be within [-{num_embeddings}, {num_embeddings}), but is {padding_idx}.")
        needed(weight_attr, "weight_attr", "Embedding")
        # what subclasses of users read and set
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._size, self._padding_idx = [num_embeddings, embedding_dim], padding_idx
        self._sparse, self._weight_attr, self._name = sparse, weight_attr, name
        self._max_norm, self._norm_type, self._scale_grad_by_freq = max_norm, norm_type, scale_grad_by_freq
        self._is_distributed = self._remote_prefetch = False
        self._device: Any = None
        self.weight: Any = self.create_parameter([num_embeddings, embedding_dim], weight_attr)

    padding_idx = second_name("_padding_idx")

    @also_by(input="x")
    def forward(self, x: Any) -> Any:
        return F.embedding(
            x,
            self.weight,
            padding_idx=self._padding_idx,
            max_norm=self._max_norm,
            norm_type=self._norm_type,
            sparse=self._sparse,
            scale_grad_by_freq=self._scale_grad_by_freq,
            name=self._name,
        )

    def extra_repr(self) -> str:
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        rows, columns = self.weight.shape
        flags = f", sparse={self._sparse}, scale_grad_by_freq={self._scale_grad_by_freq}"
        return f"{rows}, {columns}{padding}{flags}" + named(self._name)


class Flatten(Layer):
    """Make one dimension of those from *start_axis* to *stop_axis*."""

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        return paddle.flatten(input, self.start_axis, self.stop_axis)


def named(name: str | None) -> str:
    """The end of a layer's text form: its name, if it was given one."""
    return f", name={name}" if name else ""


# -- activations ------------------------------------------------------------------------------------------------------


class _Activation(Layer):
    """An activation without settings; ``function`` names what computes it."""

    function = ""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        return getattr(F, self.function)(x, name=self._name)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class ReLU(_Activation):
    """The positive part of each element."""

    function = "relu"


class Tanh(_Activation):
    """Hyperbolic tangent of each element."""

    function = "tanh"


class Sigmoid(_Activation):
    """``1 / (1 + exp(-x))`` of each element."""

    function = "sigmoid"

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.name = name


class GELU(Layer):
    """Each element times the probability that a standard normal variable is below it."""

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        super().__init__()
        self._approximate, self._name = approximate, name

    def forward(self, x: Any) -> Any:
        return F.gelu(x, self._approximate, self._name)

    def extra_repr(self) -> str:
        return f"approximate={self._approximate}" + named(self._name)


class Softmax(Layer):
    """Exponentials divided by their sum along *axis*."""

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._name = axis, name

    def forward(self, x: Any) -> Any:
        return F.softmax(x, self._axis, name=self._name)

    def extra_repr(self) -> str:
        return f"axis={self._axis}" + named(self._name)
