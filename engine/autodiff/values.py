"""Values: what a variable holds between two writes.

A program may write a variable several times (``assign(output=)``, running statistics, optimizer updates). A gradient
belongs to one value, not to the name. For a variable that is written once its value *is* the variable; for the others
a value is the pair (variable, how many writes came before).

What an optimizer does to a parameter is a step of training and no part of the loss: for gradients the parameter is the
same value before and after. In memory it is not, so what a gradient operator reads goes by *versions* (the same pairs)
and not by values.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..ir import renew, roles
from ..ir.operator import Operator, each
from ..ir.variable import Variable
from ..ops.opdef import OpDef

Value = Variable | tuple[Variable, int]


def variable_of(value: Value) -> Variable:
    """The variable that holds the value."""
    return value if isinstance(value, Variable) else value[0]


class Values:
    """Which value every operator of a block reads and writes; one pass over the operators.

    Args:
        also: variables that hold something before the operators run, though only a write shows.
    """

    __slots__ = ("_first", "_reads", "_writers", "_writes", "last")

    def __init__(self, ops: Sequence[Operator], also: Iterable[Variable] = ()) -> None:
        self.last = dict.fromkeys((*_overwritten(ops), *also), 0)
        """Writes so far, for the variables that are written more than once or after being read."""
        self._reads: dict[Operator, dict[Variable, int]] = {}
        self._writes: dict[Operator, dict[Variable, int]] = {}
        self._writers: dict[Value, Operator] = {}
        self._first: dict[Variable, list[int]] = {v: [0] for v in self.last}
        """For each version the first one that is the same value: itself, unless updates led from that one to it."""
        if not self.last:
            return
        for op in ops:
            reads = {v: self.last[v] for v in op.input_variables() if v in self.last}
            if reads:
                self._reads[op] = reads
            updates = is_update(op)
            for v in op.output_variables():
                if v in self.last:
                    self.last[v] += 1
                    self._writes.setdefault(op, {})[v] = self.last[v]
                    self._writers[v, self.last[v]] = op
                    first = self._first[v]
                    first.append(first[-1] if updates and v in reads else self.last[v])

    def _value(self, v: Variable, version: int) -> Value:
        first = self._first[v]
        return (v, first[version]) if first[-1] else v

    def read(self, op: Operator, v: Variable) -> Value:
        """The value of *v* that *op* reads."""
        return self._value(v, self._reads[op][v]) if v in self.last else v

    def written(self, op: Operator, v: Variable) -> Value:
        """The value of *v* that *op* writes."""
        return self._value(v, self._writes[op][v]) if v in self.last else v

    def current(self, v: Variable) -> Value:
        """The value that *v* holds at the end of the block."""
        return self._value(v, self.last[v]) if v in self.last else v

    def initial(self, v: Variable) -> Value:
        """The value that *v* holds before the block runs."""
        return self._value(v, 0) if v in self.last else v

    def version_read(self, op: Operator, v: Variable) -> Value:
        """The version of *v* that *op* reads."""
        return (v, self._reads[op][v]) if v in self.last else v

    def version_written(self, op: Operator, v: Variable) -> Value:
        """The version of *v* that *op* writes."""
        return (v, self._writes[op][v]) if v in self.last else v

    def is_current(self, version: Value) -> bool:
        """Whether the variable still holds the version at the end of the block."""
        return isinstance(version, Variable) or self.last[version[0]] == version[1]

    def next_writer(self, version: tuple[Variable, int]) -> Operator:
        """The operator that overwrites the version."""
        return self._writers[version[0], version[1] + 1]


def asked(values: Values, v: Variable) -> Value:
    """The value that *v* stands for where the user asks for its gradient.

    That is what it holds before the program runs, if it holds something then; for a variable that was given to a loop,
    what it held before the loop; else what it holds in the end.
    """
    found, loop = renew.in_program(v)
    if loop is not None and loop.op is not None:
        return values.read(loop.op, found)
    before = v.persistable or (v.is_data and not renew.is_result(v))
    return values.initial(v) if before else values.current(v)


def is_update(op: Operator) -> bool:
    """Whether *op* is a step of an optimizer."""
    return bool(op.role & roles.OPTIMIZE) and not op.op.differentiable


def _overwritten(ops: Iterable[Operator]) -> list[Variable]:
    seen: set[Any] = set()
    found: dict[Variable, None] = {}
    lists: dict[OpDef, bool] = {}
    for op in ops:
        has_lists = lists.get(op.op)
        if has_lists is None:
            has_lists = lists[op.op] = any(s.many for s in (*op.op.inputs, *op.op.outputs))
        written: Sequence[Any] = list(each(op.outputs)) if has_lists else op.outputs
        seen.update(each(op.inputs) if has_lists else op.inputs)
        if len(written) == 1 and written[0] not in seen:
            seen.add(written[0])
            continue
        for v in written:
            if v in seen and v is not None:
                found[v] = None
            else:
                seen.add(v)
    return list(found)
