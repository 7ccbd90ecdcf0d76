"""Finding an operator by the name that rules use or by the type that programs use.

An operator's file is loaded when the operator is first asked for; ``index.py`` says which file that is.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

from ..core import upward
from ..core.errors import NotFound, OperatorError, did_you_mean
from . import compat
from .defined import by_name as _by_name
from .defined import by_type as _by_type
from .index import FILES, TYPES
from .opdef import OpDef, Trait


def load() -> None:
    """Import every definition file."""
    for file in sorted(set(FILES.values())):
        importlib.import_module(f".library.{file}", __package__)


def _load(type_: str) -> None:
    """Import the file that defines the operator of that type, if one does."""
    if type_ in FILES:
        importlib.import_module(f".library.{FILES[type_]}", __package__)


def get_by_name(name: str) -> OpDef:
    """The operator that rules call *name*."""
    if name not in _by_name:
        _load(TYPES.get(name, name))
    if name not in _by_name:
        raise NotFound(f"no operator is called {name!r}", hint=did_you_mean(name, {**FILES, **TYPES, **_by_name}))
    return _by_name[name]


def find(type_: str) -> OpDef | None:
    """The operator of that type, gradient operators included, or None."""
    if type_ not in _by_type:
        _load(type_)
    op = _by_type.get(type_)
    if op is not None or not _is_derived_name(type_):
        return op
    forward = find(_FORWARD.get(type_) or type_.removesuffix("_grad"))
    grad = forward.grad_op if forward is not None else None
    if grad is None or grad.type != type_:
        return None
    _by_type[type_] = grad
    return grad


_FORWARD = {grad: op for op, grad in compat.GRAD_TYPES.items()}


def _is_derived_name(type_: str) -> bool:
    return type_.endswith("_grad") or type_ in _FORWARD


def get_by_type(type_: str) -> OpDef:
    """The operator of that type; raises :class:`OperatorError` when there is none."""
    op = _by_type.get(type_) or find(type_)
    if op is None:
        near = did_you_mean(type_, {**FILES, **_by_type})
        raise OperatorError(f'Operator "{type_}" has not been registered.', hint=near)
    return op


def all_ops() -> Iterator[OpDef]:
    """Every operator that programs can hold, sorted by type, without gradient operators."""
    load()
    for type_ in sorted(_by_type):
        op = _by_type[type_]
        if op.forward is None and Trait.INTERNAL not in op.trait:
            yield op


def reference_backend() -> Any:
    """The backend that samples run on while gradient operators are derived, whatever else is computed on.

    Kernels import operators, not the other way round, so it is looked up by name when first needed.
    """
    return upward.part("backends").reference()
