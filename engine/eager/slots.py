"""The slots of an operator as the functions written for it see them: the names and expressions of their text.

``x0`` is an operand (a tensor, None or a list), ``a0`` its array or arrays, ``r0`` what the kernel gave for an output,
``t0`` the tensor or tensors of it, ``k0`` what a node keeps for an entry of the rule's reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ops.opdef import Read

if TYPE_CHECKING:
    from .recipe import Recipe


class Slots:
    """The slots of an operator.

    Args:
        only: the output that is asked for alone, or None.

    Attributes:
        all, outs: positions of the inputs, and of the outputs.
        singles, lists, empty: positions of the inputs that hold one tensor (or None), that hold lists, and that are
            lists taken to be empty.
        bare: the outputs that need not become tensors, as nobody asks for more than their shape.
    """

    def __init__(self, recipe: Recipe, only: int | None = None) -> None:
        op = recipe.op
        self.recipe = recipe
        self.op = op
        self.only = only
        self.all = range(len(op.inputs))
        self.singles = [i for i in self.all if not op.inputs[i].many]
        self.lists = [i for i in self.all if i in recipe.listed]
        self.empty = [i for i in self.all if op.inputs[i].many and i not in recipe.listed]
        self.outs = range(len(op.outputs))
        values = {r.place for r in recipe.reads if r.kind != "in" and not r.like}
        self.bare = [j for j in self.outs if only is not None and j != only and j not in values]

    # -- what is read -------------------------------------------------------------------------------------------------

    def optional(self, read: Read) -> bool:
        """Return whether what *read* reads may be absent."""
        return (self.op.inputs if read.kind == "in" else self.op.outputs)[read.place].optional

    def many(self, read: Read) -> bool:
        """Return whether *read* reads a list."""
        return (self.op.inputs if read.kind == "in" else self.op.outputs)[read.place].many

    def is_empty(self, read: Read) -> bool:
        """Return whether *read* reads a list that is taken to be empty."""
        return read.kind == "in" and read.place in self.empty

    def retained(self) -> list[Read]:
        """The reads whose values a node keeps."""
        return [r for r in self.recipe.reads if not (r.kind == "dout" or r.like or self.is_empty(r))]

    # -- expressions --------------------------------------------------------------------------------------------------

    def row(self, letter: str) -> str:
        """Return the expressions of a tuple of all operands (``x``) or arrays (``a``)."""
        return "".join(f"{letter}{i}, " for i in self.all)

    def array(self, i: int) -> str:
        """The array or arrays of input *i*."""
        if i in self.empty:
            return "()"
        if i in self.lists:
            return f"[v.array for v in x{i}]"
        return f"x{i}.array" + (f" if x{i} is not None else None" if self.op.inputs[i].optional else "")

    def stops(self, i: int) -> str:
        """Return the condition that no gradient is needed for input *i*."""
        if i in self.lists:
            return f"all([v._stop for v in x{i} or ()])"
        return f"(x{i} is None or x{i}._stop)" if self.op.inputs[i].optional else f"x{i}._stop"

    def place(self, i: int) -> str:
        """The place of input *i* on the tape as ``GradNode.to`` has it, or those of its list."""
        output = "({0}.node, {0}.index) if {0}.index else {0}.node"
        place = f"None if {{0}}._stop else {{0}}._leaf or {{0}}.leaf if {{0}}.node is None else {output}"
        if i in self.lists:
            return f"*[{place.format('v')} for v in x{i} or ()]"
        x = f"x{i}"
        return (f"None if {x} is None else " if self.op.inputs[i].optional else "") + place.format(x)

    def keep_expression(self, read: Read) -> str:
        """Return the expression of what a node keeps for one entry of the rule's reads."""
        if read.kind == "dout":
            return "None"
        if self.is_empty(read):
            return "()"
        letter = "x" if read.kind == "in" else "t"
        if self.many(read):
            return self._list_expression(read, f"{letter}{read.place}")
        name, array = f"{letter}{read.place}", f"a{read.place}" if read.kind == "in" else f"t{read.place}.array"
        if read.kind == "out" and read.place in self.bare:
            name = array = f"r{read.place}"
        if read.like:
            value = f"{array} if {array}.nbytes < GHOST_FROM else ghost({array})"
        else:
            value = name if read.kind == "in" else array
        return f"None if {name} is None else {value}" if self.optional(read) and value != name else value

    @staticmethod
    def _list_expression(read: Read, name: str) -> str:
        """As :meth:`keep_expression`, of a list."""
        if read.like:
            entries = f"slim(v) for v in {name}"
        else:
            entries = f"*{name}" if read.kind == "in" else f"v.array for v in {name}"
        return f"None if {name} is None else [{entries}]"
