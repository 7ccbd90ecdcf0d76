"""Names of gradients: whose name is plain, which summand has which number, and what happens where a name is taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from ..core import names
from ..ir.program import Block
from ..ir.variable import Variable
from .values import BlockValues, Value, variable_of


class Namer:
    """Gives the variables of one backward part their names.

    Attributes:
        keep: values whose gradients are asked for: their variables must not be used again for others.
        outer: the namer around this one, if what it names must not take the names used here.
        visible: whether a name is taken where operators of this block look names up, beside the block itself.
        plain: which value the plain gradient name of a variable stands for, where that is not what its name stands for.

    Args:
        target: the block that the variables are to be in.
        values: which values the operators that are differentiated read and write.
        call: how many backward calls the program has seen, this one included.
        idx: the number of the block that is differentiated; summands are called after it.
        wanted: whether gradients flow to a value.
    """

    def __init__(
        self, target: Block, values: BlockValues, call: int, idx: int, wanted: Callable[[Value], bool]
    ) -> None:
        self.target = target
        self.keep: set[Value] = set()
        self.outer: Namer | None = None
        self.visible: list[Callable[[str], object]] = []
        self.plain: dict[Variable, Value] = {}
        self._values = values
        self._call = call
        self._idx = idx
        self._wanted = wanted
        self._taken: set[str] = set()
        """Names that this call has given away."""
        self._lent: dict[Variable, Variable] = {}
        """Gradients of what a loop has left, under the plain name; the loop's gradient is written over them."""
        self._summands: Counter[str] = Counter()
        """How many summands of a gradient of that name there are."""

    # -- names that are free ----------------------------------------------------------------------------------------

    def is_taken(self, name: str) -> bool:
        """Return whether something has that name already, in the program or among what is being built."""
        if name in self.target.vars or name in self._taken:
            return True
        return bool(self.visible) and any(taken(name) for taken in self.visible)

    def is_new(self, name: str) -> bool:
        """Return whether this call gave a variable that name."""
        return name in self._taken

    def fresh(self, name: str) -> str:
        """*name*, numbered if a variable has it already; from now on taken."""
        free = name if not self.is_taken(name) else self.number(name)
        self._taken.add(free)
        return free

    def number(self, name: str) -> str:
        """*name* with the first number that makes it new."""
        number = 0
        while self.is_taken(f"{name}_{number}"):
            number += 1
        return f"{name}_{number}"

    def _free(self, name: str) -> str:
        """*name*, or what this call uses instead when a different value has it."""
        if not self.is_taken(name):
            return name
        prefixed = names.again(name, self._call)
        return prefixed if not self.is_taken(prefixed) else self.number(prefixed)

    def take(self, name: str) -> None:
        """Note that a variable of the program gets *name*."""
        self._taken.add(name)

    def close(self) -> None:
        """All that this call makes has its name: what was kept to tell which are free is let go of."""
        self._taken.clear()
        self._summands.clear()

    def give_back(self, name: str) -> None:
        """Note that no variable has *name* after all."""
        self._taken.discard(name)

    # -- whose name it is -------------------------------------------------------------------------------------------

    def base_name(self, value: Value) -> str:
        """The gradient name of a value: the plain one for what the variable's name stands for, others their version.

        As in Paddle, the gradient of what a loop has left has the plain name too, if nobody asks for it: the loop's
        gradient operator writes the gradient of what the loop found there into the same variable.
        """
        v = variable_of(value)
        if isinstance(value, Variable) or self._is_plain(value) or (value not in self.keep and self.borrows(value)):
            return names.grad(v.name)
        return names.grad(names.old_version(v.name, value[1]))

    def borrows(self, value: Value) -> bool:
        """Return whether gradients of what a loop has left in *value* end in the variable with the plain name."""
        before = self._values.before(value)
        while before is not None:
            if self._is_plain(before):
                return self._wanted(before)
            before = None if before in self.keep else self._values.before(before)
        return False

    def lend(self, variable: Variable, value: Value) -> None:
        """Note that *variable*, the gradient of *value*, has a name that is another value's, should that be so."""
        v = variable_of(value)
        if not self._is_plain(value) and names.plain(variable.name) == names.grad(v.name):
            self._lent.setdefault(v, variable)

    def _is_plain(self, value: Value) -> bool:
        """Return whether the plain gradient name of the value's variable is that of *value*."""
        if isinstance(value, Variable):
            return True
        v = value[0]
        return value == (self.plain[v] if v in self.plain else self._values.named(v))

    # -- naming variables -------------------------------------------------------------------------------------------

    def settle(self, variable: Variable, name: str) -> None:
        """Give *variable* that name, or the next free one."""
        variable.name = self._free(name)
        namer: Namer | None = self
        while namer is not None:
            namer.take(variable.name)
            namer = namer.outer

    def settle_gradient(self, variable: Variable, value: Value) -> None:
        """Name *variable*, the gradient of *value*."""
        if isinstance(value, Variable) and not (self._lent or self.visible) and self.outer is None:
            name = value.name + names.GRAD  # nearly all are so: the plain name, if nothing has it
            if name not in self._taken and name not in self.target.vars:
                variable.name = name
                self._taken.add(name)
                return
        v = variable_of(value)
        lent = self._lent.get(v) if self._is_plain(value) else None
        if lent is variable:
            return
        if lent is None:
            self.settle(variable, self.base_name(value))
            self.lend(variable, value)
            return
        variable.name = lent.name
        self.settle_summand(lent, variable.name)
        del self._lent[v]

    def settle_summand(self, variable: Variable, total: str) -> None:
        """Name *variable* as the next summand of the gradient *total*."""
        number = self._summands[total]
        self._summands[total] += 1
        self.settle(variable, names.part(total, self._idx, number))

    def settle_sum(self, total: Variable, summands: Sequence[Variable], value: Value) -> None:
        """Name *total*, the gradient of *value*, and those of its summands that have no name yet."""
        lent = self._lent.get(variable_of(value)) if self._is_plain(value) else None
        name = self.base_name(value) if lent is None else lent.name
        if lent is None and self.is_taken(name):
            name = names.again(name, self._call)
        for v in summands:
            if v is lent or not v.name:
                self.settle_summand(v, name)
            else:
                self._summands[name] += 1
        if lent is not None and any(v is lent for v in summands):
            total.name = name
            del self._lent[variable_of(value)]
        else:
            self.settle_gradient(total, value)
