"""Values: what a variable holds between two writes.

A program may write a variable several times (``assign(output=)``, running statistics, optimizer updates). A gradient
belongs to one value, not to the name. For a variable that is written once its value *is* the variable; for the others
a value is the pair (variable, how many writes came before).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..ir.operator import Operator, each
from ..ir.variable import Variable

Value = Variable | tuple[Variable, int]


def variable_of(value: Value) -> Variable:
    """The variable that holds the value."""
    return value if isinstance(value, Variable) else value[0]


class Values:
    """Which value every operator of a block reads and writes; one pass over the operators."""

    __slots__ = ("_reads", "_writers", "_writes", "last")

    def __init__(self, ops: Sequence[Operator]) -> None:
        self.last = dict.fromkeys(_overwritten(ops), 0)
        """Writes so far, for the variables that are written more than once or after being read."""
        self._reads: dict[Operator, dict[Variable, int]] = {}
        self._writes: dict[Operator, dict[Variable, int]] = {}
        self._writers: dict[Value, Operator] = {}
        if not self.last:
            return
        for op in ops:
            reads = {v: self.last[v] for v in op.input_variables() if v in self.last}
            if reads:
                self._reads[op] = reads
            for v in op.output_variables():
                if v in self.last:
                    self.last[v] += 1
                    self._writes.setdefault(op, {})[v] = self.last[v]
                    self._writers[v, self.last[v]] = op

    def read(self, op: Operator, v: Variable) -> Value:
        """The value of *v* that *op* reads."""
        return (v, self._reads[op][v]) if v in self.last else v

    def written(self, op: Operator, v: Variable) -> Value:
        """The value of *v* that *op* writes."""
        return (v, self._writes[op][v]) if v in self.last else v

    def current(self, v: Variable) -> Value:
        """The value that *v* holds at the end of the block."""
        return (v, self.last[v]) if v in self.last else v

    def initial(self, v: Variable) -> Value:
        """The value that *v* holds before the block runs."""
        return (v, 0) if v in self.last else v

    def is_current(self, value: Value) -> bool:
        """Whether the variable still holds the value at the end of the block."""
        return isinstance(value, Variable) or self.last[value[0]] == value[1]

    def next_writer(self, value: tuple[Variable, int]) -> Operator:
        """The operator that overwrites the value."""
        return self._writers[value[0], value[1] + 1]


def _overwritten(ops: Iterable[Operator]) -> list[Variable]:
    seen: set[Variable] = set()
    found: dict[Variable, None] = {}
    for op in ops:
        seen.update(each(op.inputs))
        for v in each(op.outputs):
            if v in seen:
                found[v] = None
            seen.add(v)
    return list(found)
