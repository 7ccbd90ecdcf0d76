"""Kernel and gradient rule of the definition over NumPy arrays, for calls that an override declines."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ...ops.opdef import WrittenRule
from ...ops.registry import get_by_type
from ..backend import Kernel
from ..choice import backend


def definition(op_type: str, attrs: Mapping[str, Any]) -> Kernel:
    """The kernel that the operator's definition gives."""
    op = get_by_type(op_type)
    return partial(op.kernel, backend("numpy"), **{n: attrs[n] for n in op.kernel_attrs})


def rule_of(op_type: str, attrs: Mapping[str, Any]) -> Kernel | None:
    """The gradient rule of the operator of that type; None where it has none of its own."""
    rule = get_by_type(op_type).rule
    return rule.bind(backend("numpy").ops, attrs["wanted"], attrs) if isinstance(rule, WrittenRule) else None
