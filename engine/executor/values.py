"""Reading and setting persistable variables in a scope: ``get_value``, ``state_dict`` and their counterparts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.errors import (
    ArgumentTypeError,
    DtypeError,
    GradtoolError,
    ShapeError,
    UsageError,
    VariableNotFound,
    expect_type,
)
from ..ir.program import Program
from ..ir.variable import Variable
from .scope import DenseTensor, Scope, global_scope
from .startups import explain_missing

MODES = ("param", "opt", "all")


class SkippedValueWarning(UserWarning):
    """An entry of ``set_state_dict`` that does not fit the program."""


def get_value(variable: Variable, scope: Scope | None = None) -> DenseTensor:
    """The variable's value in *scope*; see ``Variable.get_value``."""
    return _tensor(variable, _scope(scope, "get_value"))


def set_value(variable: Variable, value: Any, scope: Scope | None = None) -> None:
    """Replace the variable's value in *scope*; see ``Variable.set_value``."""
    tensor = _tensor(variable, _scope(scope, "set_value"))
    if not hasattr(value, "__array__"):
        raise ArgumentTypeError(
            f"`value` should be `numpy.ndarray` or `DenseTensor`, but received {type(value).__name__}.",
            variable=variable.name,
        )
    array = np.asarray(value)
    if list(array.shape) != tensor.shape():
        raise ShapeError(
            f"{variable.name} expected a shape {tensor.shape()}, but the received shape is {list(array.shape)}.",
            variable=variable.name,
        )
    wanted = variable.dtype.numpy
    if wanted is not None and not np.can_cast(array.dtype, wanted, casting="same_kind"):
        raise DtypeError(
            f"{variable.name} is {variable.dtype.name}, and a value of type {array.dtype} cannot be converted to it.",
            variable=variable.name,
            hint=f"pass value.astype({variable.dtype.name!r}) if that is what you mean",
        )
    tensor.set(array.astype(wanted))


def state_dict(program: Program, mode: str = "all", scope: Scope | None = None) -> dict[str, DenseTensor]:
    """Values of persistable variables by name; see ``Program.state_dict``."""
    if mode not in MODES:
        raise UsageError(f"`mode` string should be 'param', 'opt' or 'all', but received {mode}.")
    home = _scope(scope, "Program.state_dict")
    persistable = (v for v in program.list_vars() if v.persistable)
    return {v.name: _tensor(v, home) for v in persistable if mode == "all" or v.is_parameter == (mode == "param")}


def set_state_dict(program: Program, values: Mapping[str, Any], scope: Scope | None = None) -> None:
    """Set persistable variables from a dict of values; see ``Program.set_state_dict``."""
    expect_type(values, (dict, Mapping), "state_dict", "Program.set_state_dict")
    home = _scope(scope, "Program.set_state_dict")
    variables = {v.name: v for v in program.list_vars() if v.persistable}
    for name, value in values.items():
        variable = variables.get(name)
        try:
            if variable is None:
                raise VariableNotFound(f"Because '{name}' not in the program.")
            set_value(variable, value, home)
        except GradtoolError as error:
            warnings.warn(f"Skip loading for '{name}'. {error.message}", SkippedValueWarning, stacklevel=3)


def _scope(scope: Scope | None, where: str) -> Scope:
    expect_type(scope, (Scope, type(None)), "scope", where)
    return scope if scope is not None else global_scope()


def _tensor(variable: Variable, scope: Scope) -> DenseTensor:
    holder = scope.find_var(variable.name)
    if holder is None:
        advice = explain_missing(variable)[1] if variable.persistable else "only persistable variables keep a value"
        raise VariableNotFound(
            f"Can not find Variable '{variable.name}' in the Scope.", variable=variable.name, hint=advice
        )
    return holder.get_tensor()
