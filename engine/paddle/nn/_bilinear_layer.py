"""The bilinear form of two vectors as a layer."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state

from . import functional as F
from ._layers import named
from .layer import Layer


class Bilinear(Layer):
    """``x1ᵀ · weight[i] · x2 + bias[i]``; weight is ``[out_features, in1_features, in2_features]``."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        self._in1_features, self._in2_features, self._out_features = in1_features, in2_features, out_features
        self._weight_attr, self._bias_attr, self._name = weight_attr, bias_attr, name
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        return F.bilinear(x1, x2, self.weight, self.bias, self._name)

    def extra_repr(self) -> str:
        first, second, out = self._in1_features, self._in2_features, self._out_features
        text = f"in1_features={first}, in2_features={second}, out_features={out}, dtype={self._dtype}"
        return text + named(self._name)
