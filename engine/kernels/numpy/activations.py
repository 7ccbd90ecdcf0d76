"""Functions of single elements and their gradients, some elements at a time.

A definition goes over its elements a dozen times; where these are more than the processor's cache holds, each pass
waits for memory. The definitions' own kernels go over a piece after the other here, and every element is what it is by
itself, so results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..backend import Kernel, overrides
from .blocks import compute_in_pieces
from .general import definition, rule_of

OPERATORS = (
    "brelu",
    "celu",
    "clip",
    "elu",
    "erf",
    "gelu",
    "hard_shrink",
    "hard_sigmoid",
    "hard_swish",
    "leaky_relu",
    "logsigmoid",
    "mish",
    "pow",
    "relu6",
    "selu",
    "silu",
    "softplus",
    "softshrink",
    "softsign",
    "swish",
    "tanh_shrink",
    "thresholded_relu",
)

GRADIENTS = (
    *(name for name in OPERATORS if name != "gelu"),
    "abs",
    "log",
    "normal_cdf",
    "pow",
    "relu",
    "rsqrt",
    "sqrt",
    "square",
)
"""Operators whose gradients are; of these the others are one function of NumPy's, or have kernels of their own."""


def register() -> None:
    """Offer the kernels."""
    # At every start: hence no call for each of them.
    overrides({name: partial(_forward, name) for name in OPERATORS}, "numpy")
    overrides({f"{name}_grad": partial(_gradient, name) for name in GRADIENTS}, "numpy")


def _forward(op_type: str, attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel:
    return compute_in_pieces(definition(op_type, attrs))


def _gradient(op_type: str, attrs: Mapping[str, Any], specs: Sequence[Any]) -> Kernel | None:
    rule = rule_of(op_type, attrs)
    return None if rule is None else compute_in_pieces(rule)
