"""Activations with settings as layers, from a table; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state

from . import functional as F
from . import initializer
from ._table import REQUIRED, table_layer
from .functional._norm import InputRankError
from .layer import Layer

CELU = table_layer(__name__, "CELU", "celu", prefix="_", alpha=1.0)
ELU = table_layer(__name__, "ELU", "elu", prefix="_", alpha=1.0)
GLU = table_layer(__name__, "GLU", "glu", prefix="_", second={"dim": "_axis"}, axis=-1)
Hardshrink = table_layer(
    __name__, "Hardshrink", "hardshrink", prefix="_", second={"lambd": "_threshold"}, threshold=0.5
)
Hardsigmoid = table_layer(__name__, "Hardsigmoid", "hardsigmoid")
Hardswish = table_layer(__name__, "Hardswish", "hardswish", prefix="_")
Hardtanh = table_layer(__name__, "Hardtanh", "hardtanh", prefix="_", min=-1.0, max=1.0)
LeakyReLU = table_layer(__name__, "LeakyReLU", "leaky_relu", prefix="_", negative_slope=0.01)
LogSigmoid = table_layer(__name__, "LogSigmoid", "log_sigmoid", prefix="_")
LogSoftmax = table_layer(__name__, "LogSoftmax", "log_softmax", prefix="_", axis=-1)
Maxout = table_layer(__name__, "Maxout", "maxout", prefix="_", groups=REQUIRED, axis=1)
Mish = table_layer(__name__, "Mish", "mish", prefix="_")
ReLU6 = table_layer(__name__, "ReLU6", "relu6", prefix="_")
SELU = table_layer(__name__, "SELU", "selu", prefix="_", scale=1.0507009873554805, alpha=1.6732632423543772)
Silu = table_layer(__name__, "Silu", "silu", shows=(), prefix="_", inplace=False)
Softplus = table_layer(__name__, "Softplus", "softplus", prefix="_", beta=1, threshold=20)
Softshrink = table_layer(
    __name__, "Softshrink", "softshrink", prefix="_", second={"lambd": "_threshold"}, threshold=0.5
)
Softsign = table_layer(__name__, "Softsign", "softsign", prefix="_")
Swish = table_layer(__name__, "Swish", "swish", prefix="_")
Tanhshrink = table_layer(__name__, "Tanhshrink", "tanhshrink", prefix="_")
ThresholdedReLU = table_layer(__name__, "ThresholdedReLU", "thresholded_relu", prefix="_", threshold=1.0, value=0.0)


class PReLU(Layer):
    """x where positive, elsewhere x times a slope that is learned.

    Args:
        num_parameters: 1, or as many slopes as there are channels.
        init: what slopes start with.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=state.default_dtype())
        self._num_parameters, self._init, self._data_format, self._name = num_parameters, init, data_format, name
        self._weight_attr = weight_attr
        self._weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=initializer.Constant(init)
        )

    def forward(self, x: Any) -> Any:
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        text = f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}"
        return f"{text}, dtype={self._dtype}" + (f", name={self._name}" if self._name else "")


class RReLU(Layer):
    """x where it is not negative, elsewhere x times a slope drawn between *lower* and *upper*.

    In testing every slope is the mean of both.
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower, self._upper, self._name = lower, upper, name

    def forward(self, x: Any) -> Any:
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        text = f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype}"
        return text + (f", name={self._name}" if self._name else "")


class Softmax2D(Layer):
    """Softmax over the channels of ``[channels, height, width]`` or ``[batch, channels, height, width]``."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        if x.ndim not in (3, 4):
            raise InputRankError(f"Softmax2D requires a 3D or 4D tensor as input. Received: {x.ndim}D.")
        return F.softmax(x, axis=-3, name=self._name)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class Identity(Layer):
    """Layer that returns its input; arguments are taken and have no influence."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input
