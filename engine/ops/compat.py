"""Names that cannot be derived from a rule: Paddle's exceptions, one line each (as in Paddle 3.1)."""

from __future__ import annotations

from typing import Final

GRAD_TYPES: Final = {
    "elementwise_mod": "remainder_grad",
    "elementwise_mul_grad_grad": "elementwise_mul_triple_grad",
    "tanh_grad_grad": "tanh_triple_grad",
    "sigmoid_grad_grad": "sigmoid_triple_grad",
}
"""Operator type -> type of its gradient operator, where that is not the type with ``_grad``."""

_BINARY: Final = {"X@GRAD@GRAD": "DDX", "Y@GRAD@GRAD": "DDY", "Out@GRAD": "DOut", "Out@GRAD@GRAD": "DDOut"}
_UNARY_NEW: Final = {"X@GRAD@GRAD": "grad_x@GRAD", "Out@GRAD@GRAD": "grad_out@GRAD", "Out@GRAD": "grad_out"}

SLOTS: Final[dict[str, dict[str, str]]] = {
    "elementwise_mul_grad": _BINARY,
    "relu_grad": _UNARY_NEW,
}
"""Gradient operator -> the slot names that its own gradient operator uses, by derived name."""


def grad_type(op_type: str) -> str:
    """The type of the gradient operator of *op_type*."""
    return GRAD_TYPES.get(op_type, op_type + "_grad")


def slots(op_type: str) -> dict[str, str]:
    """Derived slot name -> Paddle's, for the gradient operator of *op_type*."""
    return SLOTS.get(op_type, {})
