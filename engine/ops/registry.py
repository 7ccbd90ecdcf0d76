"""Finding an operator by the name that rules use or by the type that programs use."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from ..core.errors import NotFound, OperatorError, did_you_mean
from . import compat
from .opdef import OpDef, Trait

LIBRARY = (
    "activation",
    "adam",
    "clipping",
    "along",
    "compare",
    "complex_numbers",
    "conditions",
    "control",
    "conv",
    "convolve",
    "creation",
    "distinct",
    "dropout",
    "effects",
    "einsum",
    "elementary",
    "elementwise",
    "gather",
    "grid",
    "indexing",
    "interleave",
    "internal",
    "join",
    "linalg",
    "loss",
    "masking",
    "metric",
    "norm",
    "optimizer",
    "pad",
    "points",
    "pool",
    "prelu",
    "random",
    "recurrent",
    "reduction",
    "repeat",
    "resize",
    "shape",
    "shuffle",
    "softmax",
    "slicing",
    "sort",
    "unary",
    "unfold",
)

_by_name: dict[str, OpDef] = {}
_by_type: dict[str, OpDef] = {}
_loaded = False


def register(op: OpDef) -> None:
    """Make *op* known; called by the ``op`` decorator."""
    if op.name in _by_name or op.type in _by_type:
        raise OperatorError(f"operator {op.name!r} (type {op.type!r}) is defined twice")
    _by_name[op.name] = op
    _by_type[op.type] = op


def load() -> None:
    """Import every definition file, once."""
    global _loaded
    if not _loaded:
        _loaded = True
        for module in LIBRARY:
            importlib.import_module(f".library.{module}", __package__)


def by_name(name: str) -> OpDef:
    """The operator that rules call *name*."""
    load()
    found = _by_name.get(name)
    if found is None:
        raise NotFound(f"no operator is called {name!r}", hint=did_you_mean(name, _by_name))
    return found


def find(type_: str) -> OpDef | None:
    """The operator of that type, gradient operators included, or None."""
    load()
    found = _by_type.get(type_)
    if found is not None or not _derived_name(type_):
        return found
    base = _FORWARD.get(type_) or type_.removesuffix("_grad")
    forward = find(base)
    grad = forward.grad_op if forward is not None else None
    if grad is None or grad.type != type_:
        return None
    _by_type[type_] = grad
    return grad


_FORWARD = {grad: op for op, grad in compat.GRAD_TYPES.items()}


def _derived_name(type_: str) -> bool:
    return type_.endswith("_grad") or type_ in _FORWARD


def by_type(type_: str) -> OpDef:
    """The operator of that type; raises :class:`OperatorError` when there is none."""
    found = find(type_)
    if found is None:
        raise OperatorError(f'Operator "{type_}" has not been registered.', hint=did_you_mean(type_, _by_type))
    return found


def all_ops() -> Iterator[OpDef]:
    """Every operator that programs can hold, sorted by type, without gradient operators."""
    load()
    for type_ in sorted(_by_type):
        op = _by_type[type_]
        if op.forward is None and Trait.INTERNAL not in op.trait:
            yield op


def reference_backend() -> Any:
    """The backend that samples run on while gradient operators are derived: always NumPy.

    Kernels import operators, not the other way round, so it is looked up by name when first needed.
    """
    return importlib.import_module("..kernels.backend", __package__).backend("numpy")
