"""Values: what a variable holds between two writes.

A program may write a variable several times (``assign(output=)``, running statistics, optimizer updates). A gradient
belongs to one value, not to the name. For a variable that is written once its value *is* the variable; for the others
a value is the pair (variable, how many writes came before).

What an optimizer does to a parameter is a step of training and no part of the loss: for gradients the parameter is the
same value before and after. In memory it is not, so what a gradient operator reads goes by *versions* (the same pairs)
and not by values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ..ir import renew, roles
from ..ir.operator import Operator, each
from ..ir.variable import Variable
from ..ops.opdef import OpDef

Value = Variable | tuple[Variable, int]


def variable_of(value: Value) -> Variable:
    """The variable that holds the value."""
    return value if isinstance(value, Variable) else value[0]


class BlockValues:
    """Values that every operator of a block reads and writes, found in one pass over the operators.

    Args:
        also: variables that hold something before the operators run, though only a write shows.
    """

    __slots__ = ("_before_loop", "_first", "_reads", "_writers", "_writes", "last")

    def __init__(self, ops: Sequence[Operator], also: Iterable[Variable] = ()) -> None:
        self.last = dict.fromkeys((*_overwritten(ops), *also), 0)
        """Writes so far, for the variables that are written more than once or after being read."""
        self._reads: dict[Operator, dict[Variable, int]] = {}
        self._writes: dict[Operator, dict[Variable, int]] = {}
        self._writers: dict[Value, Operator] = {}
        self._first: dict[Variable, list[int]] = {v: [0] for v in self.last}
        """For each version the first one that is the same value: itself, unless updates led from that one to it."""
        self._before_loop: dict[Variable, int] = {}
        """What the first loop that overwrites a variable finds in it."""
        if not self.last:
            return
        for op in ops:
            reads = {v: self.last[v] for v in op.input_variables() if v in self.last}
            if reads:
                self._reads[op] = reads
                if op.type == "while":
                    self._note_loop(op, reads)
            updated: Collection[Variable] = reads if is_update(op) else ()
            for v in op.output_variables():
                if v in self.last:
                    self._note_write(op, v, v in updated)

    def _note_write(self, op: Operator, v: Variable, updates: bool) -> None:
        version = self.last[v] = self.last[v] + 1
        self._writes.setdefault(op, {})[v] = version
        self._writers[v, version] = op
        first = self._first[v]
        first.append(first[-1] if updates else version)

    def _note_loop(self, op: Operator, reads: dict[Variable, int]) -> None:
        written = set(op.output_variables())
        for v, version in reads.items():
            if v in written:
                self._before_loop.setdefault(v, version)

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

    def named(self, v: Variable) -> Value:
        """The value that the name of *v* stands for where a gradient is asked for by name.

        That is what a loop overwrites first, where there is one; what *v* holds before the program runs, if it holds
        something then; else what it holds in the end. It depends on the program alone, so that it is the same when
        the program has been copied, or written and read.
        """
        if v not in self.last:
            return v
        if v in self._before_loop:
            return self._value(v, self._before_loop[v])
        return self.initial(v) if v.persistable or v.is_data else self.current(v)

    def before(self, value: Value) -> Value | None:
        """Return the value that a loop found where it left *value*; None for a value that no loop has left."""
        if isinstance(value, Variable):
            return None
        writer = self._writers.get(value)
        if writer is None or writer.type != "while" or value[0] not in self._reads.get(writer, ()):
            return None
        return self.read(writer, value[0])

    def maker(self, value: Value) -> Operator | None:
        """The operator that wrote *value*; None for what was there before the operators ran."""
        return value.op if isinstance(value, Variable) else self._writers.get(value)

    def is_before_loops(self, value: Value) -> bool:
        """Return whether no loop has overwritten the variable yet."""
        return isinstance(value, Variable) or value[1] <= self._before_loop.get(value[0], value[1])

    def span(self, v: Variable) -> tuple[int, int | None] | None:
        """For a variable that a loop returned, the first and last version that the program's variable has as such."""
        loop = renew.loop_of_result(v)
        if loop is None or loop.op not in self._writes:
            return None
        shown, next_loop = renew.program_variable(v)
        last = self._reads[next_loop.op][shown] if next_loop is not None and next_loop.op is not None else None
        return self._writes[loop.op][shown], last

    def version_read(self, op: Operator, v: Variable) -> Value:
        """The version of *v* that *op* reads."""
        return (v, self._reads[op][v]) if v in self.last else v

    def version_written(self, op: Operator, v: Variable) -> Value:
        """The version of *v* that *op* writes."""
        return (v, self._writes[op][v]) if v in self.last else v

    def is_current(self, version: Value) -> bool:
        """Return whether the variable still holds the version at the end of the block."""
        return isinstance(version, Variable) or self.last[version[0]] == version[1]

    def next_writer(self, version: tuple[Variable, int]) -> Operator:
        """The operator that overwrites the version."""
        return self._writers[version[0], version[1] + 1]


def find_value(values: BlockValues, v: Variable) -> Value:
    """The value that *v* stands for where the user asks for its gradient.

    For a variable that was given to a loop that is what it held before the loop; for one that a loop returned, what the
    loop left; for others what their name stands for.
    """
    shown, loop = renew.program_variable(v)
    if loop is not None and loop.op is not None:
        return values.read(loop.op, shown)
    returned = v in values.last and renew.loop_of_result(v) is not None
    return values.current(v) if returned else values.named(v)


class Stops:
    """The values at which a ``no_grad_set`` cuts gradients.

    A name stands for the variable that was called so first, and a variable is cut whatever operators write to it. But
    what a loop returns under the same name is another variable than what was given to the loop, and is cut only where
    it is in the set itself.
    """

    def __init__(self, values: BlockValues, entries: Iterable[Variable | str]) -> None:
        self._values = values
        self._names: set[str] = set()
        self._returned: dict[Variable, list[tuple[int, int | None]]] = {}
        """For variables that loops returned: the first version that is cut, and the last one."""
        for entry in entries:
            span = None if isinstance(entry, str) else values.span(entry)
            if span is None:
                self._names.add(entry if isinstance(entry, str) else entry.name)
            else:
                self._returned.setdefault(renew.program_variable(entry)[0], []).append(span)  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return bool(self._names or self._returned)

    def __contains__(self, value: Value) -> bool:
        v = variable_of(value)
        if v.name in self._names and self._values.is_before_loops(value):
            return True
        if v not in self._returned or isinstance(value, Variable):
            return False
        return any(first <= value[1] and (last is None or value[1] <= last) for first, last in self._returned[v])


def is_update(op: Operator) -> bool:
    """Return whether *op* is a step of an optimizer."""
    return bool(op.role & roles.OPTIMIZE) and not op.op.differentiable


def _overwritten(ops: Iterable[Operator]) -> list[Variable]:
    seen: set[Any] = set()
    overwritten: dict[Variable, None] = {}
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
                overwritten[v] = None
            else:
                seen.add(v)
    return list(overwritten)
