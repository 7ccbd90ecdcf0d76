"""Activations with settings as layers, from a table; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

import inspect
from typing import Any, ClassVar

from gradtool.engine import state
from gradtool.engine.errors import UsageError

from . import functional as F
from . import initializer
from .layer import Layer


class TableActivation(Layer):
    """An activation: ``function`` names what computes it, ``settings`` the arguments that the layer keeps for it."""

    function: ClassVar[str]
    settings: ClassVar[dict[str, Any]]

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__()
        bound = self.__signature__.bind(*args, **named)
        bound.apply_defaults()
        self._name = bound.arguments.pop("name")
        self._given = dict(bound.arguments)

    def forward(self, x: Any) -> Any:
        return getattr(F, self.function)(x, **self._given, name=self._name)

    def extra_repr(self) -> str:
        shown = {**self._given, **({"name": self._name} if self._name else {})}
        return ", ".join(f"{k}={v}" for k, v in shown.items())


def _layer(name: str, function: str, **settings: Any) -> Any:
    parameters = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=v)
        for n, v in {**settings, "name": None}.items()
    ]
    members = {
        "function": function,
        "settings": settings,
        "__doc__": f"``paddle.nn.functional.{function}`` as a layer.",
        "__module__": __name__,
        "__signature__": inspect.Signature(parameters),
    }
    return type(name, (TableActivation,), members)


CELU = _layer("CELU", "celu", alpha=1.0)
ELU = _layer("ELU", "elu", alpha=1.0)
GLU = _layer("GLU", "glu", axis=-1)
Hardshrink = _layer("Hardshrink", "hardshrink", threshold=0.5)
Hardsigmoid = _layer("Hardsigmoid", "hardsigmoid")
Hardswish = _layer("Hardswish", "hardswish")
Hardtanh = _layer("Hardtanh", "hardtanh", min=-1.0, max=1.0)
LeakyReLU = _layer("LeakyReLU", "leaky_relu", negative_slope=0.01)
LogSigmoid = _layer("LogSigmoid", "log_sigmoid")
LogSoftmax = _layer("LogSoftmax", "log_softmax", axis=-1)
Mish = _layer("Mish", "mish")
ReLU6 = _layer("ReLU6", "relu6")
SELU = _layer("SELU", "selu", scale=1.0507009873554805, alpha=1.6732632423543772)
Silu = _layer("Silu", "silu")
Softplus = _layer("Softplus", "softplus", beta=1, threshold=20)
Softshrink = _layer("Softshrink", "softshrink", threshold=0.5)
Softsign = _layer("Softsign", "softsign")
Swish = _layer("Swish", "swish")
Tanhshrink = _layer("Tanhshrink", "tanhshrink")
ThresholdedReLU = _layer("ThresholdedReLU", "thresholded_relu", threshold=1.0, value=0.0)


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
        self._weight: Any = self.create_parameter(
            [num_parameters], weight_attr, default_initializer=initializer.Constant(init)
        )

    def forward(self, x: Any) -> Any:
        return F.prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        text = f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}"
        return f"{text}, dtype={self._dtype.name}" + (f", name={self._name}" if self._name else "")


class Softmax2D(Layer):
    """Softmax over the channels of ``[channels, height, width]`` or ``[batch, channels, height, width]``."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__()
        self._name = name

    def forward(self, x: Any) -> Any:
        if x.ndim not in (3, 4):
            raise RankError(f"Softmax2D requires a 3D or 4D tensor as input. Received: {x.ndim}D.")
        return F.softmax(x, axis=-3, name=self._name)

    def extra_repr(self) -> str:
        return f"name={self._name}" if self._name else ""


class RankError(UsageError, AssertionError):
    """A tensor of a wrong number of dimensions (Paddle raises AssertionError)."""


class Identity(Layer):
    """What it is given; arguments are taken and have no influence."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input
