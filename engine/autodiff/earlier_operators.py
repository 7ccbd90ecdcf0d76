"""Operators of earlier backward calls that a new call can use again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core import names
from ..core.identity import identity
from ..ir import roles
from ..ir.operator import Operands, Operator
from ..ir.program import Block
from ..ir.variable import Variable
from ..ops.opdef import OpDef
from .values import BlockValues, Value, variable_of

Key = tuple[Any, ...]


def computes(op: OpDef, attrs: Mapping[str, Any], inputs: Operands) -> Key:
    """Return a dictionary key for the computation of an operator: by identity, for ``==`` on variables appends an
    operator.
    """
    return op, identity(attrs), tuple(tuple(map(identity, v)) if isinstance(v, tuple) else identity(v) for v in inputs)


class EarlierOps:
    """The operators of *block*'s earlier backward parts whose inputs and outputs still hold what they read and wrote.

    Args:
        block: None for a call that has no earlier ones.
    """

    def __init__(self, block: Block | None, values: BlockValues) -> None:
        self._ops: dict[Any, Operator] = {}
        self._twins: dict[Key, dict[str, list[Operator]]] = {}
        """Operators that compute the same as others, by what and then by the gradient they make."""
        for op in block.ops if block is not None else ():
            if roles.is_backward(op.role) and _is_current(op, values):
                self._enter(op)
        for twins in self._twins.values():
            for ops in twins.values():
                ops.reverse()

    def __bool__(self) -> bool:
        return bool(self._ops)

    def _enter(self, op: Operator) -> None:
        key = computes(op.op, op.attrs, op.inputs)
        if op.repeats is not None:
            self._ops.setdefault((op.repeats, key), op)
            return
        first = self._ops.setdefault(key, op)
        if first is not op:
            twins = self._twins.setdefault(key, {_makes(first): [first]})
            twins.setdefault(_makes(op), []).append(op)

    def find(self, op: OpDef, attrs: Mapping[str, Any], inputs: Operands) -> Operator | None:
        """The operator that computes this, the first of several."""
        return self._ops.get(computes(op, attrs, inputs))

    def repetition(self, op: Operator, attrs: Mapping[str, Any], inputs: Operands) -> Operator | None:
        """The one that runs *op* again, with these attributes and inputs."""
        return self._ops.get((op, computes(op.op, attrs, inputs)))

    def contribution(self, value: Value, op: OpDef, attrs: Mapping[str, Any], inputs: Operands) -> Operator | None:
        """The operator that computes this; of several, the one that made a gradient of *value*."""
        key = computes(op, attrs, inputs)
        twins = self._twins.get(key)
        ops = twins.get(names.plain(names.grad(variable_of(value).name))) if twins is not None else None
        if not ops:
            return self._ops.get(key)
        return ops.pop() if len(ops) > 1 else ops[0]

    def forget_readers(self, variable: Variable) -> None:
        """Let go of what reads *variable*, which is written again."""
        self._ops = {k: o for k, o in self._ops.items() if variable not in set(o.input_variables())}
        self._twins = {k: t for k, t in self._twins.items() if k in self._ops}  # twins read the same


def _is_current(op: Operator, values: BlockValues) -> bool:
    """Return whether the variables still hold what the operator read and wrote."""
    if not all(values.is_current(values.version_read(op, v)) for v in op.input_variables()):
        return False
    return all(values.is_current(values.version_written(op, v)) for v in op.output_variables())


def _makes(op: Operator) -> str:
    """The gradient that an operator with one output contributes to."""
    return names.plain(next(op.output_variables()).name)
