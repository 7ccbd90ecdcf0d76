"""``paddle.regularizer``: weight decay added to gradients."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError
from gradtool.engine.ir import build
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _lazy

from ._dispatch import compute

__all__ = ["L1Decay", "L2Decay"]


class WeightDecayRegularizer:
    """Base of all regularizers.

    Args:
        coeff: how strong the decay is.

    Raises:
        ArgumentTypeError: *coeff* is no number (a TypeError).
    """

    def __init__(self, coeff: float = 0.0) -> None:
        if isinstance(coeff, bool) or not isinstance(coeff, (int, float)):
            raise ArgumentTypeError(
                f"The type of 'coeff' in paddle.regularizer.{type(self).__name__} must be float, "
                f"but received {type(coeff).__name__}."
            )
        self.coeff = float(coeff)

    steps: tuple[str, ...] = ()
    """The operators that lead from a parameter to what is added to its gradient, ``scale`` by the coefficient last."""

    def __call__(self, param: Any, grad: Any, block: Any = None) -> Any:
        """Return the term that is added to the gradient *grad* of *param*: appended to the program, or computed from
        tensors.
        """
        value = param
        for step in self.steps:
            op = registry.get_by_type(step)
            attrs = {"scale": self.coeff} if step == "scale" else {}
            if isinstance(param, Variable):
                home = block if block is not None else grad.block
                term = home.create_var(None, grad.shape, grad.dtype)
                operands = (value, *[None] * (len(op.inputs) - 1))
                build.emit(home, op, operands, attrs, [term])
                value = term
            else:
                value = compute(op, (value, *[None] * (len(op.inputs) - 1)), attrs)
        return value

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self.coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """Adds ``coeff·sign(param)`` to the gradient: the slope of ``coeff·Σ|param|``."""

    steps = ("sign", "scale")


class L2Decay(WeightDecayRegularizer):
    """Adds ``coeff·param`` to the gradient: the slope of ``coeff/2·Σparam²``."""

    steps = ("scale",)


L1DecayRegularizer = L1Decay
L2DecayRegularizer = L2Decay


__getattr__ = _lazy.refuse(__name__, globals())
