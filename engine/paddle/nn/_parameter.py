"""``paddle.nn.Parameter``: a tensor as a parameter, and the kind that all parameters are of."""

from __future__ import annotations

from typing import Any

from gradtool import paddle
from gradtool.engine.eager.parameter import TensorParameter
from gradtool.engine.ir.variable import Parameter as Declared
from gradtool.paddle.utils import unique_name


class _Kind(type):
    """``isinstance(v, Parameter)`` says whether *v* is a parameter, of a program too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (TensorParameter, Declared))


class Parameter(metaclass=_Kind):
    """A parameter with the values of a tensor, whose storage it shares; layers keep it when it is assigned to them.

    Args:
        data: the tensor; one without elements by default.
        requires_grad: whether gradients flow into it.

    >>> from gradtool import paddle
    >>> layer = paddle.nn.Layer()
    >>> layer.scale = paddle.nn.Parameter(paddle.ones([2]))
    >>> [name for name, _ in layer.named_parameters()]
    ['scale']
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True, *, name: str | None = None) -> Any:
        source = paddle.to_tensor([]) if data is None else data
        own = unique_name.generate("_eager_param_base") if name is None else name
        return TensorParameter(source.array, own, trainable=requires_grad)
